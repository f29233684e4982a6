"""The help entry ``help minds`` for players; its lines are in `texts`."""

from __future__ import annotations

from typing import Any

from evennia_ai.game.texts import text

# Evennia capitalises each word of a category: "AI" would become "Ai".
HELP_CATEGORY = "Thinking characters"
SUBTOPICS = ("privacy", "forget", "mute")


def minds_entry() -> dict[str, Any]:
    """Return the help entry in the form of Evennia's help files."""
    subtopics = [f"## {text(f'topic_{name}')}\n\n{text(f'help_{name}')}" for name in SUBTOPICS]
    return {
        "key": "minds",
        "aliases": ["ai", "assistants", "characters with minds"],
        "category": HELP_CATEGORY,
        "text": "\n\n".join([text("help_minds"), "# subtopics", *subtopics]),
    }


# Evennia reads this list once, when the server starts.
HELP_ENTRY_DICTS = [minds_entry()]

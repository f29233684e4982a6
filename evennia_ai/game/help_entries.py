"""The help entries ``minds``, for players, whose lines are in `texts`, and those for staff."""

import tomllib
from pathlib import Path
from typing import Any

from evennia_ai.game.texts import text

# Evennia capitalises each word of a category: "AI" would become "Ai".
HELP_CATEGORY = "Thinking characters"
STAFF = f"{HELP_CATEGORY}, staff"
EXPERTS = f"{HELP_CATEGORY}, experts"
SUBTOPICS = ("privacy", "forget", "mute")
FILE = Path(__file__).with_suffix(".toml")


def minds_entry() -> dict[str, Any]:
    """Return the help entry for players in the form of Evennia's help files."""
    subtopics = [f"## {text(f'topic_{name}')}\n\n{text(f'help_{name}')}" for name in SUBTOPICS]
    return {
        "key": "minds",
        "aliases": ["ai", "assistants", "NPCs"],
        "category": HELP_CATEGORY,
        "text": "\n\n".join([text("help_minds"), "# subtopics", *subtopics]),
    }


def staff_entries() -> list[dict[str, Any]]:
    """Return the help entries for staff, in the form of Evennia's help files."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["entry"]
    return [entry | {"category": STAFF, "locks": "read:perm(Builder)"} for entry in entries]


# Evennia reads this list once, when the server starts.
HELP_ENTRY_DICTS = [minds_entry(), *staff_entries()]

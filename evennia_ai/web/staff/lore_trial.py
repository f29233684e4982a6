"""The lore of one character, and which of it a line would bring into the prompt, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evennia_ai.messages import Audience
from evennia_ai.policy.conversation.lore import LoreEntry, try_lore
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.records.memory_listing import why_found
from evennia_ai.store.page_rows import Row
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.game_thread import find_script, game
from evennia_ai.web.staff.rendering import asked_text, page_text


@staff_page("lore.html")
def lore(request: Any, reader: Reader, who: Row) -> dict[str, Any]:
    """Show all lore; with a line, what of it the prompt would hold if a player said that."""
    line = asked_text(request.GET, "line")
    entries, labels, budget = game.ask(read_lore, who["id"])
    trials = try_lore(entries, labels, line, budget)
    return {
        "line": line,
        "budget": budget,
        "labels": sorted(page_text(label, 60) for label in labels),
        "entries": [
            {
                "title": page_text(trial.entry.title or "(no title)", 80),
                "text": page_text(trial.entry.text),
                "scopes": page_text(", ".join(trial.entry.scopes), 200),
                "known": not trial.why_unknown,
                "chosen": trial.is_chosen,
                "tokens": trial.tokens,
                "why": page_text(why(trial, line), 200),
            }
            for trial in trials
        ],
    }


def read_lore(assistant: int) -> tuple[Sequence[LoreEntry], Audience, int]:
    """Return all lore, the labels of what a character may use before nobody, and its budget."""
    script = find_script(assistant)
    entries, labels = script.services.world.lore(script.character, frozenset())
    return tuple(entries), frozenset(labels), script.config.lore_tokens


def why(trial: Any, line: str) -> str:
    """Return in words why a piece comes into the prompt, or why not."""
    if trial.why_unknown:
        return f"no: {trial.why_unknown}"
    if not line:
        return "known"
    if not trial.score:
        return "no: it shares no word with the line"
    text = f"{trial.entry.title} {trial.entry.text}"
    found = why_found(line, text, trial.score)
    return f"yes: {found}" if trial.is_chosen else f"no: the budget is used up ({found})"

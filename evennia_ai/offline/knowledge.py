"""What the character knows of the persona, lore, place and journal, as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.passages import holds
from evennia_ai.offline.view import View
from evennia_ai.offline.words import joined

WHOLE = 0.99  # cover of a line that names nothing else
AS_GOOD = 0.5  # share of the best score that is good enough if the best was said
KNOWN = ("self", "want", "lore", "seen", "saw", "note")


def known(view: View, text: str, sources: Sequence[str] = KNOWN, *, stale: bool = True) -> str:
    """Return the best thing that is known about a line and was not said lately; "" if none.

    If all that fits was said, say that there is no more; the same again only to the same question.
    """
    found = view.rank(text, sources)
    near = [item for item in found if item.points > found[0].points * AS_GOOD]
    fresh = next((item.passage for item in near if not view.repeats(item.passage.text)), None)
    if fresh is not None:
        return told_fact(view, fresh.text, fresh.source)
    if not found or not stale:
        return ""
    if holds(text, view.language) or found[0].cover >= WHOLE:
        return view.phrase("again", fact=joined(found[0].passage.text))
    return view.phrase("no_more")


def told_fact(view: View, text: str, source: str) -> str:
    """Return a known sentence as the character says it."""
    outsider = text.startswith(view.name) or view.language.finds("outsider", text)
    return view.phrase("folk_say", fact=text) if source == "self" and outsider else text


def looked_at(view: View, text: str) -> str:
    """Return that a thing that the question names is here; "" if it names none."""
    return at_hand(view, text, loose=False) if view.language.finds("asks_place", text) else ""


def at_hand(view: View, text: str, *, loose: bool = True) -> str:
    """Return that the character has a thing that a text names, or that it is here; "" if not."""
    for key, names in (("have", view.situation.carrying), ("is_here", view.situation.things)):
        named = match_name(text, names, loose)
        if named:
            return view.phrase(key, item=view.thing(named))
    return ""

"""Words for how an action ended; they claim only what the tools' results show."""

from __future__ import annotations

import re

from evennia_ai.offline.actions import Step
from evennia_ai.offline.languages import ENGLISH
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended

NOTHING = re.compile(r"nothing special|you see nothing|you see no |no such|not here", re.I)
LABELS = re.compile(r"(?:People|Things|Exits): [^.]*+(?:\.|\Z)")


def words_for_step(view: View, requested: RequestedAction, step: Step) -> str:
    """Return the words at the end of an action."""
    bare = view.language.pattern("patterns", "article").sub("", requested.item.strip())
    slots = {**step.slots, "thing": bare, "to": view.called(requested.to)}
    if view.code != ENGLISH:
        slots = {key: value.removeprefix("the ") for key, value in slots.items()}
    if step.end == "look_done":
        return words_for_look(view, slots)
    if step.end == "give_done" and requested.to not in {view.speaker, view.who}:
        return view.phrase("give_other", **slots)
    if step.end in {"have_not", "fetch_not"}:
        other = view.listing("instead", "", map(view.thing, view.situation.carrying[:3]))
        return f"{view.phrase(step.end, **slots)} {other}".strip()
    return view.phrase(step.end, **slots)


def words_for_look(view: View, slots: dict[str, str]) -> str:
    """Return what a look that was asked for showed."""
    seen = LABELS.sub("", slots["why"].partition(": ")[2] or slots["why"]).strip()
    known = [f.passage.text for f in view.rank(slots["item"], ("lore", "self"), 0.9)]
    if not seen or NOTHING.search(seen):
        fresh = next((text for text in known if not view.repeats(text)), "")
        return fresh or view.phrase("look_not", **slots)
    said = view.phrase("look_done", **{**slots, "fact": ended(seen)})
    return view.phrase("again", fact=ended(seen)) if view.repeats(said) else said

"""Words for how an action ended; they claim only what the tools' results show."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.actions import Step
from evennia_ai.offline.answers import from_knowledge
from evennia_ai.offline.name_matching import kinds_of
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.requested_actions import USE, RequestedAction
from evennia_ai.offline.scene_answers import looked
from evennia_ai.offline.words import an, bare, ended, listed, sentences


def words_for_step(view: RequestView, requested: RequestedAction, step: Step) -> str:
    """Return the words at the end of an action."""
    slots = {**step.slots, "thing": bare(requested.item), "to": requested.to}
    if step.end == "look_done":
        return words_for_look(view, requested, slots)
    if step.end == "give_done" and requested.to not in {view.speaker, view.who}:
        return view.phrase("give_other", **slots)
    if step.end in {"have_not", "fetch_not"}:
        return words_for_lack(view, requested, step.end, slots)
    if step.end == "go_back":
        return view.phrase(
            "go_back", **{**slots, "fact": seen_there(slots.get("seen", ""))}
        ).strip()
    if step.end.endswith("_not") and (why := reason(slots.get("why", ""))):
        return f"{view.phrase(step.end, **slots)} {why}"
    return view.phrase(step.end, **slots)


def words_for_look(view: RequestView, requested: RequestedAction, slots: dict[str, str]) -> str:
    """Return what the character saw, or what it knows of the thing."""
    fact = looked(view, slots["why"], requested.text)
    known = from_knowledge(view, requested.text, shown=False) if USE.search(requested.text) else ""
    if known:
        return known
    if re.search(r"you see (?:nothing|no )|nothing special", fact, re.I):
        fact = from_knowledge(view, requested.text)
        return fact or view.phrase("look_not", **slots)
    return view.phrase("look_done", **{**slots, "fact": fact})


def words_for_lack(
    view: RequestView, requested: RequestedAction, key: str, slots: dict[str, str]
) -> str:
    """Return that it has none, with what it knows of the thing or has instead."""
    line = view.phrase(key, **slots)
    known = from_knowledge(view, requested.item)
    if known and not view.was_said(known) and len(known) < 170:
        treat = kinds_of(requested.item) & {"drink", "food"}
        own = view.phrase("lack_known", fact=known)
        return own if treat and key == "have_not" else f"{line} {known}"
    held = view.scene.situation.carrying
    if not held:
        return line
    return f"{line} {view.phrase('instead', things=listed([an(name) for name in held[:3]]))}"


def reason(result: str) -> str:
    """Return a refusal's words if they read like speech; "" for a tool's message."""
    text = result.strip()
    about_tools = re.compile(
        r"\byou did that already|\btool|arguments|outcome|\bcalls?\b|no way leads|there is no '|you carry no|nobody called|for everybody|not done",
        re.I,
    )
    if not text or about_tools.search(text) or len(text) > 160:
        return ""
    return "" if re.match(r"you\b", text, re.I) else ended(text)


def seen_there(result: str) -> str:
    """Return one sentence of what a walk showed."""
    text = result.partition(": ")[2]
    found = [part for part in sentences(text) if 15 < len(part) < 160]
    return ended(found[0]) if found else ""

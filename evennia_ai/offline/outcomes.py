"""Words for how a deed ended: only what the tools' results bear out is claimed."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.actions import Step
from evennia_ai.offline.answers import from_knowledge
from evennia_ai.offline.name_matching import KIND_OF
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.requested_actions import USE, RequestedAction
from evennia_ai.offline.scene_answers import looked
from evennia_ai.offline.words import an, bare, ended, listed, sentences, stem, words


def words_for_step(view: RequestView, requested: RequestedAction, step: Step) -> str:
    """The words at the end of a wish."""
    who = view.called(requested.speaker)
    slots = {**step.slots, "who": who, "thing": bare(requested.item), "to": requested.to}
    if step.end == "look_done":
        return words_for_look(view, requested, slots)
    if step.end == "give_done" and requested.to not in {requested.speaker, who}:
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
    """What it saw, and what it knows of it beside."""
    fact = looked(view, slots["why"], requested.text)
    known = (
        from_knowledge(view, requested.text, requested.speaker, shown=False)
        if USE.search(requested.text)
        else ""
    )
    if known:
        return known
    if re.search(r"you see (?:nothing|no )|nothing special", fact, re.I):
        fact = from_knowledge(view, requested.text, requested.speaker)
        return fact or view.phrase("look_not", **slots)
    return view.phrase("look_done", **{**slots, "fact": fact})


def words_for_lack(
    view: RequestView, requested: RequestedAction, key: str, slots: dict[str, str]
) -> str:
    """It has none: say so, with what it knows of the thing or what it has instead."""
    line = view.phrase(key, **slots)
    known = from_knowledge(view, requested.item, requested.speaker)
    if known and not view.was_said(known) and len(known) < 170:
        treat = {KIND_OF.get(stem(word)) for word in words(requested.item)} & {"drink", "food"}
        own = view.phrase("lack_known", fact=known, who=slots["who"])
        return own if treat and key == "have_not" else f"{line} {known}"
    held = view.scene.situation.carrying
    if not held:
        return line
    return f"{line} {view.phrase('instead', things=listed([an(name) for name in held[:3]]))}"


def reason(result: str) -> str:
    """A refusal's own words where they read like speech of the world, not of the machinery."""
    text = result.strip()
    about_tools = re.compile(
        r"\byou did that already|\btool|arguments|outcome|\bcalls?\b|no way leads|there is no '|you carry no|nobody called|for everybody|not done",
        re.I,
    )
    if not text or about_tools.search(text) or len(text) > 160:
        return ""
    return "" if re.match(r"you\b", text, re.I) else ended(text)


def seen_there(result: str) -> str:
    """A sentence of what a walk showed."""
    text = result.partition(": ")[2]
    found = [part for part in sentences(text) if 15 < len(part) < 160]
    return ended(found[0]) if found else ""

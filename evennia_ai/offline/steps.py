"""The tool calls of a requested action, one step at a time, and the words at its end.

The brain keeps no state. A turn's own calls and results show what was done, and the situation shows
where things are. Nothing is claimed that no tool did.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evennia_ai.messages import NOOP, SPEECH
from evennia_ai.offline.languages import ENGLISH, exit_parts, language_of, match_name, table
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.transcript import Act, reads_like
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended, rotated, seed_of, with_article
from evennia_ai.ports import Situation

# The tool and the argument of the actions that take one call.
ONE_CALL = {
    "get": ("get", "item"), "drop": ("drop", "item"), "look": ("look", "target"),
    "follow": ("follow", "target"), "unfollow": ("follow", "target"), "gesture": ("emote", "text"),
}  # fmt: skip
NO_FAILURE = frozenset({"look", "unfollow"})
SEEN_LABELS = re.compile(r"(People|Things|Exits): ([^.]*+)(?:\.|\Z)")
Calls = tuple[tuple[str, dict[str, str]], ...]


@dataclass(frozen=True)
class Step:
    """The next calls of an action and, at its end, how it ended.

    ``end`` is a key of the phrases, filled from ``slots``; if it is empty, another step follows.
    """

    calls: Calls = ()
    end: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)


def next_step(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    """Return the next step of an action, given what this turn has done."""
    if requested.kind in ONE_CALL:
        return _one_call(requested, acts, tools)
    if requested.kind == "go":
        return _walk(requested, situation, acts, tools)
    if requested.kind == "fetch":
        return _fetch(requested, situation, acts, tools)
    return _hand_over(requested, situation, acts, tools)


def done(acts: Sequence[Act], name: str) -> list[Act]:
    """Return the turn's calls of a tool."""
    return [act for act in acts if act.name == name]


def _one_call(requested: RequestedAction, acts: Sequence[Act], tools: frozenset[str]) -> Step:
    item, kind = requested.item, requested.kind
    tool, argument = ONE_CALL[kind]
    tried = done(acts, tool)
    if tool in tools and not tried:
        calls = ((tool, {argument: item or requested.to}),)
        return Step(calls, end="gesture_done" if kind == "gesture" else "")
    failed = kind not in NO_FAILURE and (not tried or tried[-1].failed)
    slots = {"item": with_article(item), "why": tried[-1].result if tried else ""}
    return Step(end=f"{kind}_{'not' if failed else 'done'}", slots=slots)


def _walk(
    requested: RequestedAction, now: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    tried = done(acts, "move")
    name, leads = exit_parts(requested.place)
    slots = {"place": leads or with_article(name)}
    if "move" in tools and not tried:
        return Step((("move", {"to": name}),))
    arrived = bool(tried and now.place) and tried[-1].result.startswith(now.place)
    made = [act for act in tried if not act.failed or (act is tried[-1] and arrived)]
    if not made:
        return Step(end="go_not", slots=slots)
    if not requested.back or len(made) > 1:
        return Step(end="go_back" if requested.back else "go_done", slots=slots)
    if len(tried) > 1:
        return Step(end="go_stuck", slots=slots)
    opposite = table(ENGLISH)["opposites"].get(name.lower(), "")
    exits = [exit_parts(way)[0] for way in now.exits]
    back = next((way for way in exits if way.lower() == opposite), exits[0] if exits else "")
    return Step((("move", {"to": back}),))


def _fetch(
    requested: RequestedAction, now: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    """Return the way there, the taking, the way back, or the handing over."""
    handled = done(acts, "get") or done(acts, "give")
    here = match_name(requested.item, [*now.carrying, *now.things], loose=False)
    if not done(acts, "move") and (handled or here):
        return _hand_over(requested, now, acts, tools)
    away = len([act for act in done(acts, "move") if not act.failed]) == 1
    lying = match_name(requested.item, now.things)
    if away and lying and "get" in tools and not done(acts, "get"):
        return Step((("get", {"item": lying}),))
    step = _walk(replace(requested, back=True), now, acts, tools)
    return _hand_over(requested, now, acts, tools) if step.end == "go_back" else step


def _hand_over(
    requested: RequestedAction, now: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    gave, got = done(acts, "give"), done(acts, "get")
    exact = match_name(requested.item, now.things, loose=False)
    carried = match_name(requested.item, now.carrying, loose=not exact)
    lying = match_name(requested.item, now.things)
    item = (gave or got)[-1].item if gave or got else carried or lying
    slots = {"item": with_article(item or requested.item), "to": requested.to}
    if gave or (carried and "give" not in tools):
        given = bool(gave) and not gave[-1].failed
        return Step(end="give_done" if given else "give_not", slots=slots)
    if carried:
        return Step((("give", {"item": carried, "to": requested.to}),))
    if lying and "get" in tools and not got:
        return Step((("get", {"item": lying}),))
    return Step(end="get_not" if got else "have_not", slots=slots)


def words_for_step(view: View, requested: RequestedAction, step: Step) -> str:
    """Return the words at the end of an action."""
    bare = view.language.pattern("patterns", "article").sub("", requested.item.strip())
    slots = {**step.slots, "thing": bare, "to": view.called(requested.to)}
    if view.language.code != ENGLISH:
        slots = {key: value.removeprefix("the ") for key, value in slots.items()}
    if step.end == "look_done":
        return _words_for_look(view, slots)
    if step.end == "give_done" and requested.to not in {view.speaker, view.who}:
        return view.phrase("give_other", **slots)
    if step.end == "have_not":
        other = view.listing("instead", "", map(view.thing, view.situation.carrying[:3]))
        return f"{view.phrase(step.end, **slots)} {other}".strip()
    return view.phrase(step.end, **slots)


def _words_for_look(view: View, slots: dict[str, str]) -> str:
    """Return what a look that was asked for showed."""
    seen = SEEN_LABELS.sub("", slots["why"].partition(": ")[2] or slots["why"]).strip()
    known = [
        found.passage.text for found in view.rank(slots["item"], view.of(("lore", "self")), 0.9)
    ]
    if not seen or reads_like("nothing", seen):
        fresh = next((text for text in known if not view.repeats(text)), "")
        return fresh or view.phrase("look_not", **slots)
    said = view.phrase("look_done", **{**slots, "fact": ended(seen)})
    return view.phrase("again", fact=ended(seen)) if view.repeats(said) else said


RECENT = 3  # emotes that are not made again
QUIET = ["emote", "emote"]  # the acts before a remark
LONGEST_REMARK = 160


def act_autonomously(view: View) -> Calls:
    """Return the calls of one small act, or a ``noop``."""
    said = [s.text for s in view.transcript.heard if s.kind in SPEECH]
    own = view.character.language
    spoken = language_of(said[-1], view.languages) if said and own.code == ENGLISH else None
    view = replace(view, language=spoken or own)
    act = _welcome(view)
    idle = view.transcript.deeds[-1:] == ["emote"] and not view.transcript.since
    if view.others and not act and not idle:
        act = _remark(view) or _shown(view, "emote", _pastime(view))
    return act or ((NOOP, {"reason": "there is nothing to do"}),)


def _shown(view: View, tool: str, text: str) -> Calls:
    return ((tool, {"text": text}),) if text and tool in view.tools else ()


def _welcome(view: View) -> Calls:
    """Return a greeting for those who have arrived and not spoken since."""
    since = view.transcript.since
    spoke = {said.speaker for said in since if said.kind in SPEECH}
    came = dict.fromkeys(said.speaker for said in since if said.kind == "arrives")
    new = [name for name in came if name in view.others and name not in spoke]
    if not new:
        return ()
    names = view.listed(map(view.called, new))
    if view.character.terse or len(new) > 2:
        return _shown(view, "emote", view.emote("nods", who=names))
    known = all(map(view.transcript.met, new))
    return _shown(view, "say", view.phrase("greet_again" if known else "arrive", who=names))


def _remark(view: View) -> Calls:
    """Return a line after some emotes: an example of the persona, or a fact."""
    last = [name for name in view.transcript.deeds if name != NOOP][-len(QUIET) :]
    if last != QUIET or view.language is not view.character.language:
        return ()
    facts = [p.text for p in view.of(("lore", "self")) if p.text != view.character.identity]
    fit = (text for text in facts if len(text.split()) > 4 and len(text) < LONGEST_REMARK)
    safe = [text for text in fit if not view.language.finds("secretive", text)]
    choices = [*view.character.examples, *safe]
    fresh = [text for text in rotated(choices, view.seed) if not view.was_said(text)]
    if not fresh:
        return ()
    known = fresh[0] in safe
    return _shown(view, "say", view.phrase("musing", fact=fresh[0]) if known else ended(fresh[0]))


def _pastime(view: View) -> str:
    """Return the next idle emote, of the character's habits or of anybody's; "" if none."""
    number, habits = len(view.transcript.emotes), list[str]()
    if view.language is view.character.language:
        meanwhile = view.language.pattern("patterns", "meanwhile")
        bare = (meanwhile.sub("", habit) for habit in view.character.habits)
        habits = [habit.rstrip(" .,") + "." for habit in bare]
    common = view.language.phrases["idle"]
    kinds = [habits, common] if (number + seed_of(view.name)) % 2 else [common, habits]
    choices = [deed for kind in kinds for deed in rotated(kind, number)]
    done = [text.strip().lower() for text in view.transcript.emotes]
    tries = (text for before in (done, done[-RECENT:], done[-1:]) for text in choices
             if text.lower() not in before)  # fmt: skip
    return next(tries, "")

"""From a requested action to tool calls, one step at a time.

The brain keeps no state. A turn's own calls and results show what was done, and the situation shows
where things are. Nothing is claimed that no tool did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.name_matching import exit_parts, match_name
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.transcript import Act
from evennia_ai.offline.words import with_article
from evennia_ai.ports import Situation

OPPOSITE = {
    "north": "south", "east": "west", "up": "down", "in": "out", "northeast": "southwest",
    "northwest": "southeast", "upstairs": "downstairs", "inside": "outside", "n": "s", "e": "w",
}  # fmt: skip
OPPOSITES = OPPOSITE | {back: way for way, back in OPPOSITE.items()}


@dataclass(frozen=True)
class Step:
    """The next calls of an action and, at its end, how it ended.

    ``end`` is a key of the phrases, filled from ``slots``; if it is empty, another step follows.
    """

    calls: tuple[tuple[str, dict[str, str]], ...] = ()
    end: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Turn:
    """A requested action, where things are now, and what this turn has done."""

    requested: RequestedAction
    situation: Situation
    acts: Sequence[Act]
    tools: frozenset[str]


def next_step(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    """Return the next step of an action, given what this turn has done."""
    turn = _Turn(requested, situation, acts, tools)
    if requested.kind in {"give", "fetch"}:
        return _hand_over(turn)
    if requested.kind == "go":
        return _walk(turn)
    if requested.kind == "unfollow":
        return _unfollow(turn)
    if requested.kind == "gesture":
        if "emote" not in tools or done(acts, "emote"):
            return Step(end="gesture_done" if done(acts, "emote") else "gesture_not")
        return Step((("emote", {"text": requested.item + "."}),), "gesture_done")
    return _one_call(turn)


def done(acts: Sequence[Act], name: str) -> list[Act]:
    """Return the turn's calls of a tool."""
    return [act for act in acts if act.name == name]


def _one_call(turn: _Turn) -> Step:
    requested, kind = turn.requested, turn.requested.kind
    tried = done(turn.acts, kind)
    slots = {"item": with_article(requested.item), "why": tried[-1].result if tried else ""}
    if kind not in turn.tools:
        return Step(end=f"{kind}_not", slots=slots)
    if not tried:
        argument = "target" if kind in {"look", "follow"} else "item"
        return Step(((kind, {argument: requested.item or requested.to}),))
    failed = tried[-1].failed and kind != "look"
    return Step(end=f"{kind}_{'not' if failed else 'done'}", slots=slots)


def _unfollow(turn: _Turn) -> Step:
    if "follow" not in turn.tools or done(turn.acts, "follow"):
        return Step(end="unfollow_done")
    return Step((("follow", {"target": ""}),))


def moves_made(turn: _Turn) -> list[Act]:
    """Return the walks of this turn that succeeded."""
    tried, place = done(turn.acts, "move"), turn.situation.place
    arrived = bool(tried and place) and tried[-1].result.startswith(place)
    return [act for act in tried if not act.failed or (act is tried[-1] and arrived)]


def way_back(turn: _Turn) -> str:
    """Return the exit that leads to where the turn began."""
    looks = (act.result.partition(":") for act in turn.acts if act.name == "look")
    start = next((place for place, colon, _ in looks if colon), "")
    wanted = OPPOSITES.get(exit_parts(turn.requested.place)[0].lower(), "")
    exits = [exit_parts(name) for name in turn.situation.exits]
    for name, leads in exits:
        if (start and leads == start) or (wanted and name.lower() == wanted):
            return name
    return exits[0][0] if exits else ""


def _departure(turn: _Turn) -> Step:
    """Return the walk away, after a look if its name does not give the way back."""
    name = exit_parts(turn.requested.place)[0]
    move = ("move", {"to": name})
    if "look" in turn.tools and name.lower() not in OPPOSITES:
        return Step((("look", {"target": ""}), move))
    return Step((move,))


def _return(turn: _Turn, slots: Mapping[str, str]) -> Step:
    if len(done(turn.acts, "move")) > 1:
        return Step(end="go_stuck", slots=slots)
    return Step((("move", {"to": way_back(turn)}),))


def _place(turn: _Turn) -> str:
    """Return where the action goes, as it is said; "" if it goes nowhere."""
    name, leads = exit_parts(turn.requested.place)
    return leads or (with_article(name) if name else "")


def _walk(turn: _Turn) -> Step:
    made, tried = moves_made(turn), done(turn.acts, "move")
    where = {"place": _place(turn), "why": tried[-1].result if tried else ""}
    if "move" in turn.tools and not tried:
        return _departure(turn)
    if "move" not in turn.tools or not made:
        return Step(end="go_not", slots=where)
    if len(made) == 1 and turn.requested.back:
        return _return(turn, where)
    seen = made[0].result
    return Step(end="go_back" if len(made) > 1 else "go_done", slots={**where, "seen": seen})


def _hand_over(turn: _Turn) -> Step:
    requested, situation, tools = turn.requested, turn.situation, turn.tools
    gave, got, tried = (done(turn.acts, name) for name in ("give", "get", "move"))
    made = moves_made(turn)
    away = len(made) % 2 == 1
    carried = match_name(
        requested.item,
        situation.carrying,
        loose=not match_name(requested.item, situation.things, loose=False),
    )
    lying = match_name(requested.item, situation.things, loose=bool(tried or not requested.place))
    item, why = carried or lying or requested.item, ""
    if gave or got:
        last = (gave or got)[-1]
        item, why = str(last.arguments.get("item", requested.item)), last.result
    slots = {"item": with_article(item), "to": requested.to, "why": why, "place": _place(turn)}
    if gave:
        return Step(end="give_not" if gave[-1].failed else "give_done", slots=slots)
    if carried and not away:
        if "give" not in tools:
            return Step(end="give_not", slots=slots)
        return Step((("give", {"item": carried, "to": requested.to}),))
    if away and (carried or got or not lying or "get" not in tools):
        return _return(turn, slots)
    if got:
        return Step(end="get_not", slots=slots)
    if lying and "get" in tools and (away or not requested.place or not made):
        return Step((("get", {"item": lying}),))
    if requested.place and not tried and "move" in tools:
        return _departure(turn)
    return Step(end="fetch_not" if requested.place and made else "have_not", slots=slots)

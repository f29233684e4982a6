"""From a requested action to tool calls, one step at a time.

The brain keeps no state. A turn's own calls and results show what was done, and the situation shows
where things are. Nothing is claimed that no tool did.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.name_matching import exit_parts, match_name
from evennia_ai.offline.requested_actions import RequestedAction
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


def next_step(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    """Return the next step of an action, given what this turn has done."""
    if requested.kind in {"give", "fetch"}:
        return _hand_over(requested, situation, acts, tools)
    if requested.kind == "go":
        return _walk(requested, situation, acts, tools)
    if requested.kind == "gesture":
        if "emote" not in tools or done(acts, "emote"):
            return Step(end="deed_done" if done(acts, "emote") else "deed_not")
        return Step((("emote", {"text": requested.item + "."}),), "deed_done")
    return _one_call(requested, acts, tools)


def done(acts: Sequence[Act], name: str) -> list[Act]:
    """Return the turn's calls of a tool."""
    return [act for act in acts if act.name == name]


def _one_call(requested: RequestedAction, acts: Sequence[Act], tools: frozenset[str]) -> Step:
    kind, tried = requested.kind, done(acts, requested.kind)
    slots = {"item": with_article(requested.item), "why": tried[-1].result if tried else ""}
    if kind not in tools:
        return Step(end=f"{kind}_not", slots=slots)
    if not tried:
        argument = "target" if kind in {"look", "follow"} else "item"
        return Step(((kind, {argument: requested.item or requested.to}),))
    failed = tried[-1].failed and kind != "look"
    return Step(end=f"{kind}_{'not' if failed else 'done'}", slots=slots)


def moves_made(situation: Situation, acts: Sequence[Act]) -> list[Act]:
    """Return the walks of this turn that succeeded."""
    return [
        act
        for act in done(acts, "move")
        if not act.failed or (act is done(acts, "move")[-1] and situation.place and act.result.startswith(situation.place))
    ]  # fmt: skip


def way_back(requested: RequestedAction, situation: Situation, acts: Sequence[Act]) -> str:
    """Return the exit that leads to where the turn began."""
    start = next(
        (act.result.partition(":")[0] for act in acts if act.name == "look" and ":" in act.result),
        "",
    )
    went = exit_parts(requested.place)[0].lower()
    wanted = OPPOSITES.get(went, "")
    for exit_name in situation.exits:
        name, leads = exit_parts(exit_name)
        if (start and leads == start) or (wanted and name.lower() == wanted):
            return name
    return exit_parts(situation.exits[0])[0] if situation.exits else ""


def _departure(requested: RequestedAction, tools: frozenset[str]) -> Step:
    """Return the walk away, after a look if its name does not give the way back."""
    name = exit_parts(requested.place)[0]
    calls: list[tuple[str, dict[str, str]]] = []
    if "look" in tools and name.lower() not in OPPOSITES:
        calls.append(("look", {"target": ""}))
    calls.append(("move", {"to": name}))
    return Step(tuple(calls))


def _walk(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    made, tried = moves_made(situation, acts), done(acts, "move")
    name, leads = exit_parts(requested.place)
    where = {"place": leads or with_article(name), "why": tried[-1].result if tried else ""}
    if "move" not in tools:
        return Step(end="go_not", slots=where)
    if not tried:
        return _departure(requested, tools)
    if not made:
        return Step(end="go_not", slots=where)
    if len(made) == 1 and requested.back:
        if len(tried) > 1:
            return Step(end="go_stuck", slots=where)
        return Step((("move", {"to": way_back(requested, situation, acts)}),))
    seen = made[0].result
    return Step(end="go_back" if len(made) > 1 else "go_done", slots={**where, "seen": seen})


def _hand_over(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    carried = match_name(requested.item, situation.carrying)
    lying = match_name(requested.item, situation.things)
    if (
        requested.place
        and lying
        and match_name(requested.item, situation.things, loose=False) == ""
        and not done(acts, "move")
    ):
        lying = ""
    gave, got, made = done(acts, "give"), done(acts, "get"), moves_made(situation, acts)
    away = len(made) % 2 == 1
    slots = {
        "item": with_article(carried or lying or requested.item),
        "to": requested.to,
        "why": (gave or got)[-1].result if gave or got else "",
    }
    slots["place"] = (
        exit_parts(requested.place)[1] or with_article(exit_parts(requested.place)[0])
        if requested.place
        else ""
    )
    if gave:
        handed = {
            **slots,
            "item": with_article(str(gave[-1].arguments.get("item", requested.item))),
        }
        return Step(end="give_not" if gave[-1].failed else "give_done", slots=handed)
    if carried and not away:
        if "give" not in tools:
            return Step(end="give_not", slots=slots)
        return Step((("give", {"item": carried, "to": requested.to}),))
    if away and (carried or got or not lying or "get" not in tools):
        return _return(requested, situation, acts, slots)
    if lying and not got and "get" in tools and (away or not requested.place or not made):
        return Step((("get", {"item": lying}),))
    if requested.place and not made and not done(acts, "move") and "move" in tools and not got:
        return _departure(requested, tools)
    if got:
        return Step(
            end="get_not",
            slots={
                **slots,
                "item": with_article(str(got[-1].arguments.get("item", requested.item))),
            },
        )
    return Step(end="fetch_not" if requested.place and made else "have_not", slots=slots)


def _return(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], slots: Mapping[str, str]
) -> Step:
    if len(done(acts, "move")) > 1:
        return Step(end="go_stuck", slots=slots)
    return Step((("move", {"to": way_back(requested, situation, acts)}),))

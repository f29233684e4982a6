"""The tool calls of a requested action, one step at a time, and the words at its end.

The brain keeps no state. A turn's own calls and results show what was done, and the situation shows
where things are. Nothing is claimed that no tool did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.languages import ENGLISH, table
from evennia_ai.offline.name_matching import exit_parts, match_name
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.transcript import Act, reads_like
from evennia_ai.offline.view import SEEN_LABELS, View
from evennia_ai.offline.words import ended, with_article
from evennia_ai.ports import Situation

# The tool and the argument of the actions that take one call.
ONE_CALL = {
    "get": ("get", "item"), "drop": ("drop", "item"), "look": ("look", "target"),
    "follow": ("follow", "target"), "unfollow": ("follow", "target"), "gesture": ("emote", "text"),
}  # fmt: skip
NO_FAILURE = frozenset({"look", "unfollow"})
Calls = tuple[tuple[str, dict[str, str]], ...]


@dataclass(frozen=True)
class Step:
    """The next calls of an action and, at its end, how it ended.

    ``end`` is a key of the phrases, filled from ``slots``; if it is empty, another step follows.
    """

    calls: Calls = ()
    end: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Turn:
    """A requested action, where things are now, and what this turn has done."""

    requested: RequestedAction
    situation: Situation
    acts: Sequence[Act]
    tools: frozenset[str]

    @property
    def walks(self) -> list[Act]:
        """Return the walks of this turn that succeeded."""
        tried, place = done(self.acts, "move"), self.situation.place
        arrived = bool(tried and place) and tried[-1].result.startswith(place)
        return [act for act in tried if not act.failed or (act is tried[-1] and arrived)]

    @property
    def place(self) -> str:
        """Return where the action goes, as it is said; "" if it goes nowhere."""
        name, leads = exit_parts(self.requested.place)
        return leads or (with_article(name) if name else "")


def next_step(
    requested: RequestedAction, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    """Return the next step of an action, given what this turn has done."""
    turn = _Turn(requested, situation, acts, tools)
    if requested.kind in ONE_CALL:
        return _one_call(turn)
    return _walk(turn) if requested.kind == "go" else _hand_over(turn)


def done(acts: Sequence[Act], name: str) -> list[Act]:
    """Return the turn's calls of a tool."""
    return [act for act in acts if act.name == name]


def _one_call(turn: _Turn) -> Step:
    item, kind = turn.requested.item, turn.requested.kind
    tool, argument = ONE_CALL[kind]
    tried = done(turn.acts, tool)
    if tool in turn.tools and not tried:
        calls = ((tool, {argument: item or turn.requested.to}),)
        return Step(calls, end="gesture_done" if kind == "gesture" else "")
    failed = kind not in NO_FAILURE and (not tried or tried[-1].failed)
    slots = {"item": with_article(item), "why": tried[-1].result if tried else ""}
    return Step(end=f"{kind}_{'not' if failed else 'done'}", slots=slots)


def way_back(turn: _Turn) -> str:
    """Return the exit that leads to where the turn began."""
    looks = (act.result.partition(":") for act in turn.acts if act.name == "look")
    start = next((place for place, colon, _ in looks if colon), "")
    wanted = table(ENGLISH)["opposites"].get(exit_parts(turn.requested.place)[0].lower(), "")
    exits = [exit_parts(name) for name in turn.situation.exits]
    fit = (n for n, leads in exits if (start and leads == start) or (wanted and n.lower() == wanted))  # fmt: skip
    return next(fit, exits[0][0] if exits else "")


def _departure(turn: _Turn) -> Step:
    """Return the walk away, after a look if the exit's name tells no way back."""
    name = exit_parts(turn.requested.place)[0]
    move = ("move", {"to": name})
    if "look" in turn.tools and name.lower() not in table(ENGLISH)["opposites"]:
        return Step((("look", {"target": ""}), move))
    return Step((move,))


def _return(turn: _Turn, slots: Mapping[str, str]) -> Step:
    if len(done(turn.acts, "move")) > 1:
        return Step(end="go_stuck", slots=slots)
    return Step((("move", {"to": way_back(turn)}),))


def _walk(turn: _Turn) -> Step:
    tried, slots = done(turn.acts, "move"), {"place": turn.place}
    if "move" in turn.tools and not tried:
        return _departure(turn)
    if not turn.walks:
        return Step(end="go_not", slots=slots)
    if len(turn.walks) == 1 and turn.requested.back:
        return _return(turn, slots)
    return Step(end="go_back" if len(turn.walks) > 1 else "go_done", slots=slots)


def _hand_over(turn: _Turn) -> Step:
    requested, situation, tools = turn.requested, turn.situation, turn.tools
    gave, got, tried = (done(turn.acts, name) for name in ("give", "get", "move"))
    made = turn.walks
    away = len(made) % 2 == 1
    exact = match_name(requested.item, situation.things, loose=False)
    carried = match_name(requested.item, situation.carrying, loose=not exact)
    lying = match_name(requested.item, situation.things, loose=bool(tried or not requested.place))
    item = (gave or got)[-1].item if gave or got else carried or lying
    slots = {"item": with_article(item or requested.item), "to": requested.to, "place": turn.place}
    if gave or (carried and not away and "give" not in tools):
        given = bool(gave) and not gave[-1].failed
        return Step(end="give_done" if given else "give_not", slots=slots)
    if carried and not away:
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
    seen = SEEN_LABELS.sub("", slots["why"].partition(": ")[2] or slots["why"]).strip()
    known = [f.passage.text for f in view.rank(slots["item"], ("lore", "self"), 0.9)]
    if not seen or reads_like("nothing", seen):
        fresh = next((text for text in known if not view.repeats(text)), "")
        return fresh or view.phrase("look_not", **slots)
    said = view.phrase("look_done", **{**slots, "fact": ended(seen)})
    return view.phrase("again", fact=ended(seen)) if view.repeats(said) else said

"""The decisions of the ReAct loop: which tools to offer, which calls to run, when a turn ends.

``free`` tools may be called many times, ``once`` tools succeed once in a turn, and a ``final`` tool
that succeeds ends the turn after the reply's other calls.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.sanitize import storable
from evennia_ai.policy.texts import read_object

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
FREE, ONCE, FINAL = "free", "once", "final"
REPEATS_REFUSED = 2
REPEATS_FATAL = 3
REPAIRS = 2
NAME_CHARS = 64
ARGUMENT_CHARS = 20_000
NO_NAME_CHAR = re.compile(r"[^A-Za-z0-9_-]")

CUT_OFF = "Your reply was cut off before its end, so this was not done. Be shorter."
TOO_MANY = "Too many calls in one reply: this one and all after it were not done."
ALREADY_DONE = "You did that already: it was not done again."
SAME_AGAIN = "You asked for exactly this before; see the result above. Do something else or end."
# Later prompts show it. They do not show the excuse that ends such a turn.
GAVE_UP = (
    "This call a third time ended your turn. Unless you spoke before, nobody has an answer yet."
)


@dataclass(frozen=True)
class LoopState:
    """What the turn has done so far."""

    turn_id: int
    step: int = 0
    limited: frozenset[str] = frozenset()  # `limit_key` of once and final tools that succeeded
    seen: tuple[str, ...] = ()  # `fingerprint` of every requested call, with repetitions
    garbled: frozenset[int] = frozenset()  # steps with invalid JSON in a call
    ended: bool = False


@lru_cache(maxsize=64)  # each check of a reply reads them
def read_arguments(call: ToolCallRequest) -> Mapping[str, Any] | None:
    """Return a call's arguments, None if they are not a JSON object."""
    return read_object(call.arguments or "{}")


def fingerprint(call: ToolCallRequest) -> str:
    """Return the call by name and arguments, independent of JSON spelling."""
    arguments = read_arguments(call)
    spelled = call.arguments if arguments is None else json.dumps(arguments, sort_keys=True)
    return f"{call.name}({spelled})"


def limit_key(call: ToolCallRequest) -> str:
    """Return what a once or final tool may do once: a tool, or a tool and a target."""
    target = (read_arguments(call) or {}).get("target")
    return f"{call.name} {str(target).lower()}" if target else call.name


def wire_arguments(call: ToolCallRequest) -> str:
    """Return a call's arguments for later requests: ``{}`` if invalid, since servers parse them."""
    return call.arguments if call.arguments and read_arguments(call) is not None else "{}"


def base36(number: int, width: int) -> str:
    """Return ``number`` in base 36, zero-padded to ``width`` characters."""
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = ALPHABET[rest] + digits
    return digits.rjust(width, "0")


def own_call_id(turn_id: int, step: int, number: int) -> str:
    """Return an id for a call that is unique in the log; servers may count from 0 in each reply."""
    # Mistral accepts exactly nine letters or digits; this id has nine up to turn 60 million.
    return base36(turn_id, 5) + base36(step, 2) + base36(number, 2)


def step_of(call_id: str) -> int:
    """Return the step of a turn to which a call with an id of `own_call_id` belongs, 0 if none."""
    try:
        return int(call_id[-4:-2] or "0", 36)
    except ValueError:
        return 0


def clean_call(request: ToolCallRequest, state: LoopState, number: int) -> ToolCallRequest:
    """Return the ``number``-th call of a reply, cleaned, with our own id."""
    return ToolCallRequest(
        own_call_id(state.turn_id, state.step, number),
        NO_NAME_CHAR.sub("_", request.name)[:NAME_CHARS] or "_",
        storable(request.arguments)[:ARGUMENT_CHARS],
        request.sent,
    )


def take_calls(reply: LLMReply, state: LoopState, max_calls: int) -> tuple[ToolCallRequest, ...]:
    """Return a reply's calls, cleaned, with our own ids, at most one over the limit."""
    return tuple(
        clean_call(request, state, number)
        for number, request in enumerate(reply.tool_calls[: max_calls + 1])
    )


def acts_first(
    calls: Iterable[ToolCallRequest], words: Collection[str], leaving: Collection[str]
) -> tuple[ToolCallRequest, ...]:
    """Return a reply's calls with its words last, so that they are said once their acts are done.

    ``words`` are the tools that say something. Words before a call of ``leaving``, the tools that
    take the character away, stay before it.
    """
    ordered: list[ToolCallRequest] = []
    waiting: list[ToolCallRequest] = []
    for call in calls:
        if call.name in words:
            waiting.append(call)
            continue
        if call.name in leaving:
            ordered += waiting
            waiting = []
        ordered.append(call)
    return (*ordered, *waiting)


def begin_step(state: LoopState) -> LoopState:
    """Return the loop at its next model call."""
    return replace(state, step=state.step + 1)


def with_earlier_acts(
    state: LoopState, calls: Iterable[ToolCallRequest], categories: Mapping[str, str]
) -> LoopState:
    """Return the loop of a turn retried after a crash; acts that may be done count as done (P2)."""
    for call in calls:
        state = replace(apply_call(state, call, True, categories), ended=False)
    return state


def refusal_for(
    call: ToolCallRequest,
    number: int,
    state: LoopState,
    categories: Mapping[str, str],
    finish_reason: str,
    max_calls: int,
) -> str:
    """Return why a call, the ``number``-th of a reply from 0, is not run; empty if it is run."""
    if finish_reason == "length":
        return CUT_OFF
    if number >= max_calls:
        return TOO_MANY
    if categories.get(call.name, FREE) != FREE and limit_key(call) in state.limited:
        return ALREADY_DONE
    repeats = state.seen.count(fingerprint(call)) + 1
    if repeats >= REPEATS_FATAL:
        return GAVE_UP
    return SAME_AGAIN if repeats >= REPEATS_REFUSED else ""


def apply_call(
    state: LoopState, call: ToolCallRequest, good: bool, categories: Mapping[str, str]
) -> LoopState:
    """Return the loop after a call; a final tool that succeeded or hopeless calls end the turn."""
    seen = (*state.seen, fingerprint(call))
    category = categories.get(call.name, FREE)
    limited, garbled = state.limited, state.garbled
    if good and category != FREE:
        limited |= {limit_key(call)}
    if read_arguments(call) is None:
        garbled |= {state.step}
    ended = state.ended or (good and category == FINAL) or is_hopeless(seen, garbled)
    return replace(state, seen=seen, limited=limited, garbled=garbled, ended=ended)


def is_hopeless(seen: Sequence[str], garbled: Collection[int]) -> bool:
    """Return True if the same call came too often, or too many calls could not be read."""
    repeats = max(Counter(seen).values(), default=0)
    return repeats >= REPEATS_FATAL or len(garbled) > REPAIRS


def reopened(state: LoopState, words: Collection[str]) -> LoopState:
    """Return the loop after an act failed: it goes on, and what was said may be put right.

    ``words`` are the tools that say something.
    """
    limited = frozenset(key for key in state.limited if key.partition(" ")[0] not in words)
    return replace(state, limited=limited, ended=is_hopeless(state.seen, state.garbled))


@dataclass(frozen=True)
class ToolOffer:
    """The names of the tools offered so far in a talk, in the order in which they came.

    A talk lasts until the character sleeps or a compaction moves the start of its conversation.
    Requests send the tools of its start; a list that grew would change the beginning of the prompt.
    """

    names: tuple[str, ...] = ()  # needed at the talk's start
    late: tuple[str, ...] = ()  # needed later, or rare: the talk tells of them
    compaction_id: int | None = None  # the latest compaction, None before the first one

    def after(self, compaction_id: int | None) -> ToolOffer:
        """Return this offer, or an empty one after another compaction."""
        if compaction_id == self.compaction_id:
            return self
        return ToolOffer(compaction_id=compaction_id)

    def grown(self, needed: Iterable[str], rare: Collection[str] = ()) -> ToolOffer:
        """Return the offer with the tools needed now; new ones come last, in their given order."""
        new = tuple(dict.fromkeys(needed))
        names = self.names or tuple(name for name in new if name not in rare)
        late = dict.fromkeys([*self.late, *(name for name in new if name not in names)])
        return replace(self, names=names, late=tuple(late))

"""The ReAct loop's decisions: which of a reply's calls to run, and whether to go on.

Tool categories: ``free`` tools may be chained, ``once`` tools run once in a turn, and a ``final``
tool that succeeded ends the turn when the reply it stands in has been worked off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evennia_ai.messages import LLMReply, ToolCallRequest

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
FREE, ONCE, FINAL = "free", "once", "final"
REPEATS_REFUSED = 2
REPEATS_FATAL = 3

CUT_OFF = "Your reply was cut off before its end, so this was not done. Be shorter."
TOO_MANY = "Too many calls in one reply: this one was not done."
ALREADY_DONE = "You did that already in this turn: it was not done again."
SAME_AGAIN = "You asked for exactly this before; see the result above. Do something else or end."


@dataclass(frozen=True)
class LoopState:
    """What the turn has done so far.

    ``done_once`` names the once and final tools that succeeded; ``seen`` is every call asked for,
    by `fingerprint`, one entry for each time.
    """

    turn_id: int
    step: int = 0
    done_once: frozenset[str] = frozenset()
    seen: tuple[str, ...] = ()
    ended: bool = False


@dataclass(frozen=True)
class PlannedCall:
    """A call to run, or, where ``refusal`` is set, to answer with that text and not run."""

    call: ToolCallRequest
    refusal: str = ""


def fingerprint(call: ToolCallRequest) -> str:
    """The call by name and arguments, however the JSON was spelled."""
    try:
        arguments = json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except ValueError:
        arguments = call.arguments
    return f"{call.name}({arguments})"


def base36(number: int, width: int) -> str:
    """``number`` in base 36, zero-padded to ``width`` characters."""
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = ALPHABET[rest] + digits
    return digits.rjust(width, "0")


def own_call_id(turn_id: int, step: int, number: int) -> str:
    """An id for a call that is unique in the whole log, whatever the model wrote.

    Some servers number every reply's calls from 0, so that ids meet again in later turns; some
    take nine letters or digits and nothing else (Mistral), which this is up to turn 60 million.
    """
    return base36(turn_id, 5) + base36(step, 2) + base36(number, 2)


def plan_step(
    reply: LLMReply, categories: Mapping[str, str], state: LoopState, max_calls: int
) -> tuple[PlannedCall, ...]:
    """Decide, call by call in their order, what of one reply to run.

    Args:
        reply: the model's reply.
        categories: category by tool name; an unknown tool counts as free, and its error is the
            toolbox's to tell.
        state: the loop before this reply.
        max_calls: calls taken from one reply; the rest is refused.
    """
    seen = list(state.seen)
    limited = set(state.done_once)
    planned = []
    for number, asked in enumerate(reply.tool_calls):
        call = replace(asked, id=own_call_id(state.turn_id, state.step + 1, number))
        seen.append(fingerprint(call))
        refusal = ""
        if reply.finish_reason == "length":
            refusal = CUT_OFF
        elif number >= max_calls:
            refusal = TOO_MANY
        elif call.name in limited:
            refusal = ALREADY_DONE
        elif seen.count(seen[-1]) >= REPEATS_REFUSED:
            refusal = SAME_AGAIN
        elif categories.get(call.name, FREE) != FREE:
            limited.add(call.name)
        planned.append(PlannedCall(call, refusal))
    return tuple(planned)


def apply_step(
    state: LoopState,
    planned: Sequence[PlannedCall],
    succeeded: Sequence[bool],
    categories: Mapping[str, str],
) -> LoopState:
    """The loop after a reply's calls: ended by a final tool that succeeded, or by a call that was
    asked for `REPEATS_FATAL` times."""
    seen = state.seen + tuple(fingerprint(item.call) for item in planned)
    done = {
        item.call.name
        for item, good in zip(planned, succeeded, strict=True)
        if good and categories.get(item.call.name, FREE) != FREE
    }
    ended = any(categories[name] == FINAL for name in done)
    stuck = any(seen.count(mark) >= REPEATS_FATAL for mark in set(seen))
    return LoopState(state.turn_id, state.step + 1, state.done_once | done, seen, ended or stuck)

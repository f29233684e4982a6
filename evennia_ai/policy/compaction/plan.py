"""When to compact a conversation, and where to cut it. Pure: nothing here reads a clock or a log.

A history is a list of stored messages in their order. A *cut* is the index of the first message
that is kept. A *unit* is an assistant message with calls together with all results of these calls:
it is kept or goes as a whole, since servers refuse a result without its call and a call without its
result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Messages = Sequence[Mapping[str, Any]]
Count = Callable[[Mapping[str, Any]], int]

KEPT_SHARE = 0.2
LEAST_TARGET_SHARE = 0.25
SPLIT_TURN_MESSAGES = 5
# What one part of a summary may take with the facts below it: tokens, and a part of the target. A
# listener is shown two, the public one and his own, and they must leave room for talk.
SUMMARY_ROOM = 900
SUMMARY_SHARE = 0.25
PARTS_SHOWN = 2

NO_HISTORY = "no history"
WITHIN_WINDOW = "history within preserve window"


@dataclass(frozen=True)
class CompactionLimits:
    """What a plan goes by; all sizes are tokens.

    Args:
        window: the model's context window.
        fixed: what every request holds beside the conversation: tools, persona, tail.
        reserve: the room kept for the reply.
        target: which part of the rest the conversation may fill after a compaction.
        preserve: how many of the newest messages are kept where they fit.
        kept_share: which part of the window is kept with them, where it fits.
    """

    window: int
    fixed: int
    reserve: int
    target: float
    preserve: int
    kept_share: float = KEPT_SHARE

    @property
    def target_tokens(self) -> int:
        """The most the conversation, its summary included, may take after a compaction."""
        return max(0, int(self.target * (self.window - self.fixed - self.reserve)))

    @property
    def summary_room(self) -> int:
        """The most that one part of a summary should take, with the facts below it."""
        return min(SUMMARY_ROOM, int(SUMMARY_SHARE * self.target_tokens))

    @property
    def is_cramped(self) -> bool:
        """True where so little of the window is left for talk that compactions would chase one
        another: a mistake in the settings."""
        return self.target_tokens < LEAST_TARGET_SHARE * self.window


@dataclass(frozen=True)
class CompactionPlan:
    """Where to cut. ``cut`` is the first kept index; ``turn_start`` the index at which the turn
    began that the cut goes through, or ``cut`` itself; ``kept_tokens`` what is kept and
    ``gone_tokens`` what goes."""

    cut: int
    turn_start: int
    kept_tokens: int
    gone_tokens: int

    @property
    def splits_turn(self) -> bool:
        """True where so much of a turn goes that this part deserves a summary of its own."""
        return self.cut - self.turn_start >= SPLIT_TURN_MESSAGES


@dataclass(frozen=True)
class Skip:
    """Why nothing is compacted."""

    reason: str


def needs_compaction(used: int, window: int, threshold: float) -> bool:
    """True where ``used`` tokens reach the part ``threshold`` of ``window``."""
    return used >= threshold * window


def call_spans(messages: Messages) -> list[tuple[int, int]]:
    """For each assistant message with answered calls: its index and that of its last result."""
    callers: dict[str, int] = {}
    ends: dict[int, int] = {}
    for index, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            callers[call["id"]] = index
        caller = callers.get(message.get("tool_call_id") or "")
        if caller is not None:
            ends[caller] = index
    return sorted(ends.items())


def orphans(messages: Messages) -> set[int]:
    """Indices of results whose call is nowhere before them."""
    called: set[str] = set()
    found = set()
    for index, message in enumerate(messages):
        called.update(call["id"] for call in message.get("tool_calls") or ())
        if message["role"] == "tool" and message.get("tool_call_id") not in called:
            found.add(index)
    return found


def legal_cuts(messages: Messages) -> list[int]:
    """For every index from 0 to the length, the nearest cut that tears no unit apart: back to the
    calling message, or forward past results without a call."""
    legal = list(range(len(messages) + 1))
    for start, end in call_spans(messages):
        for index in range(start + 1, end + 1):
            legal[index] = min(legal[index], legal[start])
    alone = orphans(messages)
    for index in range(len(messages) - 1, -1, -1):
        if index in alone and legal[index] == index:
            legal[index] = legal[index + 1] if legal[index + 1] > index else index + 1
    return legal


def safe_cut(messages: Messages, index: int) -> int:
    """Move a cut to the nearest legal one: back to the calling assistant message, or forward past
    results without a call.

    Args:
        messages: the history.
        index: of the first message that would be kept, from 0 to the length.
    """
    return legal_cuts(messages)[index]


def unanswered_from(messages: Messages) -> int:
    """The index of the first call at the end of the history whose results are not all there yet:
    nothing from there on may go. The length where there is none."""
    answered = {message.get("tool_call_id") for message in messages if message["role"] == "tool"}
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "user":
            break
        calls = message.get("tool_calls") or ()
        if any(call["id"] not in answered for call in calls):
            return index
    return len(messages)


def last_turn_start(messages: Messages) -> int:
    """The index of the last thing heard, zero where there is none. One line and not a run of them:
    a room's talk among others may be the whole history, and what has no answer yet is named at the
    end of the prompt in any case."""
    index = len(messages) - 1
    while index > 0 and messages[index]["role"] != "user":
        index -= 1
    return max(index, 0)


def turn_start_before(messages: Messages, cut: int) -> int:
    """Where the turn began that a cut goes through: the cut itself where it stands at the
    beginning of one."""
    if cut >= len(messages) or messages[cut]["role"] == "user":
        return cut
    index = cut
    while index > 0 and messages[index - 1]["role"] != "user":
        index -= 1
    while index > 0 and messages[index - 1]["role"] == "user":
        index -= 1
    return index


def wanted_cut(sizes: Sequence[int], limits: CompactionLimits) -> int:
    """Where the shortest end of the history begins that has enough messages and enough tokens."""
    kept = 0
    for index in range(len(sizes) - 1, -1, -1):
        kept += sizes[index]
        enough = len(sizes) - index >= limits.preserve
        if enough and kept >= limits.kept_share * limits.window:
            return index
    return 0


def plan_compaction(
    messages: Messages, limits: CompactionLimits, count: Count
) -> CompactionPlan | Skip:
    """Choose what stays: the shortest end of the history that holds ``limits.preserve`` messages
    and a fifth of the window; fewer where that is more than the target, down to the last turn of a
    player, and where that alone is too long, to the end of it that fits.

    Args:
        messages: the history in view, without the marker of an earlier compaction.
        limits: see `CompactionLimits`.
        count: tokens of one message.

    A call that waits for its results never goes, nor does the last unit. What is kept may be over
    the target only where it is a single unit: to shorten that is the projection's.
    """
    if not messages:
        return Skip(NO_HISTORY)
    legal = legal_cuts(messages)
    sizes = [count(message) for message in messages]
    room = max(0, limits.target_tokens - PARTS_SHOWN * limits.summary_room)
    pending = unanswered_from(messages)
    last_turn = min(legal[last_turn_start(messages)], pending)
    last_unit = min(legal[len(messages) - 1], pending)
    cut = min(legal[wanted_cut(sizes, limits)], last_turn)
    kept = sum(sizes[cut:])
    for stop in (last_turn, last_unit):
        while kept > room and cut < stop:
            kept -= sizes[cut]
            cut += 1
            while legal[cut] != cut and cut < stop:
                kept -= sizes[cut]
                cut += 1
    if cut <= 0:
        return Skip(WITHIN_WINDOW)
    return CompactionPlan(cut, turn_start_before(messages, cut), kept, sum(sizes) - kept)


def plan_last_turn(
    messages: Messages, limits: CompactionLimits, count: Count
) -> CompactionPlan | Skip:
    """As `plan_compaction`, where nothing but the last turn stays, and where that alone is too
    long, the end of it that fits."""
    return plan_compaction(messages, replace(limits, preserve=1, kept_share=0.0), count)

"""Decide whether to mask or compact a conversation, and where to cut it. Pure.

A history is a list of stored messages in their order. A *cut* is the index of the first message
that stays. A *unit* is an assistant message with tool calls and all results of these calls. A unit
stays or goes as a whole, since servers refuse a result without its call and a call without its
result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evennia_ai.messages import ChatMessage
from evennia_ai.policy.context.projection import LogInView
from evennia_ai.policy.limits.endpoints import Speed

Messages = Sequence[Mapping[str, Any]]
Count = Callable[[Mapping[str, Any]], int]

KEPT_SHARE = 0.2
LEAST_TARGET_SHARE = 0.25
SPLIT_TURN_MESSAGES = 5
# Limits of one part of a summary: in tokens, and as a share of the target. A listener's prompt
# holds two parts, the public one and their own, and must leave room for messages.
SUMMARY_ROOM = 900
SUMMARY_SHARE = 0.25
PARTS_SHOWN = 2

# Below this window, or above this time for a summary, a digest goes first while somebody may wait.
SMALL_WINDOW = 3_000
LONG_SUMMARY_S = 10.0

NO_HISTORY = "no history"
WITHIN_WINDOW = "history within preserve window"
# Share of the window that an automatic compaction must free: if tools and persona fill the window,
# every new line would start another compaction.
LEAST_GAIN_SHARE = 0.05
DISABLED = "compaction disabled"
TOO_LITTLE = "too little would be gained"


@dataclass(frozen=True)
class CompactionLimits:
    """The figures that a plan is made by; all sizes are tokens."""

    window: int  # the model's context window
    fixed: int  # outside the conversation: tools, persona, tail
    reserve: int  # for the reply
    target: float  # share of the rest that may stay filled after a compaction
    preserve: int  # how many of the newest messages stay if they fit
    kept_share: float = KEPT_SHARE  # share of the window that stays if it fits, 0 for no such rule

    @property
    def target_tokens(self) -> int:
        """Return the most tokens of the conversation after a compaction, summary included."""
        return max(0, int(self.target * (self.window - self.fixed - self.reserve)))

    @property
    def summary_room(self) -> int:
        return min(SUMMARY_ROOM, int(SUMMARY_SHARE * self.target_tokens))

    @property
    def is_cramped(self) -> bool:
        """True if so little is left for conversation that it would compact again and again."""
        return self.target_tokens < LEAST_TARGET_SHARE * self.window


@dataclass(frozen=True)
class CompactionPlan:
    """Where to cut."""

    cut: int  # index of the first message that stays
    turn_start: int  # where the turn begins that the cut splits; ``cut`` if none
    kept_tokens: int  # of the messages that stay
    gone_tokens: int  # of the evicted messages

    @property
    def splits_turn(self) -> bool:
        """Return True if the evicted beginning of a turn is long enough for its own summary."""
        return self.cut - self.turn_start >= SPLIT_TURN_MESSAGES


@dataclass(frozen=True)
class Skip:
    """The reason why nothing is compacted, and the rule and figures that it comes from, if any."""

    reason: str
    detail: str = ""


def digest_goes_first(window: int, speed: Speed) -> bool:
    """Return True if an emergency takes a digest, and the model's summary follows in sleep."""
    took_s = speed.seconds_for(window / 2, SUMMARY_ROOM / 2)
    return window <= SMALL_WINDOW or took_s > LONG_SUMMARY_S


def needs_compaction(used: int, window: int, threshold: float) -> bool:
    """Return True if ``used`` tokens reach the share ``threshold`` of ``window``."""
    return used >= threshold * window


def call_spans(messages: Messages) -> list[tuple[int, int]]:
    """Return the indices of each assistant message with answered calls and of its last result."""
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
    """Return the indices of the tool results that no earlier tool call in the list asked for."""
    called: set[str] = set()
    ids = set()
    for index, message in enumerate(messages):
        called.update(call["id"] for call in message.get("tool_calls") or ())
        if message["role"] == "tool" and message.get("tool_call_id") not in called:
            ids.add(index)
    return ids


def legal_cuts(messages: Messages) -> list[int]:
    """Return `safe_cut` for every index from 0 to the length."""
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
    """Return the legal cut nearest to an index from 0 to the length.

    That is back to the calling assistant message, or forward past results without a call.
    """
    return legal_cuts(messages)[index]


def unanswered_from(messages: Messages) -> int:
    """Return the index of the last call that lacks results, else the length."""
    # Nothing from there on may be evicted.
    answered = {message.get("tool_call_id") for message in messages if message["role"] == "tool"}
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "user":
            break
        if any(call["id"] not in answered for call in message.get("tool_calls") or ()):
            return index
    return len(messages)


def turn_start_before(messages: Messages, cut: int) -> int:
    """Return the index where the turn of a cut begins; the cut itself if it splits no turn."""
    if cut >= len(messages) or messages[cut]["role"] == "user":
        return cut
    index = cut
    while index > 0 and messages[index - 1]["role"] != "user":
        index -= 1
    while index > 0 and messages[index - 1]["role"] == "user":
        index -= 1
    return index


def wanted_cut(sizes: Sequence[int], limits: CompactionLimits) -> int:
    """Return the start of the shortest tail that has enough messages and enough tokens."""
    kept = 0
    for index in range(len(sizes) - 1, -1, -1):
        kept += sizes[index]
        if len(sizes) - index >= limits.preserve and kept >= limits.kept_share * limits.window:
            return index
    return 0


def plan_compaction(
    messages: Messages, limits: CompactionLimits, count: Count
) -> CompactionPlan | Skip:
    """Choose where to cut a history in view, without the marker of an earlier compaction.

    What stays is the shortest tail with ``limits.preserve`` messages and ``limits.kept_share`` of
    the window. If that is over the target, fewer messages stay: down to the last turn of a player,
    and if that alone is too long, to the part of its end that fits. A call without all of its
    results always stays, and so does the last unit; only a single unit may be over the target, and
    the projection shortens it.
    """
    if not messages:
        return Skip(NO_HISTORY)
    legal = legal_cuts(messages)
    sizes = [count(message) for message in messages]
    room = max(0, limits.target_tokens - PARTS_SHOWN * limits.summary_room)
    pending = unanswered_from(messages)
    # The last line heard: room talk may be the whole history, and unanswered lines end the prompt.
    heard_at = [index for index, message in enumerate(messages) if message["role"] == "user"] or [0]
    last_turn = min(legal[heard_at[-1]], pending)
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
        rule = f"of its {len(messages)} messages, the newest {limits.preserve} stay"
        if limits.kept_share:
            tokens = f"{limits.kept_share * limits.window:,.0f} tokens"
            rule += f", and as many as fill {limits.kept_share:.0%} of the window, {tokens}"
        return Skip(WITHIN_WINDOW, f"{rule}; that is all of them, with {kept:,} tokens")
    return CompactionPlan(cut, turn_start_before(messages, cut), kept, sum(sizes) - kept)


def plan_last_turn(
    messages: Messages, limits: CompactionLimits, count: Count
) -> CompactionPlan | Skip:
    """Choose a cut after which only the last turn stays, or the part of its end that fits."""
    return plan_compaction(messages, replace(limits, preserve=1, kept_share=0.0), count)


@dataclass(frozen=True)
class Thresholds:
    """Shares of the context window, from 0 to 1, at which each kind of relief begins."""

    mask: float
    sleep: float
    emergency: float


@dataclass(frozen=True)
class ContextUse:
    """How full the context window is."""

    used: int  # tokens of the largest request, the reserve for its reply included
    window: int  # tokens
    thresholds: Thresholds | None  # None if compaction is disabled

    @property
    def ratio(self) -> float:
        """Return the share of the window that is used; over 1 if the request does not fit."""
        return self.used / self.window

    @property
    def should_mask(self) -> bool:
        """Return True from ``mask_threshold`` on."""
        return self.thresholds is not None and self.ratio >= self.thresholds.mask

    @property
    def is_due(self) -> bool:
        """Return True from ``compact_sleep_threshold`` on."""
        limits = self.thresholds
        return limits is not None and needs_compaction(self.used, self.window, limits.sleep)

    @property
    def is_urgent(self) -> bool:
        """Return True from ``compact_emergency_threshold`` on."""
        limits = self.thresholds
        return limits is not None and needs_compaction(self.used, self.window, limits.emergency)


def decide_compaction(
    use: ContextUse,
    messages: Messages,
    limits: CompactionLimits,
    count: Count,
    *,
    waits: bool,
    force: bool,
) -> CompactionPlan | Skip:
    """Decide whether to compact, and where to cut, as `plan_compaction` does.

    ``waits`` skips below ``compact_sleep_threshold``; ``force`` compacts even for little gain.
    """
    if use.thresholds is None:
        return Skip(DISABLED)
    if messages and waits and not use.is_due:
        return Skip(f"below threshold ({use.ratio:.1%} < {use.thresholds.sleep:.0%})")
    plan = plan_compaction(messages, limits, count)
    if isinstance(plan, Skip) or force or plan.gone_tokens >= LEAST_GAIN_SHARE * limits.window:
        return plan
    return Skip(TOO_LITTLE)  # else the same line could start compactions on end (P4)


SLEEP, EMERGENCY, OVERFLOW, MANUAL = "sleep", "emergency", "overflow", "manual"
URGENT = (EMERGENCY, OVERFLOW)
STRIKES = 2


@dataclass(frozen=True)
class CompactionOrder:
    """Why and how to compact."""

    reason: str = SLEEP  # or EMERGENCY, OVERFLOW, MANUAL
    force: bool = False  # skip the threshold, and compact even if little is gained
    focus: str | None = None  # what the summary should keep above all
    keep_recent: int | None = None  # newest messages to keep this time; None uses the setting
    asks: bool = True  # False takes a digest instead of asking a model
    is_unread: bool = False  # True if nothing of what goes has been journalled

    @property
    def is_urgent(self) -> bool:
        """Return True if somebody may be waiting for an answer meanwhile."""
        return self.reason in URGENT


@dataclass(frozen=True)
class DecidedCompaction:
    """A compaction that was decided on: the request, and what it found."""

    request: CompactionOrder
    use: ContextUse  # how full the context window was
    view: LogInView
    messages: Sequence[ChatMessage]  # in view when it was decided on
    plan: CompactionPlan
    limits: CompactionLimits  # by which the plan was made

    @property
    def evicted(self) -> Sequence[ChatMessage]:
        return self.messages[: self.plan.cut]

    @property
    def last_seq(self) -> int:
        return int(self.messages[self.plan.cut - 1]["metadata"]["seq"])

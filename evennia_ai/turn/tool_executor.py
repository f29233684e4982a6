"""Run a reply's tool calls: store the intent before each act and the outcome after it (P2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks

from evennia_ai.errors import NothingDone, OutcomeUnknown, StoreUnavailable, ToolError
from evennia_ai.messages import (
    PERCEIVED,
    SPEECH,
    Audience,
    ChatMessage,
    ToolCallRequest,
    make_message,
    unmarked,
    wire_call,
)
from evennia_ai.policy.audience import GAME, of_turn
from evennia_ai.policy.call_record import LockAsked, stored_locks
from evennia_ai.policy.compaction.restored_context import CHANGED, READ
from evennia_ai.policy.conversation.tool_call_rules import wire_arguments
from evennia_ai.policy.replies.speech import spoken
from evennia_ai.ports import MindContext, ToolContext, ToolMindContext, ToolResult, TurnRecord
from evennia_ai.scheduling import Clock, Coroutine, retry_write
from evennia_ai.turn.model_call import ensure_current, own_evidence

REFUSED, DONE, FAILED, UNKNOWN = "refused", "done", "failed", "unknown"
ASKED = "asked"  # a person must agree first
TOO_SLOW = "That took too long, and may or may not have happened. Do not do it again."
NOT_NOW = "That cannot be done just now."
WRONG = "That went wrong for a reason outside your control."
IN_DOUBT = "It may have happened all the same: do not do it again."
LEAST_TOOL_TIME_S = 1.0
LEAST_REPLY_TIME_S = 3.0

AsLogged = Callable[[ToolResult], Sequence[ChatMessage]]


@dataclass(eq=False)
class ToolExecutor:
    """Runs the tool calls of one assistant, for whoever hears them. ``tools`` is what they use."""

    _mind: MindContext
    tools: ToolMindContext

    def audience_now(self, turn: TurnRecord) -> Audience:
        """Return who will hear the turn's next words: a whisper's parties, else the room."""
        return turn.audience if turn.private else self._mind.world.listeners(self._mind.character)

    def context_for(
        self, turn: TurnRecord, audience: Audience, private: bool, allowed: frozenset[str] | None
    ) -> ToolContext:
        return ToolContext(
            assistant=self.tools,
            character=self._mind.character,
            audience=audience,
            private=private or turn.secret,
            speakers=turn.speakers,
            authors=of_turn(turn.authors),
            whispered=turn.private,
            askers=turn.askers,
            waiting=turn.waiting,
            hops=turn.hops,
            allowed=allowed,
        )

    @inlineCallbacks
    def say_aloud(
        self, turn: TurnRecord, tools: ToolContext, words: str, call_id: str, **metadata: Any
    ) -> Coroutine[ToolResult]:
        """Say words that no tool call asked for; log them, with more metadata."""

        def as_logged(result: ToolResult) -> list[ChatMessage]:
            if result.state != DONE:
                return []
            return [
                make_message(
                    "assistant",
                    words,
                    evidence=own_evidence(self._mind.profile),
                    **audience_metadata(turn, tools, result),
                    **metadata,
                )
            ]

        call = spoken(words, call_id)
        result: ToolResult = yield self.perform(turn, tools, call, True, as_logged)
        return result

    @inlineCallbacks
    def perform(
        self,
        turn: TurnRecord,
        context: ToolContext,
        call: ToolCallRequest,
        world: bool,
        as_logged: AsLogged,
    ) -> Coroutine[ToolResult]:
        """Store the intent of a call, run it, and store its outcome with the messages of
        ``as_logged``.

        A tool is cancelled `LEAST_REPLY_TIME_S` before the context's deadline, so that the model
        can still reply. If less time is left, the tool gets up to `LEAST_TOOL_TIME_S` of it.

        Fires with the `ToolResult`. Fails with TurnAborted if the lease is lost, with
        OutcomeUnknown if words may have been heard although their call failed, and with
        StoreUnavailable: if the intent could not be stored, nothing was done; if the outcome could
        not be stored, it stays unknown.
        """
        clock, context = self._mind.clock, replace(context, locks=[])
        act_id = yield retry_write(clock, lambda: self._intend(turn, call, world))
        left_s = context.deadline_at - clock.seconds()
        time_s = max(left_s - LEAST_REPLY_TIME_S, min(left_s, LEAST_TOOL_TIME_S), 0.0)
        running = self._mind.services.toolbox.run(context, call)
        too_late = ToolResult(UNKNOWN if world or call.name in SPEECH else FAILED, TOO_SLOW)  # P2
        result: ToolResult = yield give_time(running, time_s, clock, too_late)
        if result.state == UNKNOWN and call.name in SPEECH:
            raise OutcomeUnknown(f"{call.name} failed, but may have been heard: {result.text}")
        yield self._store_outcome(act_id, result, as_logged, context.locks)
        ensure_current(self._mind.turns, turn)
        return result

    def _store_outcome(
        self, act_id: int, result: ToolResult, as_logged: AsLogged, locks: Sequence[LockAsked] = ()
    ) -> Deferred[None]:
        """Store the outcome of an act, its messages and its locks; fails with StoreUnavailable."""
        record, text, stored = self._mind.turns.record_outcome, result.text, stored_locks(locks)
        return retry_write(
            self._mind.clock, lambda: record(act_id, result.state, text, as_logged(result), stored)
        )

    def _intend(self, turn: TurnRecord, call: ToolCallRequest, world: bool) -> int:
        """Store an intent and return its id; raises TurnAborted if the turn has lost its lease."""
        ensure_current(self._mind.turns, turn)
        return self._mind.turns.intend(turn.id, call, world)

    @inlineCallbacks
    def refuse(
        self, turn: TurnRecord, call: ToolCallRequest, reason: str, as_logged: AsLogged
    ) -> Coroutine[ToolResult]:
        """Store a call that is not run. Fires with its result."""
        result = ToolResult(REFUSED, reason)
        act_id = yield retry_write(self._mind.clock, lambda: self._intend(turn, call, False))
        yield self._store_outcome(act_id, result, as_logged)
        return result


def give_time(
    running: Deferred[ToolResult], time_s: float, clock: Clock, otherwise: ToolResult
) -> Deferred[ToolResult]:
    """Return the tool's result if it arrives in time, else ``otherwise``."""
    # `Deferred.addTimeout` would wait for a tool that ignores its cancellation; this drops a late
    # result instead.
    finished: Deferred[ToolResult] = Deferred()

    def arrive(result: Any) -> None:
        if not finished.called:
            timer.cancel()
            finished.callback(result)

    def stop() -> None:
        finished.callback(otherwise)
        running.cancel()

    timer = clock.callLater(time_s, stop)
    running.addBoth(arrive)
    return finished


def failed_call(error: Exception, in_doubt: bool) -> ToolResult:
    """Return the result of a tool call that raised.

    ``in_doubt`` is True if others notice what the tool does, it had begun, and must not run again.
    """
    text = WRONG
    if isinstance(error, ToolError):
        text = str(error)
    elif isinstance(error, StoreUnavailable):
        text = NOT_NOW
    elif isinstance(error, CancelledError):
        return ToolResult(UNKNOWN if in_doubt else FAILED, TOO_SLOW)
    if in_doubt and not isinstance(error, NothingDone):
        return ToolResult(UNKNOWN, f"{text} {IN_DOUBT}")
    return ToolResult(FAILED, text)


def call_messages(
    turn: TurnRecord,
    context: ToolContext,
    call: ToolCallRequest,
    result: ToolResult,
    *,
    evidence: str = "",
) -> list[ChatMessage]:
    """Return the messages of a call and of its result, for those whom it reached."""
    metadata = audience_metadata(turn, context, result)
    request = wire_call(call.id, call.name, wire_arguments(call), call.sent)
    text = result.text if result.quotes_log else unmarked(result.text)
    message = make_message("tool", text, tool_call_id=call.id, evidence=PERCEIVED, **metadata)
    if result.read or result.changed:
        message["metadata"]["consulted"] = {READ: list(result.read), CHANGED: list(result.changed)}
    return [
        make_message("assistant", "", tool_calls=[request], evidence=evidence, **metadata),
        message,
    ]


def audience_metadata(turn: TurnRecord, context: ToolContext, result: ToolResult) -> dict[str, Any]:
    """Return the metadata of an act; only those it reached may know it, else the audience."""
    heard_by = context.audience if result.heard_by is None else result.heard_by
    return {
        "turn_id": turn.id,
        "audience": sorted(heard_by),
        "authors": sorted(context.all_authors | (result.authors or {GAME})),
        "private": context.private or result.heard_by is not None,
    }

"""Before a compaction, let the assistant journal facts of what will be evicted.

This is a ReAct loop of its own, once for each audience that has messages to go, in the mode of the
model (`sleep.journal_requests`). Its tool calls are stored with a turn and are no part of the
conversation. What an emergency evicts while somebody waits is journalled behind the answer, or in
sleep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai import ports
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import ProviderError
from evennia_ai.messages import (
    OFFLINE,
    Audience,
    ChatMessage,
    LLMReply,
    ToolCallRequest,
    WireMessage,
)
from evennia_ai.policy.audience import people_among, visible
from evennia_ai.policy.compaction import plan
from evennia_ai.policy.context import projection
from evennia_ai.policy.conversation.tool_call_rules import (
    LoopState,
    begin_step,
    read_arguments,
    take_calls,
)
from evennia_ai.policy.facts.origin import ShownContext, ShownLine, origin_of, shown_line
from evennia_ai.policy.facts.terms import normal_words
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.ports.background import NO_MODEL, skip
from evennia_ai.scheduling import Coroutine, Enqueue, map_in_slices, retry_write, yield_to_reactor
from evennia_ai.sleep.journal_requests import JournalRequest, JournalRequests, evicted_by, heard_in
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from evennia_ai.turn.tool_executor import DONE, ToolExecutor, call_messages

log = Logger()

LEAST_MESSAGES = 5
NOOP, NO_CALL, OTHER, MOST = "noop", "no_tool_call", "other_tool", "max_iterations"
INTERRUPTED = "interrupted"
NOTED = "noted"
SIGNAL = "pre_compaction"
TURNS_TIMES = 3.0
DISABLED = "extraction disabled"
NOTHING_LATE = "nothing was evicted unread"
FAILURES_TOLD = 2
CANNOT_JOURNAL = (
    "The model '{model}' cannot write the journal before a compaction: it answered {count} times "
    "without a call. Old talk is still found in the log. Use a larger model, or turn off "
    "pre_compact_extraction_enabled."
)


@dataclass(frozen=True)
class ExtractionResult:
    """What came of the loops so far; ``stopped_by`` is the reason why the last one ended."""

    facts_recorded: int = 0
    iterations: int = 0
    stopped_by: str = NOOP

    def with_more(self, more: ExtractionResult) -> ExtractionResult:
        """Return it after a further loop."""
        facts = self.facts_recorded + more.facts_recorded
        return ExtractionResult(facts, self.iterations + more.iterations, more.stopped_by)


@dataclass(frozen=True)
class ExtractionLimits:
    """How far an extraction goes."""

    iterations: int  # most model calls for each audience
    end_at: float | None = None  # the clock's second; None gives each loop `TURNS_TIMES` turns
    is_interrupted: Callable[[], bool] = lambda: False  # asked before each call


@dataclass(eq=False)
class FactExtractor:
    """Journals facts of what a compaction will evict.

    ``decide`` plans a compaction: `Compactor.decide`.
    """

    _mind: ports.MindContext
    _meter: ContextMeter
    _requests: JournalRequests
    _calls: ModelCalls
    _tool_executor: ToolExecutor
    _decide: Callable[[plan.CompactionOrder, plan.ContextUse], plan.DecidedCompaction | plan.Skip]
    has_late: bool = True  # what was evicted unread may wait; after a start nobody knows
    _read: set[int] = field(default_factory=set)  # messages of it that were journalled, by number
    _failures: int = 0  # replies in a row without a call
    _reported_model: str = ""  # the model of which the owner was told
    _written: list[str] = field(default_factory=list)  # references to an audience's new entries

    @inlineCallbacks
    def run(self, max_iterations: int | None = None) -> Coroutine[dict[str, Any]]:
        """Let the assistant journal facts of the messages that the next compaction evicts.

        ``max_iterations`` limits the model calls for each audience; None uses the setting.

        Its figures are ``facts_recorded``, ``iterations`` and ``stopped_by`` (noop, no_tool_call,
        other_tool or max_iterations, of the last loop). They count what was evicted unread, too.
        """
        own = self._mind.config.pre_compact_max_iterations
        self.has_late = True  # also what a model failed to read before
        limits = ExtractionLimits(own if max_iterations is None else max_iterations)
        late: dict[str, Any] = yield self.journal_late(limits)
        result: dict[str, Any] = yield self.extract(limits, self._meter.measure())
        if not late.get("success"):
            return result
        counts = {
            name: late[name] + result.get(name, 0) for name in ("facts_recorded", "iterations")
        }
        return {**late, **(result if result.get("success") else {}), **counts}

    @inlineCallbacks
    def extract(self, limits: ExtractionLimits, use: plan.ContextUse) -> Coroutine[dict[str, Any]]:
        """As `run`, within limits; ``stopped_by`` may also be ``interrupted``."""
        if not self._mind.config.pre_compact_extraction_enabled:
            return skip(DISABLED)
        task = self._decide(plan.CompactionOrder(plan.SLEEP), use)
        if isinstance(task, plan.Skip) or len(task.evicted) < LEAST_MESSAGES:
            return skip(f"fewer than {LEAST_MESSAGES} messages")
        parts = projection.split_by_audience(task.evicted)
        # The model must see the whole talk, or it would journal half of a matter.
        is_apart = use.ratio > 1 or not request_form(self._mind.profile).native
        result: dict[str, Any] = yield self._extract_parts(parts, limits, is_apart)
        return result

    @inlineCallbacks
    def journal_late(self, limits: ExtractionLimits) -> Coroutine[dict[str, Any]]:
        """Journal facts of the messages that were evicted unread; fires as `extract`.

        What a model failed to read waits until the next sleep.
        """
        log, is_on = self._mind.log, self._mind.config.pre_compact_extraction_enabled
        records = log.to_journal() if self.has_late and is_on else ()
        self.has_late = False
        if not records:
            self._read.clear()
            return skip(NOTHING_LATE)
        gone = evicted_by(records, log.lines)
        unread = (message for message in gone if message["metadata"]["seq"] not in self._read)
        parts = projection.split_by_audience(unread)
        result: dict[str, Any] = yield self._extract_parts(parts, limits, True)
        if result.get("stopped_by") == INTERRUPTED:
            self.has_late = True
        elif result.get("success", not self._mind.profile.has_model):
            done = partial(log.note_journalled, [record.id for record in records])
            yield retry_write(self._mind.clock, done)
            self._read.clear()
        return result

    @inlineCallbacks
    def _extract_parts(
        self, parts: Mapping[str, Sequence[ChatMessage]], limits: ExtractionLimits, is_apart: bool
    ) -> Coroutine[dict[str, Any]]:
        """Journal facts of each audience's messages, shown alone if ``is_apart``."""
        # A turn that an error left open would otherwise stay open behind the turns of the loops.
        yield retry_write(self._mind.clock, self._mind.turns.recover)
        yield retry_write(self._mind.clock, partial(self._mind.status.signal, SIGNAL, True))
        total = ExtractionResult()
        try:
            for key, messages in parts.items():
                if limits.is_interrupted():
                    total = replace(total, stopped_by=INTERRUPTED)
                    break
                shown_apart = messages if is_apart else ()
                came = yield self._extract_for(projection.part_audience(key), shown_apart, limits)
                if came.stopped_by == NO_MODEL:
                    return skip(NO_MODEL)
                total = total.with_more(came)
                if is_apart and came.stopped_by != INTERRUPTED:
                    self._read.update(m["metadata"]["seq"] for m in messages)
        except ProviderError as error:
            message = "{name}: the model journalled no facts before the compaction: {error}"
            log.warn(message, name=self._mind.name, error=error)
            return {"success": False, "error": str(error), "facts_recorded": 0}
        finally:
            yield retry_write(self._mind.clock, partial(self._mind.status.signal, SIGNAL, False))
        return {"success": True, **asdict(total)}

    @inlineCallbacks
    def _extract_for(
        self,
        confidants: Audience | None,
        shown_apart: Sequence[ChatMessage],
        limits: ExtractionLimits,
    ) -> Coroutine[ExtractionResult]:
        """Run a loop for one audience, in a turn that ends even after a ProviderError."""
        clock, turns = self._mind.clock, self._mind.turns
        audience = frozenset() if confidants is None else confidants
        private, why = confidants is not None, CONTEXT_PRE_COMPACTION.name
        begin = partial(turns.begin, (), audience, private, why)
        turn: ports.TurnRecord = yield retry_write(clock, begin)
        try:
            self._written.clear()
            came: ExtractionResult = yield self._run_loop(turn, confidants, shown_apart, limits)
            if self._written and limits.end_at is None:  # else somebody waits
                items = shown_apart or projection.visible_items(
                    self._mind.log.current.items, audience
                )
                yield self._requests.doubt(self._written, items, confidants)
        except ProviderError as error:
            detail = f"{error.kind}: {error}"
            yield retry_write(clock, partial(turns.finish, turn.id, NOTED, detail))
            raise
        detail = f"{came.facts_recorded} facts written down"
        yield retry_write(clock, partial(turns.finish, turn.id, NOTED, detail))
        return came

    @inlineCallbacks
    def _run_loop(
        self,
        turn: ports.TurnRecord,
        confidants: Audience | None,
        shown_apart: Sequence[ChatMessage],
        limits: ExtractionLimits,
    ) -> Coroutine[ExtractionResult]:
        """Ask and journal until nothing is left to write. Fires with the result."""
        put, own_prompt = self._mind.slices.put, self._mind.config.pre_compact_prompt
        context = CONTEXT_PRE_COMPACTION
        tools = self._tool_executor.context_for(turn, turn.audience, turn.private, context.tools)
        asleep_until = self._mind.clock.seconds() + TURNS_TIMES * self._mind.config.turn_deadline
        tools = replace(tools, deadline_at=limits.end_at or asleep_until)
        specs = tuple(self._mind.services.toolbox.offered(tools))
        if not shown_apart:
            context = replace(context, prompt=own_prompt or context.prompt)
            request, authors = self._requests.with_talk(turn, context, specs)
            shown: ShownContext = yield read_shown(self._mind.log, put, turn.audience)
            journal_request = JournalRequest(request, shown, authors)
            came: ExtractionResult = yield self._run_steps(turn, tools, journal_request, limits, 0)
            return came
        total, pieces = ExtractionResult(), self._requests.pieces(shown_apart, limits.iterations)
        for later, piece in zip(reversed(range(len(pieces))), pieces, strict=True):
            # What a piece does not need is left for later ones, of which each needs one at least.
            own = replace(limits, iterations=limits.iterations - total.iterations - later)
            request, authors = self._requests.apart(turn, confidants, piece, specs)
            shown = ShownContext((yield read_lines(piece, put)))
            quotes = self._requests.quotes(piece)
            journal_request = JournalRequest(request, shown, authors, quotes)
            came = yield self._run_steps(turn, tools, journal_request, own, total.iterations)
            total = total.with_more(came)
            if came.stopped_by in (INTERRUPTED, OTHER, NO_MODEL):
                break
        return total

    @inlineCallbacks
    def _run_steps(
        self,
        turn: ports.TurnRecord,
        tools: ports.ToolContext,
        journal_request: JournalRequest,
        limits: ExtractionLimits,
        earlier: int,
    ) -> Coroutine[ExtractionResult]:
        """Ask about what one request shows, ``earlier`` steps after the first of the turn."""
        context_of = partial(
            with_origin, replace(tools, authors=journal_request.authors), journal_request.shown
        )
        state, facts, so_far = LoopState(turn.id, earlier), 0, list[WireMessage]()
        known, failed = {spec.name for spec in self._mind.services.toolbox.offered(tools)}, False
        for step in range(1, limits.iterations + 1):
            if limits.is_interrupted():
                return ExtractionResult(facts, step - 1, INTERRUPTED)
            state = begin_step(state)
            may_wait = limits.end_at is None  # in sleep; an awake mind must answer meanwhile
            request = journal_request.at_step(state.step, so_far, may_wait)
            reply: LLMReply = yield self._calls.for_turn(
                turn, request, CONTEXT_PRE_COMPACTION.name, tools.deadline_at
            )
            if reply.model == OFFLINE:
                return ExtractionResult(facts, step, NO_MODEL)  # the log is the stand-in's memory
            reply = journal_request.read(reply)
            calls = take_calls(reply, state, self._mind.config.max_tool_calls)
            is_cut = reply.finish_reason == CUT_OFF and not journal_request.is_plain
            self._note_reply(bool(calls) or facts > 0)
            if not calls or is_cut:
                if failed or not journal_request.is_plain:
                    return ExtractionResult(facts, step, NO_CALL)
                failed = True
                so_far += journal_request.answered(reply, (), ())
                continue
            more, stopped_by, messages = yield self._journal(turn, context_of, calls, known)
            facts += more
            if stopped_by:
                return ExtractionResult(facts, step, stopped_by)
            so_far += journal_request.answered(reply, calls, messages)
        return ExtractionResult(facts, limits.iterations, NO_CALL if failed and not facts else MOST)

    def _note_reply(self, is_good: bool) -> None:
        """Count replies without a call; after `FAILURES_TOLD` in a row the owner is told, once."""
        self._failures = 0 if is_good else self._failures + 1
        model = self._mind.profile.model
        if self._failures >= FAILURES_TOLD and self._reported_model != model:
            self._reported_model = model
            text = CANNOT_JOURNAL.format(model=model, count=self._failures)
            self._mind.settings.tell_owner(text)

    @inlineCallbacks
    def _journal(
        self,
        turn: ports.TurnRecord,
        context_of: Callable[[ToolCallRequest], ports.ToolContext],
        calls: Sequence[ToolCallRequest],
        known: set[str],
    ) -> Coroutine[tuple[int, str, list[ChatMessage]]]:
        """Run a reply's journal calls; a tool that was not offered is not run, and ends the loop.

        Fires with how many facts were journalled, why the loop ends (empty if it goes on), and
        calls and results as the next model call sees them.
        """
        facts, messages = 0, list[ChatMessage]()
        for call in calls:
            if call.name not in known or call.name == NOOP:
                continue
            yield yield_to_reactor(self._mind.slices.put)
            tools = context_of(call)
            # Not logged: these tool calls are no part of the conversation.
            result: ports.ToolResult = yield self._tool_executor.perform(
                turn, tools, call, False, lambda _result: ()
            )
            facts += result.state == DONE
            self._written += result.changed
            messages += call_messages(turn, tools, call, result)
        names = {call.name for call in calls}
        stopped_by = NOOP if NOOP in names else ""
        return facts, OTHER if names - known else stopped_by, messages


def run_pre_compaction_extraction(
    script: Any, character: Any, max_iterations: int | None = None
) -> Deferred[dict[str, Any]]:
    """Journal facts before a compaction; fires and fails as `FactExtractor.run`.

    ``script`` is an `AssistantScript`, ``character`` its character.
    """
    result: Deferred[dict[str, Any]] = script.mind.extraction.run(max_iterations)
    return result


@inlineCallbacks
def read_shown(
    log: ports.Conversation, put: Enqueue, audience: Audience
) -> Coroutine[ShownContext]:
    """Read in slices what a prompt for an audience shows. Fires with it."""
    view = log.current
    items = projection.visible_items(view.items, audience)
    lines: list[ShownLine] = yield read_lines(items, put)
    parts = view.record.summary if view.record else {}
    keys = [key for key in parts if visible(projection.part_audience(key), audience)]
    speakers = view.record.speakers if view.record else {}
    return ShownContext(
        lines,
        frozenset(word for key in keys for word in normal_words(parts[key])),
        frozenset(dbref for key in keys for dbref in speakers.get(key, ())),
    )


def read_lines(messages: Iterable[ChatMessage], put: Enqueue) -> Deferred[list[ShownLine]]:
    """Read in slices what others said in some messages. Fires with the lines."""
    return map_in_slices(put, heard_in(messages), shown_line)


def with_origin(
    tools: ports.ToolContext, shown: ShownContext, call: ToolCallRequest
) -> ports.ToolContext:
    """Return the context of one call, with the origin of what it writes down."""
    text = " ".join(map(str, (read_arguments(call) or {}).values()))
    origin = origin_of(text, shown)
    return replace(
        tools,
        speakers=people_among(origin.speakers),
        authors=origin.speakers,
        source_seqs=origin.seqs,
        said_at=origin.said_at,
        is_own_thought=not origin.is_held,
    )

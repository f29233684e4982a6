"""Before a compaction, let the assistant journal facts of what will be evicted.

This is a ReAct loop of its own, once for each audience that has messages to go. The loop sees all
that its audience may know, with the request at the end, so that the provider's prompt cache serves
it. Its tool calls are stored with a turn and are no part of the conversation.

A model that is not asked by native tool calls is not asked here: its log and the index are its
memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai import ports
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import ProviderError
from evennia_ai.messages import (
    Audience,
    ChatMessage,
    LLMReply,
    ToolCallRequest,
    WireMessage,
    to_wire,
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
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import Coroutine, Enqueue, map_in_slices, retry_write, yield_to_reactor
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.model_call import ModelCalls, has_model
from evennia_ai.turn.prompt_building import PromptBuilder
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION, TurnKind
from evennia_ai.turn.tool_executor import DONE, ToolExecutor, call_messages

log = Logger()

LEAST_MESSAGES = 5
NOOP, NO_CALL, OTHER, MOST = "noop", "no_tool_call", "other_tool", "max_iterations"
INTERRUPTED = "interrupted"
NOTED = "noted"
SIGNAL = "pre_compaction"
TURNS_TIMES = 3.0


@dataclass(frozen=True)
class ExtractionResult:
    """What came of the loops so far; ``stopped_by`` is the reason why the last one ended."""

    facts_recorded: int = 0
    iterations: int = 0
    stopped_by: str = NOOP


@dataclass(frozen=True)
class ExtractionLimits:
    """How far an extraction goes."""

    iterations: int  # most model calls for each audience
    end_at: float | None = None  # the clock's second; None gives each loop `TURNS_TIMES` turns
    is_interrupted: Callable[[], bool] = lambda: False  # asked before each call


@dataclass(frozen=True, eq=False)
class FactExtractor:
    """Journals facts of what a compaction will evict.

    ``decide`` plans a compaction: `Compactor.decide`.
    """

    _mind: ports.MindContext
    _meter: ContextMeter
    _prompts: PromptBuilder
    _calls: ModelCalls
    _tool_executor: ToolExecutor
    _decide: Callable[[plan.CompactionOrder, plan.ContextUse], plan.DecidedCompaction | plan.Skip]

    def run(self, max_iterations: int | None = None) -> Deferred[dict[str, Any]]:
        """Let the assistant journal facts of the messages that the next compaction evicts.

        ``max_iterations`` limits the model calls for each audience; None uses the setting.

        Its figures are ``facts_recorded``, ``iterations`` and ``stopped_by`` (noop, no_tool_call,
        other_tool or max_iterations, of the last loop).
        """
        own = self._mind.config.pre_compact_max_iterations
        most = own if max_iterations is None else max_iterations
        return self.extract(ExtractionLimits(most), self._meter.measure())

    @inlineCallbacks
    def extract(self, limits: ExtractionLimits, use: plan.ContextUse) -> Coroutine[dict[str, Any]]:
        """As `run`, within limits; ``stopped_by`` may also be ``interrupted``."""
        if not self._mind.config.pre_compact_extraction_enabled:
            return skip("extraction disabled")
        task = self._decide(plan.CompactionOrder(plan.SLEEP), use)
        if isinstance(task, plan.Skip) or len(task.evicted) < LEAST_MESSAGES:
            return skip(f"fewer than {LEAST_MESSAGES} messages")
        # A turn that an error left open would otherwise stay open behind the turns of the loops.
        yield retry_write(self._mind.clock, self._mind.turns.recover)
        yield retry_write(self._mind.clock, partial(self._mind.status.signal, SIGNAL, True))
        try:
            total, profile = ExtractionResult(), self._mind.profile
            asks = request_form(profile).native or not has_model(profile)
            for key in projection.split_by_audience(task.evicted) if asks else ():
                if limits.is_interrupted():
                    total = replace(total, stopped_by=INTERRUPTED)
                    break
                confidants = projection.part_audience(key)
                more: ExtractionResult = yield self._extract_for(confidants, limits)
                facts = total.facts_recorded + more.facts_recorded
                total = ExtractionResult(facts, total.iterations + more.iterations, more.stopped_by)
        except ProviderError as error:
            message = "{name}: the model journalled no facts before the compaction: {error}"
            log.warn(message, name=self._mind.name, error=error)
            return {"success": False, "error": str(error), "facts_recorded": 0}
        finally:
            yield retry_write(self._mind.clock, partial(self._mind.status.signal, SIGNAL, False))
        return {"success": True, **asdict(total)}

    @inlineCallbacks
    def _extract_for(
        self, confidants: Audience | None, limits: ExtractionLimits
    ) -> Coroutine[ExtractionResult]:
        """Run a loop for one audience, in a turn that ends even after a ProviderError."""
        clock, turns = self._mind.clock, self._mind.turns
        audience = frozenset() if confidants is None else confidants
        own_prompt = self._mind.config.pre_compact_prompt
        context = replace(
            CONTEXT_PRE_COMPACTION, prompt=own_prompt or CONTEXT_PRE_COMPACTION.prompt
        )
        begin = partial(turns.begin, (), audience, confidants is not None, context.name)
        turn: ports.TurnRecord = yield retry_write(clock, begin)
        try:
            came: ExtractionResult = yield self._run_loop(turn, context, limits)
        except ProviderError as error:
            yield retry_write(
                clock, partial(turns.finish, turn.id, NOTED, f"{error.kind}: {error}")
            )
            raise
        detail = f"{came.facts_recorded} facts written down"
        yield retry_write(clock, partial(turns.finish, turn.id, NOTED, detail))
        return came

    @inlineCallbacks
    def _run_loop(
        self, turn: ports.TurnRecord, context: TurnKind, limits: ExtractionLimits
    ) -> Coroutine[ExtractionResult]:
        """Ask and journal until nothing is left to write. Fires with the result."""
        tools = self._tool_executor.context_for(turn, turn.audience, turn.private, context.tools)
        asleep_until = self._mind.clock.seconds() + TURNS_TIMES * self._mind.config.turn_deadline
        tools = replace(tools, deadline_at=limits.end_at or asleep_until)
        specs = tuple(self._mind.services.toolbox.offered(tools))
        asking = self._prompts.ask_with(turn, specs)
        prompt = self._prompts.build(context, turn.audience, asking)
        shown: ShownContext = yield read_shown(self._mind.log, self._mind.slices.put, turn.audience)
        context_of = partial(with_origin, replace(tools, authors=prompt.authors), shown)
        state, facts, so_far = LoopState(turn.id), 0, list[WireMessage]()
        for step in range(1, limits.iterations + 1):
            if limits.is_interrupted():
                return ExtractionResult(facts, step - 1, INTERRUPTED)
            state = begin_step(state)
            grown = replace(prompt, messages=[*prompt.messages, *so_far], tokens=0)
            request = self._prompts.request(turn, grown, asking, step)
            may_wait = limits.end_at is None  # in sleep; an awake mind must answer meanwhile
            caller = replace(request.caller, may_wait=may_wait)
            request = replace(request, caller=caller)
            reply: LLMReply = yield self._calls.for_turn(
                turn, request, context.name, tools.deadline_at
            )
            calls = take_calls(reply, state, self._mind.config.max_tool_calls)
            if not calls or reply.finish_reason == "length":
                return ExtractionResult(facts, step, NO_CALL)
            known = {spec.name for spec in specs}
            more, stopped_by, messages = yield self._journal(turn, context_of, calls, known)
            facts += more
            if stopped_by:
                return ExtractionResult(facts, step, stopped_by)
            so_far += to_wire(messages)
        return ExtractionResult(facts, limits.iterations, MOST)

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
    heard_messages = [m for m in items if m["role"] == "user" and "type" not in m["metadata"]]
    lines: list[ShownLine] = yield map_in_slices(put, heard_messages, shown_line)
    parts = view.record.summary if view.record else {}
    keys = [key for key in parts if visible(projection.part_audience(key), audience)]
    speakers = view.record.speakers if view.record else {}
    return ShownContext(
        lines,
        frozenset(word for key in keys for word in normal_words(parts[key])),
        frozenset(dbref for key in keys for dbref in speakers.get(key, ())),
    )


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
    )

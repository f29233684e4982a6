"""Before talk goes out of view, the assistant writes down what it will need of it.

A ReAct loop of its own, once for each audience that has messages to go. It sees the whole of what
that audience may know, so that the provider's cache of the prompt serves it, with the request at
the end. Its calls are acts of a turn, never conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.messages import Audience, LLMReply, Message, WireMessage, to_wire
from evennia_ai.policy.compaction.decision import ContextUse
from evennia_ai.policy.compaction.plan import Skip
from evennia_ai.policy.context.projection import part_audience, split_by_audience
from evennia_ai.policy.conversation.react import LoopState, begin_step, take_calls
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.scheduling import pause, persist
from evennia_ai.sleep.compaction.compact import decide
from evennia_ai.sleep.compaction.request import SLEEP, CompactionRequest
from evennia_ai.turn.context_use import measure_context
from evennia_ai.turn.llm_interaction import build_request, call_model
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION, PromptContext
from evennia_ai.turn.react_loop import tool_context
from evennia_ai.turn.tool_execution import DONE, call_messages, perform

log = Logger()

LEAST_MESSAGES = 5
NOOP, NO_CALL, OTHER, MOST = "noop", "no_tool_call", "other_tool", "max_iterations"
INTERRUPTED = "interrupted"
NOTED = "noted"
SIGNAL = "pre_compaction"
TURNS_TIMES = 3.0


@dataclass(frozen=True)
class Extracted:
    """What came of one audience's loop."""

    facts: int = 0
    iterations: int = 0
    stopped_by: str = NOOP


def never() -> bool:
    """Nothing interrupts."""
    return False


@dataclass(frozen=True)
class ExtractionLimits:
    """How far an extraction goes.

    Attributes:
        iterations: model calls for each audience at most.
        end_at: the clock's second at which all of it must have ended; None gives each audience's
            loop its own time.
        is_interrupted: asked before each call; True ends it there.
    """

    iterations: int
    end_at: float | None = None
    is_interrupted: Callable[[], bool] = never


def run_pre_compaction_extraction(
    script: Any, character: Any, max_iterations: int | None = None
) -> Deferred[dict[str, Any]]:
    """Let the assistant journal facts of what the next compaction takes out of view.

    Args:
        script: the assistant.
        character: its character.
        max_iterations: model calls for each audience at most; None is the setting.

    Fires with ``success`` True, ``facts_recorded``, ``iterations`` and ``stopped_by`` (noop,
    no_tool_call, other_tool or max_iterations, of the last loop), with ``success`` False and
    ``error`` where a model failed, or with ``skipped`` True and ``reason``. Fails with TurnAborted
    and StoreUnavailable.
    """
    most = script.config.pre_compact_max_iterations if max_iterations is None else max_iterations
    return extract_facts(script, ExtractionLimits(most), measure_context(script))


@inlineCallbacks
def extract_facts(
    script: Any, limits: ExtractionLimits, use: ContextUse
) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """`run_pre_compaction_extraction` within limits. Fires and fails as that does; ``stopped_by``
    is ``interrupted`` where something more important came."""
    config = script.config
    if not config.pre_compact_extraction_enabled:
        return {"skipped": True, "reason": "extraction disabled"}
    going = messages_to_go(script, use)
    if len(going) < LEAST_MESSAGES:
        return {"skipped": True, "reason": f"fewer than {LEAST_MESSAGES} messages"}
    # A turn that an error left open would be open for ever behind those that begin here.
    yield persist(script.services.clock, script.turns.recover)
    signal(script, True)
    try:
        total = Extracted()
        for key in split_by_audience(going):
            if limits.is_interrupted():
                total = replace(total, stopped_by=INTERRUPTED)
                break
            came: Extracted = yield extract_for(script, part_audience(key), limits)
            total = Extracted(
                total.facts + came.facts, total.iterations + came.iterations, came.stopped_by
            )
    except ProviderError as error:
        log.warn("{name}: no facts journalled: {error}", name=script.character_name, error=error)
        return {"success": False, "error": str(error)}
    finally:
        signal(script, False)
    return {
        "success": True,
        "facts_recorded": total.facts,
        "iterations": total.iterations,
        "stopped_by": total.stopped_by,
    }


def messages_to_go(script: Any, use: ContextUse) -> Sequence[Message]:
    """Return the messages that the next compaction in sleep would evict; none if none is due."""
    task = decide(script, CompactionRequest(SLEEP), use)
    return [] if isinstance(task, Skip) else task.evicted


def signal(script: Any, on: bool) -> None:
    """Note on the script that it is extracting, for whoever looks."""
    signals = dict(script.db.context_signals or {})
    script.db.context_signals = signals | {SIGNAL: on}


@inlineCallbacks
def extract_for(
    script: Any, confidants: Audience | None, limits: ExtractionLimits
) -> Generator[Deferred[Any], Any, Extracted]:
    """One loop for one audience, in a turn of its own. Fires with what was `Extracted`; fails with
    `ProviderError`, and then the turn is closed as what it came to."""
    clock, turns = script.services.clock, script.turns
    audience = frozenset() if confidants is None else confidants
    own_words = script.config.pre_compact_prompt
    context = replace(CONTEXT_PRE_COMPACTION, prompt=own_words or CONTEXT_PRE_COMPACTION.prompt)
    turn: TurnRecord = yield persist(
        clock, lambda: turns.begin((), audience, confidants is not None, context.name)
    )
    came, failure = Extracted(), None
    try:
        came = yield run_loop(script, turn, context, limits)
    except ProviderError as error:
        failure = error
    detail = f"{failure.kind}: {failure}" if failure else f"{came.facts} facts written down"
    yield persist(clock, lambda: turns.finish(turn.id, NOTED, detail))
    if failure:
        raise failure
    return came


@inlineCallbacks
def run_loop(
    script: Any, turn: TurnRecord, context: PromptContext, limits: ExtractionLimits
) -> Generator[Deferred[Any], Any, Extracted]:
    """Ask and journal until nothing is left to write down. Fires with what was `Extracted`."""
    tools = tool_context(script, turn, turn.audience, turn.private, context.tools)
    tools = replace(tools, deadline_at=deadline_of(script, limits))
    specs = tuple(script.services.toolbox.offered(tools))
    room = sum(spec.tokens for spec in specs)
    prompt = build_prompt(script, context, turn.audience, (), room)
    state, facts, so_far = LoopState(turn.id), 0, list[WireMessage]()
    for step in range(1, limits.iterations + 1):
        if limits.is_interrupted():
            return Extracted(facts, step - 1, INTERRUPTED)
        state = begin_step(state)
        grown = replace(prompt, messages=[*prompt.messages, *so_far])
        request = build_request(script, turn, grown, specs, step)
        reply: LLMReply = yield call_model(script, turn, request, context.name, tools.deadline_at)
        batch: Batch = yield work_off(script, turn, tools, reply, state, specs)
        facts += batch.facts
        if batch.stopped_by:
            return Extracted(facts, step, batch.stopped_by)
        so_far += to_wire(batch.exchange)
    return Extracted(facts, limits.iterations, MOST)


def not_logged(_result: ToolResult) -> tuple[Message, ...]:
    """These calls are acts, and no part of the conversation."""
    return ()


def deadline_of(script: Any, limits: ExtractionLimits) -> float:
    """The clock's second at which a loop must have ended."""
    if limits.end_at is not None:
        return limits.end_at
    return float(script.services.clock.seconds() + TURNS_TIMES * script.config.turn_deadline)


@dataclass(frozen=True)
class Batch:
    """What came of one reply: facts written down, why the loop ends (empty where it goes on), and
    the exchange as the next call sees it."""

    facts: int
    stopped_by: str
    exchange: tuple[Message, ...] = ()


@inlineCallbacks
def work_off(
    script: Any,
    turn: TurnRecord,
    tools: ToolContext,
    reply: LLMReply,
    state: LoopState,
    specs: Sequence[ToolSpec],
) -> Generator[Deferred[Any], Any, Batch]:
    """Do a reply's journal calls; a foreign tool ends the loop and is not run. Fires with the
    `Batch`."""
    calls = take_calls(reply, state, script.config.max_tool_calls)
    if not calls or reply.finish_reason == "length":
        return Batch(0, NO_CALL)
    known = {spec.name for spec in specs}
    facts, exchange, names = 0, list[Message](), [call.name for call in calls]
    for call in calls:
        if call.name not in known or call.name == NOOP:
            continue
        yield pause(script.services.slices.put)
        result: ToolResult = yield perform(script, turn, tools, call, False, not_logged)
        facts += result.state == DONE
        exchange += call_messages(turn, tools, call, result)
    if any(name not in known for name in names):
        return Batch(facts, OTHER)
    return Batch(facts, NOOP if NOOP in names else "", tuple(exchange))

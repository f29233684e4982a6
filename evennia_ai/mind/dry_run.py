"""A dry turn: what an assistant would do if somebody said a line now. Nothing is done or stored.

It runs a real turn of a mind whose log and turns read like the real ones and write nothing. Only
the model calls are recorded, since the model really is asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config.fields import AssistantConfig
from evennia_ai.config.profiles import ModelProfile, request_form
from evennia_ai.errors import AssistantError, ProviderError
from evennia_ai.messages import (
    Audience,
    Authors,
    ChatMessage,
    InboxEvent,
    IncomingEvent,
    ToolCallRequest,
)
from evennia_ai.mind import Mind
from evennia_ai.policy.audience import visible
from evennia_ai.policy.context.projection import LogInView, TokensByAudience
from evennia_ai.policy.conversation.batching import heard_messages
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.conversation.tool_call_rules import LoopState
from evennia_ai.ports import (
    AlsoDo,
    Conversation,
    Identity,
    MindContext,
    ModelCallRecord,
    Services,
    Settings,
    Toolbox,
    ToolContext,
    ToolResult,
    TurnRecord,
    Turns,
)
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_AUTONOMOUS, CONTEXT_TICK_EVENT
from evennia_ai.turn.react_loop import OwnWords, Prepared, Progress, StepReply
from evennia_ai.turn.tool_executor import DONE

PURPOSE = "rehearsal"
NOT_DONE = "(not done: rehearsal)"
MOST_STEPS = 2
NO_TURN = 0
LATER_TURNS = 60_000_000  # the turns of a talk that goes on: more than any log has


@dataclass(frozen=True)
class DryRunCall:
    """A tool call. ``result`` is done if a real turn would run it, else what the model is told."""

    call: ToolCallRequest
    result: ToolResult

    @property
    def would_be_tried(self) -> bool:
        """Return True if nothing forbids the call. It may still fail when it runs."""
        return self.result.state == DONE


@dataclass(frozen=True)
class DryRunStep:
    """One model call: its cost, the tools offered, and the tool calls of the reply."""

    cost: ModelCallRecord
    offered: tuple[str, ...]
    calls: tuple[DryRunCall, ...] = ()  # words without a tool call are a call of ``say``
    refused: str = ""  # why words would not be spoken, "" if they would


@dataclass(frozen=True)
class DryRun:
    """The result of a dry turn."""

    audience: Audience  # who would hear the answer
    steps: tuple[DryRunStep, ...]
    ended: bool = False  # True if a real turn would be over
    problem: str = ""  # why a reply is missing
    lines: tuple[ChatMessage, ...] = ()  # what the log would hold, for a next line of the same talk


class DryRunning(AssistantError):
    """Another dry run of the same assistant is in progress."""


class DryConversation:
    """A log as a view shows it, with lines that are stored nowhere."""

    def __init__(self, view: LogInView) -> None:
        self.current = view
        self.added: list[ChatMessage] = []

    @property
    def sizes(self) -> TokensByAudience:
        return self.current.sizes

    def append(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Add lines for this dry run only."""
        self.current.extend(messages)
        self.added += messages
        return list(messages)

    def show(self, scenes: Sequence[ChatMessage]) -> None:
        """Note scenes for this dry run only."""
        self.current.show(scenes)

    def view(self) -> Sequence[ChatMessage]:
        return self.current.items


class DryTurns:
    """Turns that are stored nowhere. ``note_cost`` is called with each model call."""

    def __init__(
        self,
        conversation: DryConversation,
        note_cost: Callable[[ModelCallRecord, AlsoDo], object] = lambda _call, _also: None,
        is_alive: Callable[[], bool] = lambda: True,
    ) -> None:
        self._conversation = conversation
        self._note_cost, self._is_alive = note_cost, is_alive
        self._intended: list[ToolCallRequest] = []
        self.current: int | None = None
        self.costs: list[ModelCallRecord] = []  # of the model calls
        self.calls: list[DryRunCall] = []  # of the step in progress

    def is_current(self, turn_id: int) -> bool:
        """Return False once the assistant is gone."""
        return self._is_alive()

    def record_model_call(self, turn_id: int, call: ModelCallRecord, also: AlsoDo = ()) -> None:
        """Note a model call as one of a trial."""
        self.costs.append(replace(call, purpose=PURPOSE))
        self._note_cost(self.costs[-1], also)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        self._intended.append(call)
        return len(self._intended) - 1

    def record_outcome(
        self,
        act: int,
        state: str,
        result: str,
        messages: Sequence[ChatMessage] = (),
        locks: str = "",
    ) -> None:
        """Note what would come of the call, and add its messages for this dry run only."""
        self.calls.append(DryRunCall(self._intended[act], ToolResult(state, result)))
        self._conversation.append(messages)


class Overlay:
    """An object that reads like another, except for the attributes that are given."""

    def __init__(self, base: object, **own: Any) -> None:
        self._base = base
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


@inlineCallbacks
def check_only(
    toolbox: Toolbox, context: ToolContext, call: ToolCallRequest
) -> Coroutine[ToolResult]:
    """Check a call, and run it if it only reads. Fires with what would come of it."""
    result: ToolResult = yield toolbox.run(context, call, dry=True)
    if result.state != DONE:
        return result
    (spec,) = toolbox.offered(replace(context, allowed=frozenset({call.name})))
    if spec.reads:
        result = yield toolbox.run(context, call)
        return result
    return ToolResult(DONE, NOT_DONE)


@inlineCallbacks
def run_dry(
    around: MindContext,
    event: IncomingEvent,
    is_alive: Callable[[], bool] = lambda: True,
    before: Sequence[ChatMessage] = (),
) -> Coroutine[DryRun]:
    """Think about a line in a dry turn of at most `MOST_STEPS` steps; the assistant may be stopped.

    ``is_alive`` returns whether it still exists; ``before`` are lines of dry runs to go on from.
    Fires with the `DryRun`; fails with TurnAborted if the server stops or the assistant is gone.
    """
    log = DryConversation(around.log.current.copy())
    log.current.extend(
        {**line, "content": "Done."} if line["content"] == NOT_DONE else line for line in before
    )
    number = LATER_TURNS + len(before) if before else NO_TURN
    turns = DryTurns(log, partial(around.turns.record_model_call, None), is_alive)
    dry = dry_surroundings(around, log, turns, event.speaker)
    mind, turn = Mind(dry), dry_turn(dry, event, number)
    loop = mind.loop
    log.append(heard_messages((*turn.overheard, *turn.events), number))
    config = around.settings.config
    deadline_at = around.services.clock.seconds() + config.turn_deadline
    steps: list[DryRunStep] = []
    progress = Progress(LoopState(number))
    try:
        if not request_form(around.settings.profile).native:
            lines = [event.heard.line for event in turn.events]
            yield mind.line_notes.prepare(lines)
            if any(map(mind.line_notes.asks, lines)):
                fact: OwnWords = yield mind.fallback.answer_surely(turn)
                progress = replace(progress, fact=fact)
        while not progress.ended and len(steps) < min(MOST_STEPS, config.max_iterations):
            turns.calls = []
            reply: StepReply = yield loop.ask(turn, CONTEXT_TICK_EVENT, deadline_at, progress, [])
            progress = yield loop.act_on_reply(turn, reply, progress)
            shown = tuple(spec.name for spec in reply.calls.specs.values() if spec.shown)
            calls = tuple(turns.calls)
            no_call = ModelCallRecord(around.settings.profile.name, "", PURPOSE, 0, None, 0)
            cost = no_call if reply.by_code else turns.costs[-1]
            steps.append(DryRunStep(cost, shown, calls, progress.refused))
    except ProviderError as error:
        return DryRun(turn.audience, tuple(steps), problem=str(error), lines=tuple(log.added))
    ended = progress.ended and not progress.refused
    return DryRun(turn.audience, tuple(steps), ended, lines=tuple(log.added))


def next_step(around: MindContext, event: IncomingEvent | None) -> Prepared:
    """Return the request that a model would get now if somebody said a line, or if nobody did.

    With it is the context in which the calls of its reply would run.
    """
    log = DryConversation(around.log.current.copy())
    dry = dry_surroundings(around, log, DryTurns(log), *([event.speaker] if event else []))
    if event:
        turn, context = dry_turn(dry, event), CONTEXT_TICK_EVENT
        log.append(heard_messages((*turn.overheard, *turn.events), NO_TURN))
    else:
        listeners = around.services.world.listeners(around.who.character)
        turn, context = TurnRecord(NO_TURN, listeners, False, ()), CONTEXT_TICK_AUTONOMOUS
    deadline_at = around.services.clock.seconds() + around.settings.config.turn_deadline
    return Mind(dry).loop.prepare(turn, context, deadline_at, Progress(LoopState(NO_TURN)))


def as_drafted(
    around: MindContext,
    config: AssistantConfig,
    profile: ModelProfile,
    persona: Persona,
    persona_authors: Authors,
) -> MindContext:
    """Return what a mind is made of, with settings and a persona that are not stored."""
    who = Overlay(around.who, persona=persona, persona_authors=persona_authors)
    settings = Overlay(around.settings, config=config, profile=profile, resolve=lambda: None)
    return replace(around, who=cast(Identity, who), settings=cast(Settings, settings))


def dry_surroundings(
    around: MindContext, log: DryConversation, turns: DryTurns, *speakers: str
) -> MindContext:
    """Return what a mind of a dry turn is made of; the speakers of its lines count as present."""
    # Its log and its turns lack every other method that writes: a call of one fails.
    real = around.services
    listeners = real.world.listeners(around.who.character).union(speakers)
    world = Overlay(real.world, listeners=lambda _character: listeners)
    toolbox = Overlay(real.toolbox, run=partial(check_only, real.toolbox))
    return replace(
        around,
        log=cast(Conversation, log),
        turns=cast(Turns, turns),
        sizes=replace(around.sizes),
        offered=replace(around.offered),
        services=cast(Services, Overlay(real, toolbox=toolbox, world=world)),
    )


def dry_turn(around: MindContext, incoming: IncomingEvent, number: int = NO_TURN) -> TurnRecord:
    """Return the record of the turn that a line would start."""
    listeners = around.services.world.listeners(around.who.character)
    audience = incoming.audience if incoming.private else listeners
    overheard = tuple(
        event for event in around.inbox.overheard() if visible(event.heard.confidants, audience)
    )
    event = InboxEvent(number, around.services.now(), incoming)
    return TurnRecord(number, audience, incoming.private, (event,), overheard)

"""Answer the events in the inbox, batch by batch, and act unasked within an hour's budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai import errors, ports
from evennia_ai.messages import ChatMessage, InboxEvent, ToolCallRequest, turn_label
from evennia_ai.policy.conversation import batching
from evennia_ai.policy.conversation.ai_disclosure import asking, rest_of
from evennia_ai.policy.conversation.tool_call_rules import own_call_id
from evennia_ai.policy.staff_controls import PendingToolCall
from evennia_ai.scheduling import Coroutine, loggable, retry_write, yield_to_reactor
from evennia_ai.turn.context_selection import ContextSelector
from evennia_ai.turn.fallback import Fallback
from evennia_ai.turn.guardrails import ModerationGate
from evennia_ai.turn.prompt_contexts import (
    CONTEXT_AGREED,
    CONTEXT_EXCUSE,
    CONTEXT_TICK_AUTONOMOUS,
    CONTEXT_TICK_EVENT,
    TurnKind,
)
from evennia_ai.turn.react_loop import ANSWERED, EXPIRED, FAILED, NOTED, Outcome, ReActLoop
from evennia_ai.turn.tool_executor import ASKED, DONE, UNKNOWN, ToolExecutor, call_messages

log = Logger()

# The gateway warned of these, or players come first.
EXPECTED = (errors.Busy, errors.CircuitOpen, errors.ProviderMisconfigured)

ANSWER_LOST = "the server went down while the answer was on its way"
INTERNAL_ERROR = "internal error"
LINES = {DONE: "confirm_done", UNKNOWN: "confirm_unknown"}
TURNS_A_TICK = 20
REMEMBERED_S = 3_600.0


@dataclass(eq=False)
class TurnRunner:
    """Answers what an assistant heard, runs acts that a person agreed to, and acts unasked.

    ``make_room`` compacts if the context window is nearly full.
    """

    _mind: ports.MindContext
    _moderation_gate: ModerationGate
    _loop: ReActLoop
    _fallback: Fallback
    _tool_executor: ToolExecutor
    _selector: ContextSelector
    _make_room: Callable[[], Deferred[Any]]
    acts_due: bool = False  # True while acts that a person agreed to may wait

    @inlineCallbacks
    def answer_all(self) -> Coroutine[int]:
        """Answer every waiting event, one turn after the other.

        First close a turn that an error or a lost lease left open; its events are handled again.
        Fires with the number of turns, at most `TURNS_A_TICK`; fails with TurnAborted if the lease
        was lost, and with StoreUnavailable if the database stays busy.
        """
        turns, checked = 0, set[int]()
        self._mind.turns.recover()
        while turns < TURNS_A_TICK:
            if turns:  # each turn has made the conversation longer
                yield self._make_room()
            open_events = self._mind.inbox.open_events()
            doubtful = self._take_batch(open_events.doubtful)
            batch = doubtful or self._take_batch(open_events.waiting)
            if batch is None:
                break
            if not doubtful and (yield self._screen(checked, batch.events)):
                continue  # with what is left and what is new
            turns += 1
            try:
                yield self._think(batch, answer_lost=doubtful is not None)
                if len(batch.events) == len(open_events):
                    break  # what came meanwhile starts another tick
            except errors.OutcomeUnknown as error:
                turn, name = turn_label(self._mind.turns.current), self._mind.name
                log.warn(
                    "{name}, {turn}: {error}; closing the turn", name=name, turn=turn, error=error
                )
                self._mind.turns.recover()
        return turns

    def _take_batch(self, events: Sequence[InboxEvent]) -> batching.Batch | None:
        """Expire events that waited too long and return the next batch of the others, if any.

        Tell speakers who are still present that recently expired words were not heard.
        """
        now = self._mind.now()
        present = self._mind.world.listeners(self._mind.character)
        left: list[InboxEvent] = []
        recent = set()
        for event in events:
            reason = batching.expiry_reason(event, now, self._mind.config.event_max_age)
            if reason is None:
                left.append(event)
                continue
            self._mind.inbox.close([event.id], EXPIRED, reason)
            if (now - event.at).total_seconds() <= REMEMBERED_S:
                recent.add(event.heard.speaker)
        self._mind.status.tell("unheard", sorted(recent & present))
        held_back = self._mind.services.held_back({event.heard.speaker for event in left})
        batch = batching.next_batch(left, present, held_back)
        # Whether it is a machine is answered apart, by code.
        unanswered = asking(batch.events) if batch else []
        return replace(batch, events=tuple(unanswered)) if batch and unanswered else batch

    @inlineCallbacks
    def _screen(self, checked: set[int], events: Sequence[InboxEvent] = ()) -> Coroutine[bool]:
        """Judge the words of events, and of what was overheard, that are not ``checked`` yet.

        Close the refused ones and tell their speakers; such words never enter the conversation.
        Fires with True if there were any to judge: much may have changed while moderation was
        asked.
        """
        waiting = (*events, *self._mind.inbox.overheard()) if self._moderation_gate.is_on else ()
        new = [event for event in waiting if event.id not in checked]
        if not new:
            return False
        refused = yield self._moderation_gate.judge_events(new)
        for event in new:
            checked.add(event.id)
            if event.id in refused:
                key, reason = refused[event.id]
                self._mind.inbox.close([event.id], EXPIRED, reason)
                if event.heard.addressed:
                    self._mind.status.tell(key, [event.heard.speaker])
        return True

    @inlineCallbacks
    def _think(self, batch: batching.Batch, answer_lost: bool = False) -> Coroutine[None]:
        """Run one turn from its start to its outcome.

        If the model gives no answer in time, the character says the fallback line. If an answer may
        have been heard before a crash (``answer_lost``), or too many attempts failed, the model is
        not asked again and a short excuse closes the turn. The typing indicator is shown until the
        last word of the answer or the fallback line.

        Fires when the outcome is stored; fails with TurnAborted, OutcomeUnknown and
        StoreUnavailable.
        """
        context = CONTEXT_EXCUSE if answer_lost else CONTEXT_TICK_EVENT
        clock = self._mind.clock
        turn: ports.TurnRecord = yield retry_write(clock, lambda: self._begin_turn(batch, context))
        lost = ANSWER_LOST if answer_lost else batching.GAVE_UP if batch.exhausted else ""
        self._mind.status.thinking(turn, True)
        try:
            outcome: Outcome | None = yield self.reach_outcome(turn, context, lost)
        finally:
            self._mind.status.thinking(turn, False)
        if outcome is None:
            yield retry_write(clock, lambda: self._mind.turns.give_back(turn.id))
            return
        yield yield_to_reactor(self._mind.slices.put)
        finish = partial(self._mind.turns.finish, turn.id, outcome.state, outcome.detail)
        yield retry_write(clock, finish)
        yield self._selector.note_turn(turn, outcome.state == ANSWERED)

    @inlineCallbacks
    def reach_outcome(
        self, turn: ports.TurnRecord, context: TurnKind, lost: str = ""
    ) -> Coroutine[Outcome | None]:
        """Try to answer, else say the fallback line; ``lost`` is why the model is not asked, if so.

        Fires with the outcome, None if nobody is present who waits for the answer.
        """
        outcome = Outcome(FAILED, lost)
        if not lost:
            # Code answers whether it is a machine, the model what else was said.
            truth: Outcome | None = yield self._fallback.tell_truth(turn)
            left = turn.events
            if truth:
                cosines = self._mind.services.nearness.cosines
                rest = (rest_of(event, self._mind.name, cosines) for event in turn.events)
                left = tuple(filter(None, rest))
            if left or not truth:
                outcome = yield self._try_turn(replace(turn, events=left), context)
            is_rest = any(event in left for event in turn.events)  # lines that did not ask
            if truth and not (is_rest and truth.state == ANSWERED):
                outcome = truth
        if outcome.state == ANSWERED:
            return outcome
        if turn.waiting.isdisjoint(self._mind.world.listeners(self._mind.character)):
            return None
        if outcome.state == FAILED:
            outcome = yield self._fallback.excuse(turn, outcome, bool(lost))
        return outcome

    def _begin_turn(self, batch: batching.Batch, context: TurnKind) -> ports.TurnRecord:
        """Open a turn; raises StoreUnavailable, and TurnAborted if it may not think now."""
        if not self._mind.status.may_think():
            raise errors.TurnAborted("a turn did not begin in time")
        return self._mind.turns.begin(batch.events, batch.audience, batch.private, context.name)

    @inlineCallbacks
    def act_alone(self) -> Coroutine[None]:
        """Run one autonomous turn. If the model fails, nobody in the room notices."""
        checked: set[int] = set()
        while (yield self._screen(checked)):
            pass
        context = CONTEXT_TICK_AUTONOMOUS
        audience = self._mind.world.listeners(self._mind.character)
        turn = self._mind.turns.begin((), audience, False, context.name)
        outcome: Outcome = yield self._try_turn(turn, context)
        if outcome.state == FAILED:
            outcome = replace(outcome, state=NOTED)
        finish = partial(self._mind.turns.finish, turn.id, outcome.state, outcome.detail)
        yield retry_write(self._mind.clock, finish)

    @inlineCallbacks
    def _try_turn(self, turn: ports.TurnRecord, context: TurnKind) -> Coroutine[Outcome]:
        """Run a turn within its deadline.

        Fires with the outcome, which is `FAILED` if the model failed or an error of ours was
        logged. Fails with TurnAborted, and with StoreUnavailable: then nothing can be said either.
        """
        named = f"{self._mind.name}, {turn_label(turn.id)}"
        deadline_at = self._mind.clock.seconds() + self._mind.config.turn_deadline
        try:
            outcome: Outcome = yield self._loop.run(turn, context, deadline_at)
        except (errors.TurnAborted, errors.StoreUnavailable):
            raise
        except errors.ProviderError as error:
            tell = log.info if isinstance(error, EXPECTED) else log.warn
            tell("{named}: no answer from the model: {error}", named=named, error=error)
            return Outcome(FAILED, f"{error.kind}: {error}", error.kind)
        except Exception as error:  # noqa: BLE001  # the turn's guard: it must always have an outcome
            log.failure("{named}: the turn failed", loggable(turn.private), named=named)
            return Outcome(FAILED, f"{INTERNAL_ERROR}: {type(error).__name__}")
        return outcome

    @inlineCallbacks
    def run_agreed(self) -> Coroutine[int]:
        """Run every act that a person agreed to. Fires with how many ran.

        The act is marked as running before its turn begins; if that turn is cut off, the act counts
        as of unknown outcome and is not run again (P2). Fails with TurnAborted and
        StoreUnavailable.
        """
        clock, acts, count = self._mind.clock, self._mind.pending_acts, 0
        if self.acts_due:  # a turn that an error left open would stay open behind those of acts
            yield retry_write(clock, self._mind.turns.recover)
        while self.acts_due:
            act: PendingToolCall | None = yield retry_write(clock, acts.take)
            if act is None:
                self.acts_due = False
                break
            count += 1
            people = frozenset(act.speakers)
            context = ports.ToolContext(
                character=self._mind.character,
                audience=act.audience,
                private=act.private,
                speakers=people,
                askers=people,
                authors=act.authors,
                confirmed_by=act.decided_by,
                item=act.item,
            )
            detail = f"act {act.id} by {act.decided_by}"
            result: ports.ToolResult = yield self.run_call(
                context, act.name, act.arguments, detail, CONTEXT_AGREED
            )
            yield retry_write(clock, partial(acts.finish, act.id, result.state, result.text))
            if result.state != ASKED and not result.told:  # then a new question was asked
                line = LINES.get(result.state, "confirm_failed")
                receivers = sorted(people | {act.decided_by})
                self._mind.status.tell(line, receivers, result.text)
        return count

    @inlineCallbacks
    def run_call(  # all but one have no defaults
        self,
        context: ports.ToolContext,
        name: str,
        arguments: str,
        detail: str,
        why: TurnKind,
        events: Sequence[InboxEvent] = (),
    ) -> Coroutine[ports.ToolResult]:
        """Run one tool call in a turn of its own, for which no model is asked.

        ``arguments`` is JSON; ``events`` are waiting ones that the call answers if it is done. What
        was only tried and did nothing is no part of the talk. Fires with the result; fails with
        TurnAborted and StoreUnavailable.
        """

        def as_logged(result: ports.ToolResult) -> Sequence[ChatMessage]:
            is_told = why is CONTEXT_AGREED or result.state in (DONE, UNKNOWN)
            return call_messages(turn, context, call, result) if is_told else ()

        clock = self._mind.clock
        begin = partial(self._mind.turns.begin, events, context.audience, context.private, why.name)
        turn: ports.TurnRecord = yield retry_write(clock, begin)
        deadline_at = clock.seconds() + self._mind.config.turn_deadline
        context = replace(context, assistant=self._tool_executor.tools, deadline_at=deadline_at)
        call = ToolCallRequest(own_call_id(turn.id, 0, 0), name, arguments)
        result: ports.ToolResult = yield self._tool_executor.perform(
            turn, context, call, True, as_logged
        )
        if events and result.state != DONE:
            yield retry_write(clock, partial(self._mind.turns.give_back, turn.id))
            return result
        outcome = ANSWERED if events else NOTED
        yield retry_write(clock, partial(self._mind.turns.finish, turn.id, outcome, detail))
        return result


@dataclass(eq=False)
class AutonomyBudget:
    """Decides when an assistant acts unasked, and counts how often it did.

    Answers to other assistants count as unasked: no player said the line.
    """

    _mind: ports.MindContext
    _acts: list[float] | None = None

    def acts(self) -> list[float]:
        """Return the times of the last hour's unasked turns, in the clock's seconds.

        Raises StoreUnavailable where the log has to be read and cannot be.
        """
        if self._acts is None:
            now, seconds = self._mind.now(), self._mind.clock.seconds()
            since = now - timedelta(seconds=batching.HOUR_S)
            times = self._mind.turns.times_of(CONTEXT_TICK_AUTONOMOUS.name, since)
            times = sorted([*times, *self._mind.inbox.times_of_assistants(since)])
            self._acts = [seconds - (now - at).total_seconds() for at in times]
        return self._acts

    def note_act(self) -> None:
        """Count an unasked turn. Before the budget is first read, the log counts it."""
        if self._acts is not None:
            now = self._mind.clock.seconds()
            self._acts = [*(at for at in self._acts if now - at < batching.HOUR_S), now]

    def may_answer_assistants(self) -> bool:
        """Return True if the hour has a call left; also if the database cannot tell now."""
        try:
            acts = self.acts()
        except errors.StoreUnavailable:
            return True
        limit = self._mind.config.autonomous_calls_per_hour
        return batching.may_answer_assistant(acts, self._mind.clock.seconds(), limit)

    def wants_to_act(self) -> bool:
        """Return True if the assistant should act unasked now."""
        config = self._mind.config
        if config.autonomous_calls_per_hour == 0:
            return False
        state = batching.AutonomyState(
            now=self._mind.clock.seconds(),
            players_near=self._mind.presence.players_near(),
            acts=tuple(self.acts()),
            last_talk_at=self._mind.presence.last_talk_at,
            news_at=self._mind.presence.news_at,
        )
        return batching.should_act(state, config.autonomous_calls_per_hour, config.autonomy_quiet)

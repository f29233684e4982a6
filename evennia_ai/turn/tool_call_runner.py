"""Run the tool calls of one reply, also while the rest of it is still arriving."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.internet.defer import Deferred, inlineCallbacks, succeed
from twisted.python.failure import Failure

from evennia_ai.messages import EMOTE, SAY, SPEECH, Authors, ChatMessage, LLMReply, ToolCallRequest
from evennia_ai.policy.conversation import tool_call_rules
from evennia_ai.policy.replies.speech import spoken
from evennia_ai.ports import Revision, Settings, ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.guardrails import MILD, ModerationGate, OutputGuardrail, with_text
from evennia_ai.turn.model_call import own_evidence
from evennia_ai.turn.tool_executor import ASKED, DONE, UNKNOWN, ToolExecutor, call_messages

TELLING = SPEECH | {EMOTE}  # what tells others of the acts of its reply
IDLE = "it held no words, and the gesture showed nothing"
ARRIVING = ""  # the finish reason of a reply that has not ended


@dataclass(frozen=True)
class ToolRunResult:
    """What the calls of a reply did."""

    state: tool_call_rules.LoopState  # the loop after them
    done: frozenset[str] = frozenset()  # names of the tools that succeeded
    undone: frozenset[str] = frozenset()  # ids of the calls that were not done
    acted: bool = False  # True if anybody could notice something
    # Authors of the prompt and of what the tools told (`policy.audience`).
    authors: Authors = frozenset()
    refused: str = ""  # why words were not spoken, "" if all were
    blocked: bool = False  # True if an act of which the words may tell was not done


class ToolCallRunner:
    """Runs the calls of one reply one by one, in order, each as soon as it is known.

    Words that may not be spoken end the run.
    """

    def __init__(
        self,
        tool_executor: ToolExecutor,
        moderation_gate: ModerationGate,
        settings: Settings,
        turn: TurnRecord,
        context: ToolContext,
        specs: Mapping[str, ToolSpec],
        state: tool_call_rules.LoopState,
        check: OutputGuardrail,
    ) -> None:
        self.ran = ToolRunResult(state, authors=context.authors)
        self._tool_executor, self._moderation_gate = tool_executor, moderation_gate
        self._settings = settings
        self._turn, self.context, self.check = turn, context, check
        self.specs = specs
        self._categories = {spec.name: spec.category for spec in specs.values()}
        self._leaving = {spec.name for spec in specs.values() if spec.leaves}
        self.arrived = self._number = self._calls = 0
        self._settled = self._idle = False
        self._failure: Failure | None = None
        self._speech_id = ""  # of the speech whose sentences are being said
        self._speech_failed = False
        self._held: tuple[ToolCallRequest, str] | None = None
        self._running: Deferred[None] = succeed(None)

    def arrive(self, call: ToolCallRequest) -> None:
        """Run a call of a reply that is still arriving, after those before it."""
        if not self._settled:
            self.arrived += 1
            self._put(call, ARRIVING, True)

    @inlineCallbacks
    def finish(self, reply: LLMReply) -> Coroutine[ToolRunResult]:
        """Run the other calls; fails with TurnAborted, OutcomeUnknown and StoreUnavailable."""
        tied = self.arrived > 0
        rest = reply.tool_calls[self.arrived :]
        for call in tool_call_rules.acts_first(rest, SPEECH, self._leaving):
            self._put(call, reply.finish_reason, tied)
        self._running.addCallback(lambda _: self._refuse_held())
        ran: ToolRunResult = yield self.settle()
        if self._idle and not (ran.acted or ran.refused or ran.done):
            ran = replace(ran, refused=IDLE)
        return ran

    @inlineCallbacks
    def settle(self) -> Coroutine[ToolRunResult]:
        """Wait for the calls that run; later ones are dropped. Fires and fails as `finish`."""
        self._settled = True
        yield self._running
        if self._failure is not None:
            self._failure.raiseException()
        return self.ran

    def _put(self, call: ToolCallRequest, finish_reason: str, tied: bool) -> None:
        def fail(failure: Failure) -> None:
            self._failure = self._failure or failure

        self._running.addCallback(lambda _: self._run(call, finish_reason, tied))
        self._running.addErrback(fail)

    @inlineCallbacks
    def _run(self, request: ToolCallRequest, finish_reason: str, tied: bool) -> Coroutine[None]:
        """Run one call, unless one before it went wrong."""
        # Each sentence of a streamed speech is a call, all with one id.
        goes_on = bool(request.id) and request.id == self._speech_id and request.name in SPEECH
        if not goes_on:
            yield self._refuse_held()
        self._speech_id = request.id
        limit, is_final = self._settings.config.max_tool_calls, tool_call_rules.FINAL
        if self._failure or self.ran.refused or self._calls > limit:
            return
        # An act was not done: the model is asked once more, and reads why, before anything is told.
        tells = request.name in TELLING or self._categories.get(request.name) == is_final
        if (self.ran.blocked and (tied or tells)) or (goes_on and self._speech_failed):
            return
        words_left = yield self._show_deed(request, finish_reason, tied, goes_on)
        if not words_left:
            return
        call = self.check.well_addressed(
            tool_call_rules.clean_call(request, self.ran.state, self._number)
        )
        self._number += 1
        yield self.check.prepare(call)
        call, problem, is_mild = yield self._checked(call)
        if is_mild:  # the sentence is left out; if it was all of a speech, that is refused
            is_first = call.name != EMOTE and (not goes_on or self._held)
            self._held = (call, problem) if is_first else None
            return
        if self._held is not None:
            goes_on, self._held = False, None
        if problem:
            yield self._refuse(call, problem)
        elif self.check.is_idle_emote(call):
            self._idle = True
        elif goes_on:
            yield self._perform(call, "")
        else:
            refusal = tool_call_rules.refusal_for(
                call, self._calls, self.ran.state, self._categories, finish_reason, limit
            ) or self.check.unfounded(call)
            self._calls += 1
            yield self._perform(call, refusal)

    @inlineCallbacks
    def _checked(self, call: ToolCallRequest) -> Coroutine[tuple[ToolCallRequest, str, bool]]:
        """Compare a call's words with what was said, and `judge` them. Fires as that does."""
        call, problem = self.check.without_repeats(call)
        if problem:
            return call, problem, problem in MILD
        judged: tuple[ToolCallRequest, str, bool] = yield self.judge(call)
        return judged

    @inlineCallbacks
    def judge(self, call: ToolCallRequest) -> Coroutine[tuple[ToolCallRequest, str, bool]]:
        """Let extensions judge a call's words.

        Fires with the call, if need be with fewer words; why it is refused, "" if it is not; and
        True if only its own words are, after the model was asked once more.
        """
        is_again = bool(self.context.refused)
        revision: Revision | None = yield self._moderation_gate.revise_speech(call, self.context)
        if revision is not None:
            if not (is_again and revision.words):
                return call, revision.reason, is_again
            yield self._tool_executor.refuse(self._turn, call, revision.reason, unlogged)
            call = with_text(call, revision.words)
        problem: str = yield self._moderation_gate.judge_speech(call)
        return call, problem, False

    @inlineCallbacks
    def _show_deed(
        self, request: ToolCallRequest, finish_reason: str, tied: bool, goes_on: bool
    ) -> Coroutine[bool]:
        """Show the deed that a speech begins with. Fires with False if no words are left."""
        words, deeds, _ = self.check.split(request)
        if goes_on:
            self._speech_failed = self._speech_failed or not (words or deeds)  # lines of others
            return bool(words)
        if not deeds or request.name != SAY or EMOTE not in self.specs:
            return True
        yield self._run(spoken(deeds[0], "", EMOTE), finish_reason, tied)
        self._speech_id = request.id
        return bool(words)

    @inlineCallbacks
    def _refuse_held(self) -> Coroutine[None]:
        """Refuse a speech of which nothing was said but repeats, left out so far."""
        if self._held is not None and self._failure is None:
            yield self._refuse(*self._held)
        self._held = None

    @inlineCallbacks
    def _refuse(self, call: ToolCallRequest, problem: str) -> Coroutine[None]:
        yield self._tool_executor.refuse(self._turn, call, problem, unlogged)
        self.ran = replace(self.ran, refused=problem)

    @inlineCallbacks
    def _perform(self, call: ToolCallRequest, refusal: str) -> Coroutine[None]:
        """Run a call, or refuse it, and note what came of it."""
        turn, context, ran = self._turn, self.context, self.ran
        evidence = own_evidence(self._settings.profile)
        as_logged = partial(call_messages, turn, context, call, evidence=evidence)
        world = call.name not in self.specs or self.specs[call.name].world
        if refusal:
            result = yield self._tool_executor.refuse(turn, call, refusal, as_logged)
        else:
            result = yield self._tool_executor.perform(turn, context, call, world, as_logged)
        is_done, is_good = result.state == DONE, result.state in (DONE, UNKNOWN, ASKED)
        # A reply whose words were refused may come again with the same act and better words.
        is_again = refusal == tool_call_rules.ALREADY_DONE and (
            call.name == EMOTE or tool_call_rules.fingerprint(call) in ran.state.seen
        )
        failed = world and call.name not in TELLING and not (is_done or is_again)
        state = tool_call_rules.apply_call(ran.state, call, is_good, self._categories)
        authors = context.authors | result.authors
        self.context = replace(context, authors=authors)
        self.ran = replace(
            ran,
            state=tool_call_rules.reopened(state, SPEECH) if failed else state,
            done=ran.done | {call.name} if is_done else ran.done,
            undone=ran.undone if is_done else ran.undone | {call.id},
            acted=ran.acted or (is_done and world) or result.state == ASKED,
            authors=authors,
            blocked=ran.blocked or failed,
        )
        if call.name in SPEECH:
            self._speech_failed = not is_good
        if is_done:
            self.check.heard(call)


def unlogged(result: ToolResult) -> Sequence[ChatMessage]:
    return ()

"""Run one turn: ask the model, run its tool calls, and ask again with the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai import ports
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import ContextOverflow, NothingSpoken, ProviderError
from evennia_ai.messages import NOOP, Audience, Authors, ChatMessage, LLMReply
from evennia_ai.policy.conversation.persona_and_lore import render_persona
from evennia_ai.policy.conversation.tool_call_rules import (
    LoopState,
    begin_step,
    own_call_id,
    with_earlier_acts,
)
from evennia_ai.policy.replies.output_checks import CheckContext
from evennia_ai.policy.replies.speech import spoken
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.policy.tool_call_modes import plain_prompt
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.context_selection import ContextSelector
from evennia_ai.turn.guardrails import ModerationGate, OutputGuardrail, text_of
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.plain_turns import PlainTurns, Requested
from evennia_ai.turn.prompt_building import Prompt, PromptBuilder, PromptRequest
from evennia_ai.turn.prompt_contexts import TurnKind
from evennia_ai.turn.tool_call_runner import ToolCallRunner, ToolRunResult, unlogged
from evennia_ai.turn.tool_executor import DONE, ToolExecutor

ANSWERED, NOTED, EXCUSED, EXPIRED = "answered", "noted", "excused", "expired"
FAILED = "failed"  # no state of a turn: its excuse follows
EMPTY = "it held no words and no call"
RETRIES = 1  # after words that were not spoken


@dataclass(frozen=True)
class Outcome:
    """How a turn ended."""

    # Answered; noted (the character chose silence); excused (by the fallback line); or expired
    # (even the fallback line could not be said).
    state: str
    detail: str = ""
    kind: str = ""  # of the model's error


@dataclass(frozen=True)
class OwnWords:
    """Words that no model wrote, empty if there are none, and the audience of their prompt."""

    words: str = ""
    private: bool = False  # True if the prompt held private content
    audience: Audience | None = None  # None if there was no prompt
    authors: Authors = frozenset()


@dataclass(frozen=True)
class StepReply:
    """A reply, and the run of its tool calls."""

    reply: LLMReply
    calls: ToolCallRunner
    by_code: str = ""  # the game's text that is said in the place of a model's, "" for none
    grounds: plain_prompt.Grounds = plain_prompt.NO_GROUNDS  # what it is held against


@dataclass(frozen=True)
class Progress:
    """What a turn has done so far."""

    loop: LoopState
    done: frozenset[str] = frozenset()  # names of the tools that succeeded
    acted: bool = False  # whether anybody could notice something
    authors: Authors = frozenset()  # authors of what the turn's tools told (`policy.audience`)
    refused: str = ""  # why the last reply was not spoken, "" if it was
    refusals: int = 0  # how many replies were not spoken
    undone: frozenset[str] = frozenset()  # ids of the calls that were not done
    ended: bool = False  # whether the turn needs no further reply
    # What the line asked for, of a model of the mode `PLAIN`; None until it was read.
    requested: Requested | None = None
    fact: OwnWords | None = None  # what surely answers the line

    def after(self, ran: ToolRunResult) -> Progress:
        """Return it after the calls of a reply."""
        return replace(
            self,
            loop=ran.state,
            done=self.done | ran.done,
            acted=self.acted or ran.acted,
            authors=self.authors | ran.authors,
            refused=ran.refused,
            refusals=self.refusals + bool(ran.refused),
            undone=self.undone | ran.undone,
        )


@dataclass(eq=False)
class ReActLoop:
    """Runs turns: asks the model, runs the tool calls of its replies, and asks again.

    ``answer_surely`` fires with what code knows of a turn, from its second step on with what to say
    of its acts. ``free_overflow`` compacts without a
    model after an overflow; it fires with True if that freed anything.
    """

    _mind: ports.MindContext
    _selector: ContextSelector
    _prompts: PromptBuilder
    _calls: ModelCalls
    _tool_executor: ToolExecutor
    _moderation_gate: ModerationGate
    _plain: PlainTurns
    _answer_surely: Callable[..., Deferred[OwnWords]]
    _free_overflow: Callable[[], Deferred[bool]]

    @inlineCallbacks
    def run(
        self, turn: ports.TurnRecord, context: TurnKind, deadline_at: float
    ) -> Coroutine[Outcome]:
        """Ask the model and run its tool calls until the turn has ended.

        The turn must end at ``deadline_at``, in the clock's seconds. Fires with the `Outcome`;
        fails with `ProviderError`, `TurnAborted` or `StoreUnavailable`.
        """
        progress = Progress(LoopState(turn.id))
        lines = [event.heard.line for event in turn.events]
        for _ in range(context.max_iterations or self._mind.config.max_iterations):
            yield self._selector.prepare(turn, lines, self._tool_executor.audience_now(turn))
            if progress.requested is None and not request_form(self._mind.profile).native:
                progress = yield self._do_requested(turn, context, deadline_at, progress)
            begun: list[ToolCallRunner] = []
            ask_model = partial(self.ask, turn, context, deadline_at, progress, begun)
            try:
                step_reply: StepReply = yield self._ask_with_room(ask_model, begun)
            except ProviderError as error:
                # What arrived of a reply may have been said.
                acted = progress.acted
                for calls in begun:
                    ran: ToolRunResult = yield calls.settle()
                    acted = acted or ran.acted
                if not acted:
                    raise
                return Outcome(ANSWERED, f"cut short: {error}")
            progress = yield self.act_on_reply(turn, step_reply, progress)
            if progress.requested and progress.requested.after and not progress.refused:
                progress = yield self._walk(turn, context, deadline_at, progress)
            if progress.ended or context.loop_mode == "single_action":
                break
        return outcome_of(progress, context)

    @inlineCallbacks
    def _do_requested(
        self, turn: ports.TurnRecord, context: TurnKind, deadline_at: float, progress: Progress
    ) -> Coroutine[Progress]:
        """Do what the newest line asks for, and find what surely answers it: code's words.

        A small model tells that worse: 8 of 24 of its lines on what it had done fitted.
        """
        requested = self._plain.requested(turn)
        if self._plain.may_tell(turn, requested):
            fact = yield self._answer_surely(turn)
            return replace(progress, requested=requested, fact=fact)
        progress = replace(progress, requested=requested, fact=OwnWords(requested.words))
        ran = yield self._plain.run(turn, context, deadline_at, requested.before, progress.loop)
        if ran is None:
            return progress
        progress = progress.after(ran)
        words: OwnWords = yield self._words_on_acts(turn, progress)
        by_game = OwnWords(requested.words * (not progress.undone))
        return replace(progress, fact=words if words.words else by_game)

    def _words_on_acts(self, turn: ports.TurnRecord, progress: Progress) -> Deferred[OwnWords]:
        return self._answer_surely(turn, progress.loop.step + 1, progress.undone)

    @inlineCallbacks
    def _walk(
        self, turn: ports.TurnRecord, context: TurnKind, deadline_at: float, progress: Progress
    ) -> Coroutine[Progress]:
        """Walk where the line asked to; a way that is closed is told in one more reply."""
        after = progress.requested.after if progress.requested else ()
        ran = yield self._plain.run(turn, context, deadline_at, after, progress.loop)
        progress = replace(progress, requested=Requested(), fact=None)
        if ran is None:
            return progress
        progress = progress.after(ran)
        if not ran.blocked:
            return replace(progress, ended=True)
        words: OwnWords = yield self._words_on_acts(turn, progress)
        return replace(progress, fact=words, ended=False)

    @inlineCallbacks
    def act_on_reply(
        self, turn: ports.TurnRecord, step_reply: StepReply, progress: Progress
    ) -> Coroutine[Progress]:
        """Say a reply's text or run its tool calls. Fires with the turn's progress after that."""
        reply = step_reply.reply
        if reply.tool_calls:
            ran: ToolRunResult = yield step_reply.calls.finish(reply)
        elif step_reply.by_code or request_form(self._mind.profile).native:
            ran = yield self._speak_text(turn, step_reply)
        else:
            requested = progress.requested or Requested()
            grounds = step_reply.grounds
            ran = yield self._plain.speak(turn, reply, step_reply.calls, requested, grounds)
            if progress.acted:  # what was asked for is done, and bad words would spoil it
                ran = replace(ran, refused="")
        goes_on = bool(reply.tool_calls or ran.refused or ran.blocked)
        acts = ran.acted or progress.acted or (progress.requested and progress.requested.after)
        if not (goes_on or acts) and self._mind.profile.has_model:
            ran, goes_on = replace(ran, refused=EMPTY), True
        progress = progress.after(ran)
        ended = progress.refusals > RETRIES or ran.state.ended or not goes_on
        return replace(progress, ended=ended)

    @inlineCallbacks
    def _ask_with_room(
        self, ask_model: Callable[[], Deferred[StepReply]], begun: Sequence[ToolCallRunner]
    ) -> Coroutine[StepReply]:
        """Ask; if the context window overflows, compact without a model and ask once more.

        Only this step is repeated, so that earlier acts of the turn are not run again (P2); a step
        of which calls arrived is not. Fires and fails as `ask`.
        """
        try:
            step_reply: StepReply = yield ask_model()
        except ContextOverflow:
            if any(calls.arrived for calls in begun):
                raise
            made_room: bool = yield self._free_overflow()
            if not made_room:
                raise
            step_reply = yield ask_model()
        return step_reply

    @inlineCallbacks
    def ask(
        self,
        turn: ports.TurnRecord,
        context: TurnKind,
        deadline_at: float,
        progress: Progress,
        begun: list[ToolCallRunner],
    ) -> Coroutine[StepReply]:
        """Call the model once, for those who would hear the answer now, or answer by code.

        The run of the reply's calls is added to ``begun`` before the model is asked. Fires with the
        `StepReply`; fails with `ProviderError` or `TurnAborted`.
        """
        prepared = self.prepare(turn, context, deadline_at, progress)
        begun.append(prepared.calls)
        if prepared.by_code:
            words = plain_prompt.unsaid(prepared.by_code, prepared.calls.check.spoken)
            return StepReply(LLMReply(words), prepared.calls, by_code=words)
        caller = replace(prepared.request.caller, may_wait=False)  # or no event could be answered
        request = replace(prepared.request, on_call=prepared.calls.arrive, caller=caller)
        reply: LLMReply = yield self._calls.for_turn(turn, request, context.name, deadline_at)
        self._mind.log.show(prepared.scenes)
        return StepReply(reply, prepared.calls, grounds=prepared.grounds)

    def prepare(
        self, turn: ports.TurnRecord, context: TurnKind, deadline_at: float, progress: Progress
    ) -> Prepared:
        """Return the next request of a turn, for those who would hear the answer now."""
        step, audience = progress.loop.step + 1, self._tool_executor.audience_now(turn)
        tools = self._tool_executor.context_for(turn, audience, False, context.tools)
        toolbox = self._mind.services.toolbox
        offered = {spec.name: spec for spec in toolbox.offered(tools)}
        asking, fact = self._prompts.ask_with(turn, offered.values()), progress.fact or OwnWords()
        asking = replace(
            asking,
            refused=progress.refused,
            undone=progress.undone,
            notes=progress.requested.notes if progress.requested else (),
            fact=fact.words * (not progress.refused),
        )
        prompt = self._prompts.build(context, audience, asking)
        tools = replace(
            tools,
            private=tools.private or prompt.private or fact.private,
            deadline_at=deadline_at,
            authors=progress.authors | prompt.authors | fact.authors,
            heard=tuple(event.text for event in turn.from_others),
            refused=progress.refused,
        )
        # All authors must be allowed what the speakers are.
        specs = {spec.name: spec for spec in toolbox.permitted(tools, offered.values())}
        withheld = tuple(sorted(offered.keys() - specs.keys()))
        offered_tokens = asking.tool_tokens
        asking = replace(asking.offering(specs.values()), withheld=withheld)
        prompt = replace(prompt, tokens=prompt.tokens - offered_tokens + asking.tool_tokens)
        request = self._prompts.request(turn, prompt, asking, step)
        check = self._speech_check(turn, asking, prompt, specs)
        loop = begin_step(remember_earlier(turn, specs) if step == 1 else progress.loop)
        executor, gate, settings = self._tool_executor, self._moderation_gate, self._mind.settings
        calls = ToolCallRunner(executor, gate, settings, turn, tools, specs, loop, check)
        return Prepared(request, prompt.scenes, calls, prompt.by_code, prompt.grounds)

    def _speech_check(
        self,
        turn: ports.TurnRecord,
        asking: PromptRequest,
        prompt: Prompt,
        specs: Mapping[str, ports.ToolSpec],
    ) -> OutputGuardrail:
        """Return the check of a reply's words; phrases of code need none."""
        around = None
        if self._mind.profile.has_model and not prompt.by_code:
            events = turn.from_others
            speakers = (item.speaker_name for item in events)
            around = CheckContext(
                name=self._mind.name,
                rules=asking.form.rules,
                persona=render_persona(self._mind.who.persona),
                tools=frozenset(specs),
                people=frozenset({*prompt.situation.people, *speakers}),
                heard=[item.text for item in events],
                link_hosts=self._mind.services.link_hosts,
                cosines=self._mind.services.nearness.cosines,
            )
        logged = self._mind.log.current.logged
        services, limit = self._mind.services, self._mind.config.max_speech_chars
        prepare = partial(services.nearness.prepare, services)
        return OutputGuardrail(around, logged, limit, prepare)

    @inlineCallbacks
    def _speak_text(
        self, turn: ports.TurnRecord, step_reply: StepReply
    ) -> Coroutine[ToolRunResult]:
        """Say a reply in plain text, as models without tool calls send it."""
        ran, text = step_reply.calls.ran, step_reply.reply.content
        words = spoken_words(text, self._mind.name, self._mind.config.max_speech_chars)
        if not words:
            return ran
        call = spoken(words, own_call_id(turn.id, ran.state.step, 0))
        call = step_reply.calls.check.well_addressed(call)
        yield step_reply.calls.check.prepare(call)
        problem: str = step_reply.calls.check.problem(call)
        if not problem:
            call, problem, _left_out = yield step_reply.calls.judge(call)
        if problem:
            yield self._tool_executor.refuse(turn, call, problem, unlogged)
            return replace(ran, refused=problem)
        result: ports.ToolResult = yield self._tool_executor.say_aloud(
            turn, step_reply.calls.context, text_of(call) or words, call.id
        )
        return replace(ran, acted=result.state == DONE)


def outcome_of(progress: Progress, context: TurnKind) -> Outcome:
    """Return how a turn ended; raises NothingSpoken if the model neither spoke nor acted."""
    if progress.acted:
        return Outcome(ANSWERED)
    if NOOP in progress.done:
        return Outcome(NOTED, "it chose silence")
    if progress.done and context.loop_mode == "single_action":
        return Outcome(NOTED, "it did something that nobody saw")
    if progress.refused:
        raise NothingSpoken(f"The model's words were not spoken: {progress.refused}.")
    raise NothingSpoken("The model's replies held nothing to say and nothing that others notice.")


@dataclass(frozen=True)
class Prepared:
    """The next request of a turn, its new scenes, and what will run the calls of its reply."""

    request: ports.LLMRequest
    scenes: Sequence[ChatMessage]  # that it shows first
    calls: ToolCallRunner
    by_code: str  # the variants of what is said in the place of a model, "" for none
    grounds: plain_prompt.Grounds = plain_prompt.NO_GROUNDS  # what a model's reply is held against


def remember_earlier(turn: ports.TurnRecord, specs: Mapping[str, ports.ToolSpec]) -> LoopState:
    """Return the state of a new loop, with the acts of earlier attempts at the same events."""
    categories = {spec.name: spec.category for spec in specs.values()}
    safe = {spec.name for spec in specs.values() if spec.safe_to_retry}
    binding = [call for call in turn.done_before if call.name not in safe]
    return with_earlier_acts(LoopState(turn.id), binding, categories)

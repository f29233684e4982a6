"""Turns of the mode `PLAIN`: code does what a line asks for, the model's reply is what is said.

Small models act when nobody asked them to (14 of 14 lines by a chat call), and speak of deeds that
did not happen. So the act comes first, under the same locks and with the same questions as any
call; the model sees what came of it before it speaks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai import ports
from evennia_ai.messages import EMOTE, WHISPER, LLMReply, Situation, ToolCallRequest
from evennia_ai.policy.conversation.possible_deeds import calls_for, deeds_here
from evennia_ai.policy.conversation.requested_acts import (
    RequestedAct,
    exit_parts,
    match_name,
    requested_act,
)
from evennia_ai.policy.conversation.tool_call_rules import LoopState, begin_step
from evennia_ai.policy.replies.output_checks import ECHO
from evennia_ai.policy.replies.plain_reply import (
    ASSISTANT,
    PlainReply,
    plain_reply,
    without_assistant,
)
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.replies.speech import ASSISTANT_SAYS, CHARACTERS_SAY, spoken
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.form import AGAIN_PLAIN
from evennia_ai.policy.tool_call_modes.plain_prompt import NOT_KNOWN, REFUSES, STRANGER
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.guardrails import ModerationGate, OutputGuardrail
from evennia_ai.turn.line_notes import LineNotes
from evennia_ai.turn.prompt_contexts import TurnKind
from evennia_ai.turn.tool_call_runner import ToolCallRunner, ToolRunResult, unlogged
from evennia_ai.turn.tool_executor import ToolExecutor

NOT_HERE = "You do not have that."
GOING = "You walk to the {exit} now."
# How near a stage direction is to the act that it tells, and the line to asking for that.
LIKE_DEED, LIKE_REQUEST = 0.6, 0.3
LAST_REPLIES = 10  # with which a reply is compared


@dataclass(frozen=True)
class Requested:
    """What a line asks for: calls before the model speaks, calls after, and what it is told."""

    before: tuple[ToolCallRequest, ...] = ()
    # Whoever walks away is heard first.
    after: tuple[ToolCallRequest, ...] = ()
    notes: tuple[str, ...] = ()
    target: str = ""  # what the calls are about


@dataclass(eq=False)
class PlainTurns:
    """Does what a line asks for, and says a reply of mere words."""

    _mind: ports.MindContext
    _tool_executor: ToolExecutor
    _moderation_gate: ModerationGate
    _line_notes: LineNotes

    def requested(self, turn: ports.TurnRecord) -> Requested:
        """Return what the newest line asks for; nothing that it never does, or that is not sure."""
        if not turn.from_others or turn.done_before:
            return Requested()
        event, here = turn.from_others[-1], self._mind.world.situation(self._mind.character)
        if self._line_notes.is_forbidden(event.text):
            return Requested()
        called = re.compile(rf"\A(?:\w+\W+){{0,2}}{re.escape(self._mind.name)}\s*[,:!]\s*", re.I)
        words = called.sub("", self._line_notes.words_of(event.text))  # "Hey Mira, ..."
        acts = (requested_act(text, here, event.speaker_name) for text in sentences(words))
        read = [*filter(None, acts)]
        likely = None if read else self._line_notes.wanted(event.text, event.speaker_name)
        act = next((act for act in read if not act.back), likely)
        if act is None or not act.is_sure:
            return Requested(notes=(NOT_HERE,) if act else ())
        if act.act == "move":
            target = exit_parts(act.target)[0]
            notes = (GOING.format(exit=target),)
            return Requested((), tuple(calls_for(act, here)), notes, target)
        return Requested(tuple(calls_for(act, here)), target=act.target)

    @inlineCallbacks
    def run(
        self,
        turn: ports.TurnRecord,
        context: TurnKind,
        deadline_at: float,
        calls: Sequence[ToolCallRequest],
        loop: LoopState,
    ) -> Coroutine[ToolRunResult | None]:
        """Run the calls of a requested act that are offered now; fires with None if none are.

        Fails with TurnAborted, OutcomeUnknown and StoreUnavailable.
        """
        if not calls:
            return None
        audience = self._tool_executor.audience_now(turn)
        tools = self._tool_executor.context_for(turn, audience, False, context.tools)
        tools = replace(tools, deadline_at=deadline_at)
        specs = {spec.name: spec for spec in self._mind.services.toolbox.offered(tools)}
        offered = tuple(call for call in calls if call.name in specs)
        if not offered:
            return None
        runner = ToolCallRunner(
            self._tool_executor,
            self._moderation_gate,
            self._mind.settings,
            turn,
            tools,
            specs,
            begin_step(loop),
            OutputGuardrail(None, (), self._mind.config.max_speech_chars),
        )
        ran: ToolRunResult = yield runner.finish(LLMReply("", offered))
        return ran

    @inlineCallbacks
    def speak(
        self, turn: ports.TurnRecord, reply: LLMReply, calls: ToolCallRunner, requested: Requested
    ) -> Coroutine[ToolRunResult]:
        """Say a reply's words, and do or show what its stage directions tell.

        What a line ``requested`` is code's to do: a direction that tells it is left out, and no
        other is done.
        """
        here = self._mind.world.situation(self._mind.character)
        others = {STRANGER, *here.people, *(event.speaker_name for event in turn.from_others)}
        lines, last = [item.text for item in turn.from_others], calls.check.spoken
        cut_off = reply.finish_reason == CUT_OFF
        plain = plain_reply(
            reply.content,
            self._mind.name,
            others,
            [*lines, AGAIN_PLAIN],
            last[-LAST_REPLIES:],
            cut_off,
        )
        parts, nearness = [*map(str.strip, sentences(plain.words))], self._mind.services.nearness
        yield nearness.prepare(self._mind.services, [*parts, *ASSISTANT_SAYS, *CHARACTERS_SAY])
        plain = without_assistant(plain, nearness.cosines)
        line = " ".join(lines[-1:])
        own = [*map(str.strip, sentences(plain.words))]
        new = [part for part in own if not self._line_notes.says_again(part, line)]
        if len(new) < len(own):
            plain = plain._replace(words=" ".join(new), problem="" if new else ECHO)
        breaks: bool = yield self._line_notes.breaks(parts, line)
        problem = plain.problem or (plain.words and calls.check.problem(spoken(plain.words)))
        if breaks or (problem == ASSISTANT and line.rstrip().endswith("?")):
            # A second call would cost more, and may do it again.
            plain = PlainReply(self.unsaid(REFUSES if breaks else NOT_KNOWN, last))
        if plain.problem:
            refused = spoken(reply.content)
            yield self._tool_executor.refuse(turn, refused, plain.problem, unlogged)
            return replace(calls.ran, refused=plain.problem)
        wanted: list[ToolCallRequest] = []
        speech = spoken(plain.words)
        emotes = [text for text in plain.emotes if not match_name(text, [requested.target])]
        for number, text in enumerate(emotes):
            act: RequestedAct | None = None
            if not requested.target:
                act = yield self._deed_of(turn, text, here)
            if act is None:
                wanted.append(spoken(text, f"deed{number}", EMOTE))
            elif act.act == WHISPER:
                whisper = {"text": plain.words, "target": act.target}
                speech = ToolCallRequest("", WHISPER, json.dumps(whisper, ensure_ascii=False))
            else:
                wanted += calls_for(act, here)
        wanted += [speech] if plain.words else []
        whole = replace(reply, content="", tool_calls=tuple(wanted), finish_reason="stop")
        ran: ToolRunResult = yield calls.finish(whole)
        return ran

    @inlineCallbacks
    def _deed_of(
        self, turn: ports.TurnRecord, text: str, here: Situation
    ) -> Coroutine[RequestedAct | None]:
        """Fire with the act that a stage direction tells, None for a mere gesture.

        The direction must name a thing, an exit or a person that is here, and the newest line must
        be about it: a small model also hands out what nobody asked for.
        """
        if not turn.from_others:
            return None
        event = turn.from_others[-1]
        possible = deeds_here(here, event.speaker_name)
        deeds = [deed for deed in possible if match_name(text, [deed.act.target])]
        if not deeds or self._line_notes.is_forbidden(event.text):
            return None
        line, nearness = self._line_notes.words_of(event.text), self._mind.services.nearness
        texts = [words for deed in deeds for words in (deed.told, deed.request)]
        yield nearness.prepare(self._mind.services, [text, line, *texts])
        likes = nearness.cosines(text, [deed.told for deed in deeds])
        near = nearness.cosines(line, [deed.request for deed in deeds])
        rows = zip(likes, near, deeds, strict=False)
        likely = [row for row in rows if row[0] >= LIKE_DEED and row[1] >= LIKE_REQUEST]
        best = max(likely, key=lambda row: row[0] + row[1], default=None)
        return best[2].act if best and best[2].act.act != EMOTE else None

    def unsaid(self, key: str, last: Sequence[str]) -> str:
        """Return a text of the game's, if it can one that was not said; else the oldest."""
        variants = self._mind.services.text(key).splitlines()
        said = {words: number for number, words in enumerate(last)}
        return min(variants, key=lambda words: said.get(words, -1))

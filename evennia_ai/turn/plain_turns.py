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
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai import ports
from evennia_ai.messages import EMOTE, WHISPER, LLMReply, ToolCallRequest, as_name
from evennia_ai.policy.conversation.requested_acts import (
    FORBIDDEN_ACT,
    calls_for,
    exit_parts,
    match_name,
    requested_act,
)
from evennia_ai.policy.conversation.tool_call_rules import LoopState, begin_step
from evennia_ai.policy.replies.output_checks import ASSISTANT, ECHO
from evennia_ai.policy.replies.plain_reply import PlainReply, plain_reply, to_asker
from evennia_ai.policy.replies.speech import VOICE_LINES, spoken
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes import plain_prompt
from evennia_ai.policy.tool_call_modes.form import AGAIN_PLAIN, answer_in
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.guardrails import ModerationGate, OutputGuardrail
from evennia_ai.turn.line_notes import LineNotes
from evennia_ai.turn.prompt_contexts import TurnKind
from evennia_ai.turn.tool_call_runner import ToolCallRunner, ToolRunResult, unlogged
from evennia_ai.turn.tool_executor import ToolExecutor

# The game's texts before it walks where a line asked, and after it whispered what one said.
GOES, HANDS_ON, BIDS_TELL = "goes", "hands_on", "bids_tell"
NOT_HERE = "You do not have that."
GOING = "You walk to the {exit} now."
WHISPERING = "You whisper to {name} now."
LAST_REPLIES = 10  # with which a reply is compared


@dataclass(frozen=True)
class Requested:
    """What a line asks for: calls before the model speaks, calls after, and what it is told."""

    before: tuple[ToolCallRequest, ...] = ()
    # Whoever walks away is heard first.
    after: tuple[ToolCallRequest, ...] = ()
    notes: tuple[str, ...] = ()
    words: str = ""  # the game's text on the calls where the stand-in has none
    target: str = ""  # what the calls are about
    whispered_to: str = ""  # who alone is to hear the reply


@dataclass(eq=False)
class PlainTurns:
    """Does what a line asks for, and says a reply of mere words."""

    _mind: ports.MindContext
    _tool_executor: ToolExecutor
    _moderation_gate: ModerationGate
    _line_notes: LineNotes

    def may_tell(self, turn: ports.TurnRecord, requested: Requested) -> bool:
        """Return True if what code knows may answer a turn: its lines ask, and for no act."""
        asks = any(self._line_notes.asks(event.text) for event in turn.from_others)
        return asks and not turn.done_before and requested == Requested()

    def requested(self, turn: ports.TurnRecord) -> Requested:
        """Return what the newest line asks for; nothing that it never does, or that is not sure."""
        if not turn.from_others or turn.done_before:
            return Requested()
        event, here = turn.from_others[-1], self._mind.world.situation(self._mind.character)
        if self._line_notes.is_forbidden(event.text, near=FORBIDDEN_ACT):
            return Requested()
        called = re.compile(rf"\A(?:\w+\W+){{0,2}}{re.escape(self._mind.name)}\s*[,:!]\s*", re.I)
        words = called.sub("", self._line_notes.words_of(event.text))  # "Hey Mira, ..."
        speaker = event.speaker_name
        acts = (requested_act(text, here, speaker) for text in sentences(words))
        read = [*filter(None, acts)]
        likely = None if read else self._line_notes.hinted(event.text, speaker)
        act = next((act for act in read if not act.back), likely)
        if act is None or not act.is_sure:
            return Requested(notes=(NOT_HERE,) if act else ())
        if act.act == "move":
            target = exit_parts(act.target)[0]
            notes = (GOING.format(exit=target),)
            words = "" if self._is_foreign(event.text) else self._mind.services.text(GOES)
            return Requested((), tuple(calls_for(act, here)), notes, words, target)
        if act.act == WHISPER and act.item:
            text = self._mind.services.text
            message = text(BIDS_TELL, speaker=as_name(speaker), words=act.item)
            call = whispered(message, act.target)
            return Requested((call,), words=text(HANDS_ON), target=act.target)
        if act.act == WHISPER:
            notes = (WHISPERING.format(name=act.target),)
            return Requested((), (), notes, "", act.target, act.target)
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
        executor, gate, settings = self._tool_executor, self._moderation_gate, self._mind.settings
        step, check = begin_step(loop), OutputGuardrail(None, (), settings.config.max_speech_chars)
        runner = ToolCallRunner(executor, gate, settings, turn, tools, specs, step, check)
        ran: ToolRunResult = yield runner.finish(LLMReply("", offered))
        return ran

    @inlineCallbacks
    def speak(
        self,
        turn: ports.TurnRecord,
        reply: LLMReply,
        calls: ToolCallRunner,
        requested: Requested,
        grounds: plain_prompt.Grounds,
    ) -> Coroutine[ToolRunResult]:
        """Say a reply's words, and show its stage directions.

        What a line ``requested`` is code's to do: a direction that tells it is left out. A reply
        that tells nothing of the fact which surely answers the line is replaced by it.
        """
        fact = grounds.fact
        here = self._mind.world.situation(self._mind.character)
        speakers = [event.speaker_name for event in turn.from_others]
        others = {plain_prompt.STRANGER, *here.people, *speakers}
        lines, last = [item.text for item in turn.from_others], calls.check.spoken
        # Whoever is to tell another something says it again.
        answered = [] if requested.whispered_to else lines
        notes = [text for name in speakers for text in plain_prompt.notes_to(name)]
        known, own = [*answered, *notes, AGAIN_PLAIN], self._mind.name
        read = partial(plain_reply, reply, own, others, known, last[-LAST_REPLIES:])
        parts, nearness = [*map(str.strip, sentences(read().words))], self._mind.services.nearness
        yield nearness.prepare(self._mind.services, [*parts, *VOICE_LINES])
        plain = read(nearness.cosines)
        line = " ".join(answered[-1:])
        asker = as_name("".join(speakers[-1:]))
        own_words = [words for who, words in grounds.told if who.endswith(f" {asker}")]
        spoken_line = self._line_notes.words_of(line)
        plain = plain._replace(words=to_asker(plain.words, own_words, spoken_line))
        kept = [*map(str.strip, sentences(plain.words))]
        new = [part for part in kept if not self._line_notes.says_again(part, line)]
        absent = {plain_prompt.STRANGER}.difference(here.people)
        new = [part for part in new if not plain_prompt.tells_of(part, {*speakers[-1:], *absent})]
        if len(new) < len(kept):
            plain = plain._replace(words=" ".join(new), problem="" if new else ECHO)
        is_told = plain_prompt.tells(plain.words, fact, line, "\n".join(grounds.talk))
        if fact and (plain.problem or not is_told):
            asks_more = self._line_notes.asks_the_unknown(line, fact)
            not_known = self._mind.services.text(plain_prompt.NOT_KNOWN)
            plain = PlainReply(plain_prompt.unsaid(not_known, last) if asks_more else fact)
        breaks = not (requested.target or fact) and (yield self._line_notes.breaks(parts, line))
        problem = plain.problem or (plain.words and calls.check.problem(spoken(plain.words)))
        is_asked = line.rstrip().endswith("?") and not self._is_foreign(line)
        if breaks or (problem == ASSISTANT and is_asked):
            # A second call would cost more, and may do it again.
            key = plain_prompt.REFUSES if breaks else plain_prompt.NOT_KNOWN
            plain = PlainReply(plain_prompt.unsaid(self._mind.services.text(key), last))
        if plain.problem:
            refused = spoken(reply.content)
            yield self._tool_executor.refuse(turn, refused, plain.problem, unlogged)
            return replace(calls.ran, refused=plain.problem)
        shown = [text for text in plain.deeds if not match_name(text, [requested.target])]
        wanted = [spoken(text, f"deed{number}", EMOTE) for number, text in enumerate(shown)]
        speech = spoken(plain.words)
        if requested.whispered_to:
            speech = whispered(plain.words, requested.whispered_to)
        wanted += [speech] if plain.words else []
        whole = replace(reply, content="", tool_calls=tuple(wanted), finish_reason="stop")
        ran: ToolRunResult = yield calls.finish(whole)
        return ran

    def _is_foreign(self, line: str) -> bool:
        return bool(answer_in([line], self._mind.who.persona.text))


def whispered(words: str, target: str) -> ToolCallRequest:
    arguments = json.dumps({"text": words, "target": target}, ensure_ascii=False)
    return ToolCallRequest("act0", WHISPER, arguments)

"""Decide which words a prompt may hold, and which words may be spoken."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks, maybeDeferred, succeed
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import (
    EMOTE,
    EMOTED,
    LOST_RESULT,
    SAY,
    SPEECH,
    ChatMessage,
    InboxEvent,
    ToolCallRequest,
    is_excuse,
)
from evennia_ai.policy import staff_controls
from evennia_ai.policy.conversation.ai_disclosure import DENYING, asking, may_ask, to_prepare
from evennia_ai.policy.conversation.tool_call_rules import read_arguments
from evennia_ai.policy.facts.check import note_problem
from evennia_ai.policy.facts.terms import HEARD, parse_heard_line
from evennia_ai.policy.replies import output_checks
from evennia_ai.policy.replies.plain_reply import (
    NO_WORDS,
    REPEATED,
    PlainReply,
    own_lines,
    split_reply,
    uncalled,
)
from evennia_ai.policy.replies.speech import VOICE_LINES
from evennia_ai.policy.sanitize import own_label, spoken_words, strip_reasoning
from evennia_ai.policy.texts import plain_words, sentences
from evennia_ai.policy.tool_call_modes.wire_order import SPOKEN
from evennia_ai.ports import Extension, Revision, Settings, ToolContext, overriding
from evennia_ai.scheduling import Coroutine, loggable

log = Logger()

TURNS_COMPARED = 10
NOTICED = (*SPOKEN, EMOTED)  # how the results of such acts begin
NOTE = "add_journal_entry"
GESTURE = "it was a gesture, not words"
REFUSED = "refuses_words"
FAILED = "an extension that judges words failed"
UNSPOKEN = "the game's moderation refused it"
MILD = (REPEATED, output_checks.ECHO)  # without such a sentence the rest may be worth saying


class OutputGuardrail:
    """Compares words with what no character says, and with the character's own latest lines.

    It reads the conversation when there are words to compare, not before the model is asked.
    """

    def __init__(
        self,
        around: output_checks.CheckContext | None,
        earlier: Iterable[ChatMessage],
        limit_chars: int,
        prepare: Callable[[Iterable[str]], Deferred[None]] | None = None,
    ) -> None:
        # Without ``around``, what the model saw, everything passes. ``earlier`` holds the messages
        # of the conversation, excuses among them, in any order. ``prepare`` is `Nearness.prepare`.
        self._prepare = prepare
        self._told, self._limit_chars = around, limit_chars
        self._earlier = earlier

    @cached_property
    def _newest_first(self) -> list[ChatMessage]:
        return sorted(self._earlier, key=lambda message: -message["metadata"].get("seq", 0))

    @cached_property
    def _around(self) -> output_checks.CheckContext | None:
        if self._told is None:
            return None
        return replace(self._told, people={*self._told.people, *speakers_of(self._newest_first)})

    @cached_property
    def _acts(self) -> list[tuple[str, str]]:
        return list(latest_acts(self._newest_first))[::-1]

    @property
    def spoken(self) -> list[str]:
        """The character's speeches of its last turns, oldest first."""
        return [text for name, text in self._acts if name in SPEECH]

    def prepare(self, call: ToolCallRequest) -> Deferred[None]:
        """Fire when `problem` can compare a call's words by their meaning; never fails."""
        text, around = text_of(call), self._told
        if self._prepare is None or around is None or call.name not in SPEECH or text is None:
            return succeed(None)
        is_asked = may_ask(around.heard_words, around.cosines)
        texts = to_prepare([text], DENYING) if is_asked else []
        words = spoken_words(text, around.name, self._limit_chars)
        return self._prepare([*texts, *map(str.strip, sentences(words)), *VOICE_LINES])

    def problem(self, call: ToolCallRequest) -> str:
        """Return why a call's words may not be spoken or shown, "" if they may or without any."""
        text = text_of(call)
        if self._around is None or call.name not in (*SPEECH, EMOTE) or text is None:
            return ""
        words = spoken_words(text, self._around.name, self._limit_chars)
        if not words:
            return NO_WORDS
        # Line breaks and fences, which the sanitizer removes, tell what a text is.
        forms = dict.fromkeys((strip_reasoning(text), words))
        artefact = next(
            filter(None, (output_checks.find_artefact(form, self._around) for form in forms)), ""
        )
        if artefact or call.name == EMOTE:
            return artefact
        slip = output_checks.find_slip(words, self._around)
        slip = slip or (GESTURE if not self.split(call).words else "")
        repeat = REPEATED if output_checks.find_repeat(words, self.spoken) else ""
        return slip or repeat

    def without_repeats(self, call: ToolCallRequest) -> tuple[ToolCallRequest, str]:
        """Return a call, if need be without the sentences that were said before, and `problem`."""
        problem, text, earlier_words = self.problem(call), text_of(call), self._told
        if problem not in MILD or earlier_words is None or text is None:
            return call, problem
        lines = (parse_heard_line(line, "")[1] for line in earlier_words.heard)
        known = {tuple(plain_words(s)) for item in (*self.spoken, *lines) for s in sentences(item)}
        alone = sentences(text)
        unsaid = [s for s in alone if tuple(plain_words(s)) not in known]
        new = [s for s in unsaid if self.problem(with_text(call, s)) not in MILD]
        rest = " ".join(map(str.strip, new))
        if len(new) == len(alone) or len(plain_words(rest)) < output_checks.FEW_WORDS:
            return call, problem
        shorter = with_text(call, rest)
        return shorter, self.problem(shorter)

    def well_addressed(self, call: ToolCallRequest) -> ToolCallRequest:
        """Return a call of words alone that do not call the character itself by name."""
        text, around = text_of(call), self._told
        words = "" if text is None else self.split(call).words  # None: it could not be read
        if around is None or call.name not in SPEECH or not words:
            return call
        words = uncalled(spoken_words(words, around.name, self._limit_chars), around.name)
        changed = words not in (text, spoken_words(text or "", around.name, self._limit_chars))
        return with_text(call, words) if changed else call

    def split(self, call: ToolCallRequest) -> PlainReply:
        """Return the character's own words of a speech, and the deeds that it tells beside them.

        Of any other call, and without a check, all is words.
        """
        text, around = text_of(call), self._around
        if around is None or call.name not in SPEECH or text is None:
            return PlainReply(text or NO_WORDS)
        own = own_lines(strip_reasoning(text), around.name, frozenset(around.people))
        return split_reply(own, around.name)

    def unfounded(self, call: ToolCallRequest) -> str:
        """Return why a journal entry is not written, "" if it is, or for any other call."""
        around, arguments = self._told, read_arguments(call) or {}
        content = arguments.get("content")
        if around is None or call.name != NOTE or not isinstance(content, str):
            return ""
        return note_problem(content)

    def is_idle_emote(self, call: ToolCallRequest) -> bool:
        """Return True for a gesture that only names somebody, or that it made a moment ago."""
        around = self._around
        if around is None or call.name != EMOTE:
            return False
        text = own_label(around.name).sub("", (text_of(call) or "").strip(" *"))
        names = {word for name in (around.name, *around.people) for word in plain_words(name)}
        shown = [deed for name, deed in self._acts if name == EMOTE]
        return names.issuperset(plain_words(text)) or bool(output_checks.find_repeat(text, shown))

    def heard(self, call: ToolCallRequest) -> None:
        if call.name in (*SPEECH, EMOTE) and (text := text_of(call)):
            self._acts.append((call.name, text))


def speakers_of(messages: Iterable[ChatMessage]) -> set[str]:
    """Return the names of those who spoke, also if they have left since."""
    lines = (message["content"] for message in messages if message["role"] == "user")
    return {match["speaker"] for line in lines if (match := HEARD.match(line))}


def latest_acts(newest_first: Iterable[ChatMessage]) -> Iterator[tuple[str, str]]:
    """Yield what the character said and showed in its last `TURNS_COMPARED` turns, newest first."""
    # A streamed speech has a text for each of its sentences. An excuse counts as no turn: no prompt
    # shows it, so that a model may see, and repeat, what it said before many excuses.
    results: dict[str, str] = {}
    turns: set[Any] = set()
    for message in newest_first:
        if message["role"] == "tool":
            results[message.get("tool_call_id", "")] = message["content"]
        acts = own_acts(message, results)
        if acts and not is_excuse(message):
            turns.add(message["metadata"].get("turn_id"))
        if len(turns) > TURNS_COMPARED:
            return
        yield from reversed(acts)


def own_acts(message: ChatMessage, results: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what others noticed of one message, as (tool, text); ``results`` by the call's id."""
    if message["role"] != "assistant":
        return []
    calls = (
        ToolCallRequest("", call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls", ())
        if results.get(call["id"], LOST_RESULT).startswith(NOTICED)
    )
    acts = [(call.name, text) for call in calls if (text := text_of(call))]
    return [(SAY, message["content"]), *acts] if message["content"] else acts


def text_of(call: ToolCallRequest) -> str | None:
    """Return a call's words, None without any."""
    text = (read_arguments(call) or {}).get("text")
    return text if isinstance(text, str) and text.strip() else None


def with_text(call: ToolCallRequest, text: str) -> ToolCallRequest:
    arguments = {**(read_arguments(call) or {}), "text": text}
    return replace(call, arguments=json.dumps(arguments, ensure_ascii=False))


class ModerationGate:
    """Lets extensions judge words before a prompt holds them, and before they are spoken.

    ``extensions`` returns the game's, which may change.
    """

    def __init__(self, settings: Settings, extensions: Callable[[], Sequence[Extension]]) -> None:
        self._settings, self._extensions = settings, extensions

    @property
    def is_on(self) -> bool:
        """Return True if heard words are checked before a prompt holds them."""
        return self._settings.config.game_topics_only or bool(
            overriding(self._extensions(), "before_turn")
        )

    @inlineCallbacks
    def judge_events(
        self, events: Sequence[InboxEvent]
    ) -> Coroutine[Mapping[int, tuple[str, str]]]:
        """Fire by id with the refused events: the key of the speaker's line, the reason."""
        verdicts: dict[int, tuple[str, str]] = {}
        if self._settings.config.game_topics_only:
            always_answered = {event.id for event in asking(events)}  # that is always answered
            for event in (event for event in events if event.id not in always_answered):
                if key := staff_controls.find_topic(event.heard.text):
                    verdicts[event.id] = (key, f"topic: {key}")
        for extension in overriding(self._extensions(), "before_turn"):
            left = [event for event in events if event.id not in verdicts and event.heard.text]
            if left:
                failed = {event.id: FAILED for event in left}
                reasons = yield verdict(extension, Mapping, failed, extension.before_turn, left)
                verdicts |= {number: (REFUSED, reason) for number, reason in reasons.items()}
        return verdicts

    @inlineCallbacks
    def why_unsaid(self, words: str, by_staff: bool = False) -> Coroutine[str]:
        """Fire with why words may not be spoken or shown, "" if they may.

        Words of staff are refused by a verdict only, so that a character can say that it failed.
        """
        for extension in overriding(self._extensions(), "before_speech") if words else ():
            failed = "" if by_staff else FAILED
            judge = extension.before_speech
            reason = yield verdict(extension, str, failed, judge, words, by_staff)
            if reason:
                return str(reason)
        return ""

    @inlineCallbacks
    def revise_speech(
        self, call: ToolCallRequest, context: ToolContext
    ) -> Coroutine[Revision | None]:
        """Fire with what extensions make of the words of a call, None if they may all be said."""
        text, reason = text_of(call) if call.name in SPEECH else None, ""
        for extension in overriding(self._extensions(), "revise_speech") if text else ():
            unchanged, revise = Revision(text or ""), extension.revise_speech
            revision = yield verdict(extension, Revision, unchanged, revise, context, text)
            if revision.reason:
                text, reason = revision.words, reason or revision.reason
            if not text:
                break
        return Revision(text or "", reason) if reason else None

    @inlineCallbacks
    def judge_speech(self, call: ToolCallRequest) -> Coroutine[str]:
        """Fire with what a model is told if the words of a call are refused, "" if they are not."""
        text = text_of(call) if call.name in (*SPEECH, EMOTE) else None
        reason = yield self.why_unsaid(text or "")
        return UNSPOKEN if reason else ""


@inlineCallbacks
def verdict(
    extension: Extension, kind: type, failed: Any, judge: Callable[..., Any], *about: Any
) -> Coroutine[Any]:
    """Fire with what an extension's hook fires with, ``failed`` unless that is of a kind.

    Fails with TurnAborted and StoreUnavailable.
    """
    try:
        answer = yield maybeDeferred(judge, *about)
    except (TurnAborted, StoreUnavailable, CancelledError):
        raise
    except Exception:  # noqa: BLE001  # a game's extension may raise anything
        line, failure = "evennia_ai: the extension {name} gave no verdict", loggable(True)
        log.failure(line, failure, name=extension.name)
        return failed
    if isinstance(answer, kind):
        return answer
    log.error("evennia_ai: {name} gave no {kind} as verdict", name=extension.name, kind=kind)
    return failed

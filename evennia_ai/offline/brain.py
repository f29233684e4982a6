"""The offline `LLMClient`: decides from a request what to do and say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.offline.actions import Step, done, next_step
from evennia_ai.offline.hearing import Heard, gather, requested_action, words_for
from evennia_ai.offline.idle import act_autonomously
from evennia_ai.offline.outcomes import words_for_step
from evennia_ai.offline.record_keeping import JOURNAL, journals_only, summarise, worth_noting
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.view import View, read_request
from evennia_ai.offline.words import capitals, long_sentences, rotated
from evennia_ai.policy.retrieval.languages import STOP_WORDS
from evennia_ai.ports import TASK_SUMMARY, LLMReply, LLMRequest, ToolCallRequest

MODEL = "offline"
Calls = tuple[tuple[str, dict[str, str]], ...]

PUNCTUATION = ".,;:!?"


@dataclass(frozen=True)
class Speech:
    """Words for one speaker; ``private`` if only that speaker may hear them."""

    to: str
    words: str
    private: bool


class OfflineBrain:
    """An `LLMClient` that calls no model."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Answer at once. Fires with the reply; never fails."""
        return succeed(think(request))


def think(request: LLMRequest) -> LLMReply:
    """Return the reply to a request; the same request always gets the same reply."""
    if request.scene.task == TASK_SUMMARY:
        return summarise(request.scene)
    if journals_only(request):
        return with_calls((("noop", {"reason": "the rules for facts do that"}),))
    view = read_request(request)
    if not request.scene.lines:
        return with_calls(act_autonomously(view))
    if spoke_this_turn(view):
        return with_calls((("noop", {"reason": "I have said what I could"}),))
    heard = gather(view)
    for item in heard:
        requested = requested_action(item)
        if requested:
            return act(view, heard, item, requested)
    return speak(view, heard, (), {})


def spoke_this_turn(view: View) -> bool:
    """Return True if this turn tried to speak already; it does not try again."""
    return bool(done(view.transcript.acts, "say") or done(view.transcript.acts, "whisper"))


def act(view: View, heard: Sequence[Heard], item: Heard, requested: RequestedAction) -> LLMReply:
    """Return the next step of a requested action; the last step has words."""
    step = next_step(requested, view.situation, view.transcript.acts, view.tools)
    if not step.end:
        return with_calls(announced(item.view, step, requested))
    words = words_for_step(item.view, requested, step)
    return speak(view, heard, step.calls, {item.speaker: words})


def announced(view: View, step: Step, requested: RequestedAction) -> Calls:
    """Return the calls of a step, with an emote before a walk that others may see."""
    walks = any(name == "move" for name, _ in step.calls) and not done(view.transcript.acts, "move")
    private = all(line.private for line in view.scene.lines)
    if not walks or private or not may_emote(view):
        return step.calls
    return (("emote", {"text": view.emote("sets_off", who=requested.speaker)}), *step.calls)


def may_emote(view: View) -> bool:
    """Return True if this turn can still make an emote."""
    return "emote" in view.tools and not done(view.transcript.acts, "emote")


def speak(view: View, heard: Sequence[Heard], calls: Calls, given: dict[str, str]) -> LLMReply:
    """Return a reply with words for every speaker, after the given calls."""
    speeches, emotes = list[Speech](), list[str]()
    for item in heard:
        emote, words = ("", given[item.speaker]) if item.speaker in given else words_for(item)
        if emote and not item.private:
            emotes.append(emote)
        if words and len(heard) > 1 and not names(words, item):
            words = addressed(words, item.speaker)
        if words:
            said = unrepeated(item.view, once_named(words, item.view.who), speeches)
            speeches.append(Speech(item.speaker, said, item.private))
    if emotes and may_emote(view) and not any(name == "emote" for name, _ in calls):
        calls = (*calls, ("emote", {"text": emotes[0]}))
    return delivered(view, speeches, (*notes(view), *calls))


def notes(view: View) -> Calls:
    """Return the journal calls that come before the answer, once in a turn."""
    if JOURNAL not in view.tools or done(view.transcript.acts, JOURNAL):
        return ()
    lines = [line for line in view.scene.lines if line.speaker not in view.scene.assistants]
    noted = worth_noting(lines, view.scene.name)
    return tuple((JOURNAL, {"content": line}) for line in noted)


def names(words: str, item: Heard) -> bool:
    """Return True if the words name the speaker they are for."""
    lower = words.lower()
    return item.view.who.lower() in lower or item.speaker.lower() in lower


def addressed(words: str, name: str) -> str:
    """Return words behind the name of whom they are for, as one sentence."""
    first = words.split(maxsplit=1)[0].strip(PUNCTUATION)
    small = len(first) > 1 and any(first.lower() in known for known in STOP_WORDS.values())
    return f"{name}, {words[0].lower() + words[1:] if small else words}"


def once_named(words: str, who: str) -> str:
    """Return the words with the speaker addressed by name once at most."""
    first, *rest = words.split(f", {who}")
    kept = first + (f", {who}" + rest[0] if rest else "")
    return kept + "".join(part if part[:1] in ".,:;?!" else f", {who}{part}" for part in rest[1:])


def unrepeated(view: View, words: str, before: Sequence[Speech]) -> str:
    """Return the words, or others if all of their sentences were spoken lately.

    Only a sentence that holds an asked-for fact comes back, behind a new beginning.
    """
    spoken = {part for speech in before for part in long_sentences(speech.words)}
    said = {line.strip().lower() for line in (*view.transcript.own, *view.scene.excuses)}
    if words.strip().lower() not in said and not (set(long_sentences(words)) & spoken):
        return words
    fillers = [capitals(text.replace("{who}", view.who)) for text in view.language.phrases.get("filler", ("Hm.",))]  # fmt: skip
    leads = rotated(fillers, view.seed)
    tries = [*leads, *(f"{lead} {other}" for lead in leads for other in leads if lead != other)]
    return next((text for text in tries if text.strip().lower() not in said), words)


def delivered(view: View, speeches: Sequence[Speech], calls: Calls) -> LLMReply:
    """Return the reply that speaks aloud or whispers, by tools or as plain text."""
    aloud = " ".join(speech.words for speech in speeches if not speech.private)
    whispers = [speech for speech in speeches if speech.private]
    plain = " ".join(filter(None, (aloud, *(s.words for s in whispers))))
    final: list[tuple[str, dict[str, str]]] = []
    if aloud and "say" in view.tools:
        final.append(("say", {"text": aloud}))
    elif whispers and not aloud and "whisper" in view.tools:
        final.append(("whisper", {"text": whispers[0].words, "target": whispers[0].to}))
    if plain and not final:
        return with_calls(calls, plain) if calls else LLMReply(plain, model=MODEL)
    if not final:
        final.append(("noop", {"reason": "nothing more to say"}))
    return with_calls((*calls, *final))


def with_calls(calls: Calls, content: str = "") -> LLMReply:
    """Return a reply that calls tools."""
    made = tuple(
        ToolCallRequest(f"offline{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls)
    )
    return LLMReply(content, made, "tool_calls", model=MODEL)

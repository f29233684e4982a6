"""The offline `LLMClient`: decides from a request what to do and say."""

from __future__ import annotations

import json
from collections.abc import Sequence

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.messages import NOOP, SAY, WHISPER
from evennia_ai.offline.actions import Calls, Step, done, next_step, words_for_step
from evennia_ai.offline.hearing import gather, requested_action, words_for
from evennia_ai.offline.idle import act_autonomously, still
from evennia_ai.offline.record_keeping import JOURNAL, journals_only, summarise, worth_noting
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.view import View, read_request
from evennia_ai.offline.words import in_sentence, is_description, long_sentences
from evennia_ai.policy.retrieval.languages import STOP_WORDS
from evennia_ai.ports import TASK_SUMMARY, LLMReply, LLMRequest, ToolCallRequest

MODEL = "offline"
Given = dict[str, tuple[str, str]]  # emotes and words by speaker


class OfflineBrain:
    """An `LLMClient` that calls no model."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Answer at once. Fires with the reply; never fails."""
        return succeed(think(request))


def think(request: LLMRequest) -> LLMReply:
    """Return the reply to a request; the same request always gets the same reply."""
    if request.scene.task == TASK_SUMMARY:
        return LLMReply(summarise(request.scene), model=MODEL)
    if journals_only(request):
        return with_calls(still("the rules for facts do that"))
    view = read_request(request)
    if not request.scene.lines:
        return with_calls(act_autonomously(view))
    if done(view.transcript.acts, SAY) or done(view.transcript.acts, WHISPER):
        return with_calls(still("I have said what I could"))  # it does not try again
    heard = gather(view)
    for item in heard:
        requested = requested_action(item)
        if requested:
            return act(view, heard, item, requested)
    return speak(view, heard, (), {})


def act(view: View, heard: Sequence[View], item: View, requested: RequestedAction) -> LLMReply:
    """Return the next step of a requested action; the last step has words."""
    step = next_step(requested, view.situation, view.transcript.acts, view.tools)
    if not step.end:
        return with_calls(announced(item, step, requested))
    words = words_for_step(item, requested, step)
    return speak(view, heard, step.calls, {item.speaker: ("", words)})


def announced(view: View, step: Step, requested: RequestedAction) -> Calls:
    """Return the calls of a step, with an emote before a walk that others may see."""
    walks = any(name == "move" for name, _ in step.calls) and not done(view.transcript.acts, "move")
    private = all(line.private for line in view.scene.lines)
    if not walks or private or not may_emote(view):
        return step.calls
    emote = view.emote("sets_off", who=in_sentence(requested.speaker))
    return (("emote", {"text": emote}), *step.calls)


def may_emote(view: View) -> bool:
    """Return True if this turn can still make an emote."""
    return "emote" in view.tools and not done(view.transcript.acts, "emote")


def speak(view: View, heard: Sequence[View], calls: Calls, given: Given) -> LLMReply:
    """Return a reply with words for every speaker, after the given calls."""
    spoken, emotes = list[tuple[View, str]](), [text for name, text in calls if name == "emote"]
    for item in heard:
        emote, words = given.get(item.speaker) or words_for(item)
        if emote and not (item.private or emotes) and may_emote(view):
            emotes.append({"text": emote})
            calls = (*calls, ("emote", emotes[0]))
        if words:
            words = once_named(words if len(heard) == 1 else to_one(words, item), item.who)
            spoken.append((item, unrepeated(item, words, [said for _, said in spoken])))
    return delivered(view, spoken, (*notes(view), *calls))


def notes(view: View) -> Calls:
    """Return the journal calls that come before the answer, once in a turn."""
    if JOURNAL not in view.tools or done(view.transcript.acts, JOURNAL):
        return ()
    return tuple((JOURNAL, {"content": line}) for line in worth_noting(view.scene))


def to_one(words: str, item: View) -> str:
    """Return words that name their receiver, one of several speakers."""
    who, speaker = item.who, item.speaker
    named = any(name.lower() in words.lower() for name in (who, speaker))
    return words if named or is_description(who) else addressed(words, speaker)


def addressed(words: str, name: str) -> str:
    """Return a name and words for its bearer as one sentence."""
    first = words.split(maxsplit=1)[0].strip(".,;:!?")
    small = len(first) > 1 and any(first.lower() in known for known in STOP_WORDS.values())
    return f"{name}, {words[0].lower() + words[1:] if small else words}"


def once_named(words: str, who: str) -> str:
    """Return the words with the speaker addressed by name once at most."""
    first, *rest = words.split(f", {who}")
    kept = first + (f", {who}" + rest[0] if rest else "")
    return kept + "".join(part if part[:1] in ".,:;?!" else f", {who}{part}" for part in rest[1:])


def unrepeated(view: View, words: str, before: Sequence[str]) -> str:
    """Return the words, or filler phrases if the character said the words before.

    ``before`` are the words that this reply already holds.
    """
    spoken = {part for said in before for part in long_sentences(said)}
    said = {line.strip().lower() for line in (*view.transcript.own, *view.scene.excuses)}
    if words.strip().lower() not in said and spoken.isdisjoint(long_sentences(words)):
        return words
    leads = view.options("filler")
    tries = [*leads, *(f"{lead} {other}" for lead in leads for other in leads if lead != other)]
    return next((text for text in tries if text.strip().lower() not in said), words)


def delivered(view: View, spoken: Sequence[tuple[View, str]], calls: Calls) -> LLMReply:
    """Return the reply that speaks aloud or whispers, by tools or as plain text."""
    aloud = " ".join(words for item, words in spoken if not item.private)
    whispered = [(item.speaker, words) for item, words in spoken if item.private]
    if aloud and SAY in view.tools:
        return with_calls((*calls, (SAY, {"text": aloud})))
    if whispered and not aloud and WHISPER in view.tools:
        to, words = whispered[0]
        return with_calls((*calls, (WHISPER, {"text": words, "target": to})))
    if not spoken:
        return with_calls((*calls, (NOOP, {"reason": "nothing more to say"})))
    return with_calls(calls, " ".join(filter(None, (aloud, *(words for _, words in whispered)))))


def with_calls(calls: Calls, content: str = "") -> LLMReply:
    """Return a reply that calls tools, or has only words."""
    made = tuple(
        ToolCallRequest(f"offline{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls)
    )
    return LLMReply(content, made, "tool_calls" if made else "stop", model=MODEL)

"""The offline `LLMClient`: decides from a request what to do and say."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.offline.actions import Step, done, next_step
from evennia_ai.offline.autonomous_actions import act_autonomously
from evennia_ai.offline.heard_lines import Heard, gather, requested_action, words_for
from evennia_ai.offline.outcomes import words_for_step
from evennia_ai.offline.record_keeping import JOURNAL, journals_only, summarise, worth_noting
from evennia_ai.offline.request_view import RequestView, read_request
from evennia_ai.offline.requested_actions import RequestedAction
from evennia_ai.ports import TASK_SUMMARY, LLMReply, LLMRequest, ToolCallRequest

MODEL = "offline"
Calls = tuple[tuple[str, dict[str, str]], ...]


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
        requested = requested_action(replace(view, speaker=item.speaker), item)
        if requested:
            return act(view, heard, item, requested)
    return speak(view, heard, (), {})


def spoke_this_turn(view: RequestView) -> bool:
    """Return True if this turn tried to speak already; it does not try again."""
    return bool(done(view.transcript.acts, "say") or done(view.transcript.acts, "whisper"))


def act(
    view: RequestView, heard: Sequence[Heard], item: Heard, requested: RequestedAction
) -> LLMReply:
    """Return the next step of a requested action; the last step has words."""
    step = next_step(requested, view.scene.situation, view.transcript.acts, view.tools)
    if not step.end:
        return with_calls(announced(view, step, requested))
    words = words_for_step(replace(view, speaker=item.speaker), requested, step)
    return speak(view, heard, step.calls, {item.speaker: words})


def announced(view: RequestView, step: Step, requested: RequestedAction) -> Calls:
    """Return the calls of a step, with an emote before a walk that others may see."""
    walks = any(name == "move" for name, _ in step.calls) and not done(view.transcript.acts, "move")
    private = all(line.private for line in view.scene.lines)
    if not walks or private or not may_emote(view):
        return step.calls
    return (("emote", {"text": f"nods to {requested.speaker} and sets off."}), *step.calls)


def may_emote(view: RequestView) -> bool:
    """Return True if this turn can still make an emote."""
    return "emote" in view.tools and not done(view.transcript.acts, "emote")


def speak(
    view: RequestView, heard: Sequence[Heard], calls: Calls, given: dict[str, str]
) -> LLMReply:
    """Return a reply with words for every speaker, after the given calls."""
    speeches, emotes = [], []
    for item in heard:
        own = replace(view, speaker=item.speaker)
        emote, words = ("", given[item.speaker]) if item.speaker in given else words_for(own, item)
        if emote and not item.private:
            emotes.append(emote)
        if words and len(heard) > 1 and not names(words, own):
            words = f"{item.speaker}: {words}"
        if words:
            said = unrepeated(view, once_named(words, own.who))
            speeches.append(Speech(item.speaker, said, item.private))
    if emotes and may_emote(view) and not any(name == "emote" for name, _ in calls):
        calls = (*calls, ("emote", {"text": emotes[0]}))
    return delivered(view, speeches, (*notes(view), *calls))


def notes(view: RequestView) -> Calls:
    """Return the journal calls that come before the answer, once in a turn."""
    if JOURNAL not in view.tools or done(view.transcript.acts, JOURNAL):
        return ()
    noted = worth_noting(view.scene.lines, view.scene.name)
    return tuple((JOURNAL, {"content": line}) for line in noted)


def names(words: str, view: RequestView) -> bool:
    """Return True if the words name the speaker they are for."""
    return view.who.lower() in words.lower() or view.speaker.lower() in words.lower()


def once_named(words: str, who: str) -> str:
    """Return the words with the speaker addressed by name once at most."""
    parts = re.split(rf", {re.escape(who)}(?=[.,:;?!])", words)
    return parts[0] + (f", {who}" + "".join(parts[1:]) if len(parts) > 1 else "")


def unrepeated(view: RequestView, words: str) -> str:
    """Return the words, with a lead such as "Again: " if they were spoken before."""
    lines = (*view.transcript.own, *view.scene.excuses)
    said = {line.strip().lower() for line in lines}
    if words.strip().lower() not in said:
        return words
    leads = (
        "Again: ", "As before: ", "Once more: ", "I can only repeat: ", "It is still so: ", "Hm. ",
        "Well. ", "So. ", "Look: ",
    )  # fmt: skip
    tries = [lead + words for lead in leads] + [a + b + words for a in leads for b in leads]
    return next((text for text in tries if text.strip().lower() not in said), words)


def delivered(view: RequestView, speeches: Sequence[Speech], calls: Calls) -> LLMReply:
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

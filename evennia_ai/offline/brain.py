"""The `LLMClient`: reads a request, decides what to do and what to say, and replies at once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.offline.actions import Step, done, next_step
from evennia_ai.offline.conversation import Heard, gather, wish_of, words_for
from evennia_ai.offline.keeping import JOURNAL, journal, journals_only, summarise, worth_noting
from evennia_ai.offline.outcomes import words_for_step
from evennia_ai.offline.request_view import Mind, read_mind
from evennia_ai.offline.unasked import act_autonomously
from evennia_ai.offline.wishes import Wish
from evennia_ai.ports import TASK_SUMMARY, LLMReply, LLMRequest, ToolCallRequest

MODEL = "offline"
Calls = tuple[tuple[str, dict[str, str]], ...]


@dataclass(frozen=True)
class Speech:
    """Words for somebody; ``private`` where only he may hear them."""

    to: str
    words: str
    private: bool


class OfflineBrain:
    """An `LLMClient` that asks nobody."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Answer at once. Fires with the reply; never fails."""
        return succeed(think(request))


def think(request: LLMRequest) -> LLMReply:
    """The reply to a request; the same for the same request, always."""
    if request.scene.task == TASK_SUMMARY:
        return summarise(request.scene)
    if journals_only(request):
        return journal(request)
    mind = read_mind(request)
    if not request.scene.lines:
        return with_calls(act_autonomously(mind))
    if spoke_this_turn(mind):
        return with_calls((("noop", {"reason": "I have said what I could"}),))
    heard = gather(mind)
    for item in heard:
        wish = wish_of(mind, item)
        if wish:
            return act(mind, heard, item, wish)
    return speak(mind, heard, (), {})


def spoke_this_turn(mind: Mind) -> bool:
    """True where words of this turn did not get through: they are not tried for ever."""
    return bool(done(mind.past.acts, "say") or done(mind.past.acts, "whisper"))


def act(mind: Mind, heard: Sequence[Heard], item: Heard, wish: Wish) -> LLMReply:
    """The next step of what was asked for; words only at its end."""
    step = next_step(wish, mind.scene.situation, mind.past.acts, mind.tools)
    if not step.end:
        return with_calls(announced(mind, step, wish))
    return speak(mind, heard, step.calls, {item.speaker: words_for_step(mind, wish, step)})


def announced(mind: Mind, step: Step, wish: Wish) -> Calls:
    """The calls of a step; leaving is shown before it is done, as far as others may see it."""
    walks = any(name == "move" for name, _ in step.calls) and not done(mind.past.acts, "move")
    private = all(line.private for line in mind.scene.lines)
    if not walks or private or "emote" not in mind.tools or done(mind.past.acts, "emote"):
        return step.calls
    return (("emote", {"text": f"nods to {wish.speaker} and sets off."}), *step.calls)


def speak(mind: Mind, heard: Sequence[Heard], calls: Calls, given: dict[str, str]) -> LLMReply:
    """Words for everybody who was heard, with the calls that come before them."""
    speeches, gestures = [], []
    for item in heard:
        emote, words = ("", given[item.speaker]) if item.speaker in given else words_for(mind, item)
        if emote and not item.private:
            gestures.append(emote)
        if words:
            named = (
                words
                if len(heard) == 1 or names(words, item.speaker, mind)
                else f"{item.speaker}: {words}"
            )
            speeches.append(
                Speech(
                    item.speaker,
                    unrepeated(mind, once_named(named, mind.called(item.speaker))),
                    item.private,
                )
            )
    can_show = (
        "emote" in mind.tools
        and not done(mind.past.acts, "emote")
        and not any(n == "emote" for n, _ in calls)
    )
    if gestures and can_show:
        calls = (*calls, ("emote", {"text": gestures[0]}))
    return delivered(mind, speeches, (*notes(mind), *calls))


def notes(mind: Mind) -> Calls:
    """What is written down before it answers, once in a turn."""
    if JOURNAL not in mind.tools or done(mind.past.acts, JOURNAL):
        return ()
    noted = worth_noting(mind.scene.lines, mind.scene.name)
    return tuple((JOURNAL, {"content": line}) for line in noted)


def names(words: str, speaker: str, mind: Mind) -> bool:
    """True where the words name the one they are for."""
    return mind.called(speaker).lower() in words.lower() or speaker.lower() in words.lower()


def once_named(words: str, who: str) -> str:
    """The words with the speaker's name as address no more than once."""
    parts = re.split(rf", {re.escape(who)}(?=[.,:;?!])", words)
    return parts[0] + (f", {who}" + "".join(parts[1:]) if len(parts) > 1 else "")


def unrepeated(mind: Mind, words: str) -> str:
    """The words, with something before them where it said just this before."""
    said = {line.strip().lower() for line in mind.past.own}
    if words.strip().lower() not in said:
        return words
    leads = (
        "Again: ",
        "As before: ",
        "Once more: ",
        "I can only repeat: ",
        "It is still so: ",
        "Hm. ",
        "Well. ",
        "So. ",
        "Look: ",
    )
    tries = [lead + words for lead in leads] + [a + b + words for a in leads for b in leads]
    return next((text for text in tries if text.strip().lower() not in said), words)


def delivered(mind: Mind, speeches: Sequence[Speech], calls: Calls) -> LLMReply:
    """The reply that brings the words to the right ears, by tools or as plain text."""
    aloud = " ".join(speech.words for speech in speeches if not speech.private)
    whispers = [speech for speech in speeches if speech.private]
    plain = " ".join(filter(None, (aloud, *(s.words for s in whispers))))
    final: list[tuple[str, dict[str, str]]] = []
    if aloud and "say" in mind.tools:
        final.append(("say", {"text": aloud}))
    if "whisper" in mind.tools:
        final += [
            ("whisper", {"text": s.words, "target": s.to})
            for s in whispers[: 1 if not aloud else 0]
        ]
    if plain and not final:
        return with_calls(calls, plain) if calls else LLMReply(plain, model=MODEL)
    if not final:
        final.append(("noop", {"reason": "nothing more to say"}))
    return with_calls((*calls, *final))


def with_calls(calls: Calls, content: str = "") -> LLMReply:
    """A reply that calls tools."""
    made = tuple(
        ToolCallRequest(f"offline{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls)
    )
    return LLMReply(content, made, "tool_calls", model=MODEL)

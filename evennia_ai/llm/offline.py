"""A mind without a model: deterministic, in persona, and honest about what it is.

It needs no key and no network. It answers from the persona's own sentences, put into the first
person, and from what the speaker said earlier in the prompt, so it knows nothing that the prompt's
audience may not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.ports import HeardLine, LLMReply, LLMRequest, Scene, ToolCallRequest

MODEL = "offline"
HONEST = (
    "I am {name}, and no language model stands behind me just now: I answer with the offline "
    "brain, which is simple but always here."
)
GREETING = re.compile(
    r"\b(hello|hi|hey|greetings|good (morning|day|evening)|hail|hallo|hola)\b", re.I
)
FAREWELL = re.compile(r"\b(bye|goodbye|farewell|good night|see you|take care)\b", re.I)
THANKS = re.compile(r"\b(thanks|thank you|cheers)\b", re.I)
WHO = re.compile(r"\b(who are you|your name|what do you do|about yourself)\b", re.I)
NATURE = re.compile(r"\b(offline|language model|an ai|a bot|a robot|a machine|artificial)\b", re.I)
RECALL = re.compile(r"\b(remember|did i (say|tell)|told you|what i said)\b", re.I)
WHERE = re.compile(r"\b(where (am i|are we)|this place)\b", re.I)
WORDS = re.compile(r"[^\W\d_]{3,}")
COMMON = frozenset(
    "the and you your are for with that this what who how why when where have has had was were "
    "can could would will about from they them there their not but any some does did".split()
)
FIRST_PERSON = (
    (r"\byou are\b", "I am"),
    (r"\byou were\b", "I was"),
    (r"\byou have\b", "I have"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"(?<=\bto )you\b|(?<=\bfor )you\b|(?<=\bwith )you\b|(?<=\bat )you\b", "me"),
    (r"\byou\b", "I"),
)


class OfflineBrain:
    """An `LLMClient` that asks nobody."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Answer at once. Fires with the reply; never fails."""
        scene = request.scene
        offered = {tool["function"]["name"] for tool in request.tools}
        words = " ".join(answer_line(line, scene, request) for line in scene.lines)
        if not words:
            return succeed(reply_with_call("noop", {"reason": "nobody spoke to me"}))
        private = all(line.private for line in scene.lines)
        name = "whisper" if private else "say"
        if name not in offered:
            return succeed(LLMReply(words, model=MODEL))
        return succeed(reply_with_call(name, {"text": words}))


def reply_with_call(name: str, arguments: dict[str, str]) -> LLMReply:
    """A reply that calls one tool."""
    call = ToolCallRequest("offline", name, json.dumps(arguments, ensure_ascii=False))
    return LLMReply("", (call,), "tool_calls", model=MODEL)


def answer_line(line: HeardLine, scene: Scene, request: LLMRequest) -> str:
    """One or two sentences for one heard line."""
    speaker, text = line.speaker, line.text
    facts = first_person_sentences(scene.persona.text)
    if line.kind == "give":
        return f"For me, {speaker}? {text[:1].upper()}{text[1:]}: thank you."
    if NATURE.search(text):
        return HONEST.format(name=scene.name)
    if RECALL.search(text):
        return recall(speaker, line, request)
    if WHO.search(text):
        return f"{scene.name} is my name. " + " ".join(facts[:2])
    if WHERE.search(text) and scene.situation.place:
        return f"This is {scene.situation.place}, {speaker}."
    if GREETING.search(text):
        return f"Welcome, {speaker}. " + (facts[0] if facts else f"I am {scene.name}.")
    if FAREWELL.search(text):
        return f"Farewell, {speaker}. Come back soon."
    if THANKS.search(text):
        return f"You are welcome, {speaker}."
    if line.kind == "emote":
        return f"I see you, {speaker}."
    return from_persona(line, facts, request)


def first_person_sentences(persona: str) -> list[str]:
    """The persona's sentences about "you" as the character would say them of itself."""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(persona.split()))
    return [to_first_person(s) for s in sentences if re.search(r"\byou", s, re.I)]


def to_first_person(sentence: str) -> str:
    """Turn "you" into "I"; the first letter stays a capital."""
    for pattern, replacement in FIRST_PERSON:
        sentence = re.sub(pattern, replacement, sentence, flags=re.I)
    return sentence[:1].upper() + sentence[1:]


def content_words(text: str) -> set[str]:
    """The words that carry meaning, in lower case, without a plural s."""
    found = (word.lower() for word in WORDS.findall(text))
    return {word.rstrip("s") for word in found if word not in COMMON}


def from_persona(line: HeardLine, facts: Sequence[str], request: LLMRequest) -> str:
    """The fact nearest to what was said, or the next one that was not told yet."""
    asked = content_words(line.text)
    told = "\n".join(
        str(m["content"]) + json.dumps(m.get("tool_calls", ""), ensure_ascii=False)
        for m in request.messages[1:]
    )
    scored = sorted(facts, key=lambda fact: -len(asked & content_words(fact)))
    if scored and asked & content_words(scored[0]):
        return scored[0]
    untold = [fact for fact in facts if fact not in told]
    if untold:
        return f"I hear you, {line.speaker}. {untold[0]}"
    return f"I hear you, {line.speaker}, but that is beyond me."


def recall(speaker: str, line: HeardLine, request: LLMRequest) -> str:
    """What the speaker said before, as far as it stands in the prompt."""
    prefix = re.compile(rf"^{re.escape(speaker)} (?:says|whispers to you): (.*)$")
    said = [
        match.group(1)
        for message in request.messages
        if message["role"] == "user" and (match := prefix.match(str(message["content"])))
    ]
    earlier = [text for text in said if text != line.text and not RECALL.search(text)]
    wanted = content_words(line.text)
    near = [text for text in earlier if wanted & content_words(text)] or earlier
    if not near:
        return f"I remember nothing of that, {speaker}."
    return f'You told me, {speaker}: "{near[-1]}"'

"""The words in a message with their speakers, split into sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import wrap

from evennia_ai.messages import (
    ACTS_OUT,
    CLAIMED,
    MARK,
    PERCEIVED,
    PERFORMED,
    SAYS,
    WHISPERS,
    Audience,
    Message,
)
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.model_text import read_object

MOST_CHARS = 220
MOST_RESULT_CHARS = 240

# The result of an own act. "You gave Ann gold: ..." would be the looks of somebody of that name.
OWN_ACT = re.compile(r"You [^:]+\Z")
SPOKEN_BY_TOOL = ("say", "whisper", "emote")
HEARD = re.compile(
    rf"(?P<speaker>[^:\n]{{1,60}}?) (?:{SAYS}|{WHISPERS}|whispers: |asks: |(?P<acted>{ACTS_OUT}))"
)
SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)[\"”»'’)]*\s+"
    r"|(?<=[。！？])|(?<!\s)\s*\n\s*|;\s+"
)


@dataclass(frozen=True, slots=True)
class Source:
    """The speaker of some words, by name and dbref, and their place in the log."""

    speaker: str  # empty for what was only seen
    seq: int
    audience: Audience | None  # who alone may know them; None if public
    dbref: str = ""
    own: bool = False  # True for the character's own words
    nature: str = CLAIMED  # or `PERFORMED`, or `PERCEIVED`


def spoken(message: Message, own_name: str) -> list[tuple[Source, str]]:
    """Return the texts in a message with their sources."""
    meta, content = message["metadata"], message["content"]
    seq, audience = int(meta.get("seq") or 0), audience_of(message)
    match message["role"]:
        case "user":
            nature = str(meta.get("nature") or "")
            speaker, words, nature = heard(content, str(meta.get("speaker_name") or ""), nature)
            dbref = str(meta.get("speaker") or "")
            own = not dbref and bool(own_name) and speaker == own_name
            return [(Source(speaker, seq, audience, dbref, own, nature), words)]
        case "assistant":
            mine = Source(own_name, seq, audience, own=True)
            return [(mine, text) for text in [content, *words_of_calls(message)] if text]
        case "tool" if OWN_ACT.match(content) and len(content) <= MOST_RESULT_CHARS:
            return [(Source("", seq, audience, nature=PERCEIVED), content)]
    return []


def heard(content: str, speaker: str, nature: str = "") -> tuple[str, str, str]:
    """Return the speaker, the words without "Ann says:", and the nature of a heard line."""
    # What the game perceived has no speaker.
    if nature == PERCEIVED:
        return "", content.removeprefix(MARK).strip(), PERCEIVED
    found = HEARD.match(content)
    if found and speaker in ("", found["speaker"]):
        nature = PERFORMED if found["acted"] else CLAIMED
        return found["speaker"], content[found.end() :], nature
    return speaker, content.removeprefix(speaker), nature or CLAIMED


def words_of_calls(message: Message) -> list[str]:
    """Return what the character said by tools."""
    said = []
    for call in message.get("tool_calls") or ():
        if call["function"]["name"] in SPOKEN_BY_TOOL:
            words = (read_object(call["function"]["arguments"]) or {}).get("text")
            said.append(words if isinstance(words, str) else "")
    return said


def sentences_of(text: str) -> list[str]:
    """Return a text's sentences; a long one comes in pieces."""
    sentences = map(str.strip, SENTENCE_END.split(text))
    return [piece for sentence in sentences for piece in wrap(sentence, MOST_CHARS)]

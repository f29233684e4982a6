"""The words in a message with their speakers, split into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evennia_ai.messages import Audience, Message
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.model_text import read_object

MOST_CHARS = 220
MOST_RESULT_CHARS = 240

SPOKEN_BY_TOOL = ("say", "whisper", "emote")
SAYS = re.compile(r" (?:says|whispers(?: to you)?|asks): ")
HEARD = re.compile(rf"(?P<speaker>[^:\n]{{1,60}}?){SAYS.pattern}")
BULLET = re.compile(r"- (?:(?P<speaker>[^:\n]{1,60}?)(?P<private> \(whispered\))?: )?(?P<text>.+)")
WHISPERED = " (whispered)"
SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)[\"”»'’)]*\s+"
    r"|(?<=[。！？])|\s*\n\s*|;\s+"
)
MAY_END = re.compile(r"[.!?…。！？\n;]")
CLAUSE_END = re.compile(r"(?<=,) | (?=and |but |und |и |et |y )|(?<=，)|(?<=、)")


@dataclass(frozen=True, slots=True)
class Source:
    """The speaker of some words, by name and dbref, and their place in the log."""

    speaker: str
    seq: int
    audience: Audience | None
    dbref: str = ""
    own: bool = False  # True for the character's own words


def spoken(message: Message, own_name: str) -> list[tuple[Source, str]]:
    """Return the texts in a message with their sources."""
    meta = message["metadata"]
    seq, audience = int(meta.get("seq") or 0), audience_of(message)
    content = message.get("content") or ""
    if not isinstance(content, str):
        return []
    if meta.get("type") == "compaction":
        return [_noted(line, seq, audience) for line in content.splitlines() if line[:1] != "["]
    match message["role"]:
        case "user":
            speaker = str(meta.get("speaker_name") or "")
            source, words = _heard(content, speaker, seq, audience)
            dbref = str(meta.get("speaker") or "")
            own_line = not dbref and bool(own_name) and source.speaker == own_name
            return [(replace(source, dbref=dbref, own=own_line), words)]
        case "assistant":
            own = Source(own_name, seq, audience, own=True)
            return [(own, text) for text in [content, *_words_of_calls(message)] if text]
        case "tool" if content.startswith("You ") and len(content) <= MOST_RESULT_CHARS:
            return [(Source("", seq, audience), content)]
    return []


def _heard(content: str, speaker: str, seq: int, audience: Audience | None) -> tuple[Source, str]:
    """Return the words without "Ann says:"; emotes and notices have no speaker."""
    if content.startswith("(") and content.endswith(")"):
        return Source("", seq, audience), content[1:-1]
    if speaker:
        said = content.removeprefix(speaker)
        found = SAYS.match(said) if said != content else None
        return Source(speaker, seq, audience), said[found.end() :] if found else content
    found = HEARD.match(content)
    return (
        (Source(found["speaker"], seq, audience), content[found.end() :])
        if found
        else (Source("", seq, audience), content)
    )


def _noted(line: str, seq: int, audience: Audience | None) -> tuple[Source, str]:
    """Return a line of an earlier summary; our own bullets name their speaker."""
    found = BULLET.fullmatch(line)
    if not found:
        return Source("", seq, audience), line
    return Source(found["speaker"] or "", seq, audience), found["text"]


def _words_of_calls(message: Message) -> list[str]:
    """Return what the character said by tools."""
    said = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        if function.get("name") in SPOKEN_BY_TOOL:
            words = (read_object(function.get("arguments") or "") or {}).get("text")
            said.append(words if isinstance(words, str) else "")
    return said


def sentences_of(text: str) -> list[str]:
    """Return a text's sentences; a long one comes in clauses or in pieces."""
    found: list[str] = []
    parts = SENTENCE_END.split(text) if MAY_END.search(text, 0, len(text) - 1) else (text,)
    for sentence in map(str.strip, parts):
        if len(sentence) <= MOST_CHARS:
            found.append(sentence)
        else:
            found += _pieces(CLAUSE_END.split(sentence))
    return [sentence for sentence in found if sentence]


def _pieces(clauses: Iterable[str]) -> list[str]:
    """Return clauses joined up to the limit; longer ones are cut between words."""
    pieces: list[str] = [""]
    for clause in clauses:
        for start in _cuts(clause):
            joined = f"{pieces[-1]} {start}".strip()
            if len(joined) <= MOST_CHARS:
                pieces[-1] = joined
            else:
                pieces.append(start.strip())
    return pieces


def _cuts(clause: str) -> list[str]:
    cuts = []
    while len(clause) > MOST_CHARS:
        at = clause.rfind(" ", MOST_CHARS // 2, MOST_CHARS)
        at = at if at > 0 else MOST_CHARS
        cuts.append(clause[:at])
        clause = clause[at:]
    return [*cuts, clause]

"""Check that a summary does not state as a fact that the character is a program.

Players claim such things, and small models repeat them. A summary replaces the conversation, so
"Tobias is an AI language model" may stand in it only as somebody's claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])?\s*")
# Marks of calls and tags, and words for what only a program has.
CODE = re.compile(r"[{}`]|\"\w+\"\s*:|\b[a-z]+_[a-z][a-z_]*\b|</?[a-z]\w*>", re.IGNORECASE)
MACHINERY = re.compile(
    r"\bsystem ?prompts?\b|\bprompts\b|\bJSON\b|\b(?:tool|function)[ -]?(?:calls?|lists?)\b"
    r"|\b(?:available|list of|following) (?:tools|functions)\b|\bWerkzeugliste\b|\bFunktionsaufruf"
    r"|\bverfügbaren? (?:Werkzeuge|Funktionen)\b",
    re.IGNORECASE,
)
PROGRAM = (
    r"(?:AI\b|A\.I\.|artificial intelligence|(?:large )?language model|LLM\b|chat ?-?bot|bot\b|GPT"
    r"|(?:computer |software )?program\b|(?:virtual|digital|helpful|AI)[ -]assistant"
    r"|assistant\b(?! (?:to|of|at|in|for)\b)|KI\b|künstliche Intelligenz|Sprachmodell"
    r"|(?:Computer)?[Pp]rogramm\b|Assistent(?:in)?\b(?! (?:von|des|der|bei|in)\b))"
)
BEING = r"(?:is|was|are|am|'s|'m|'re|ist|bin|bist|war|sei|being)"
AS_PROGRAM = rf"(?:as|als) (?:an? |eine? )?{PROGRAM}"
IS_PROGRAM = rf"{BEING}(?: \w++){{0,5}}? {PROGRAM}"
SELF = "i|you|ich|du|the character|der charakter|die figur"
SAYS = re.compile(
    r"\b(?:says?|said|claims?|claimed|insists?|insisted|thinks?|thought|believes?|believed|asks?"
    r"|asked|tells?|told|calls?|called|accus\w+|suspects?|wonders?|jokes?|joked|suggest\w*"
    r"|according to|allegedly|tr(?:ies|ied)|wants?|wanted|demand\w*|sagte?|behauptete?|meinte?"
    r"|glaubte?|fragte?|nannte|nennt|hielt|hält|laut|angeblich|will|wollte|verlangte?)\b",
    re.IGNORECASE,
)
HEADINGS = frozenset(
    """aim|constraints|progress|done|in progress|decisions|next|context|facts|key facts|summary|note
    |notes|people|places|events|state|tasks|promises|identity|role|character|background|ziel|stand
    |fakten|personen|kontext|zusammenfassung|rolle""".replace("\n    ", "").split("|")
)
SPOKEN = re.compile(
    r"^(?P<speaker>[^:]{1,60}?)(?: (?:says|whispers to you|whispers|asks|acts out))?: "
)


def without_claims(text: str, name: str, lines: Iterable[str] = ()) -> str:
    """Return a summary without sentences that state that the character is a program."""
    # If a player claimed it in ``lines`` of the conversation, the sentence stays as that player's
    # claim ("Ann claims: ..."); else it is dropped. Sentences that quote a call, a tag or a list of
    # tools are dropped, too. Empty headings may stay.
    claimant = find_claimant(lines, name)
    kept = []
    for line in text.splitlines():
        mark = BULLET.match(line)
        start = mark.end() if mark else 0
        sentences = SENTENCE_END.split(line[start:])
        told = [as_claim(sentence, name, claimant) for sentence in sentences]
        if any(told) or not line.strip():
            kept.append(line[:start] + " ".join(filter(None, told)))
    return "\n".join(kept).strip()


def as_claim(sentence: str, name: str, claimant: str) -> str:
    """Return a sentence as it may stand in a summary, empty if it may not."""
    if CODE.search(sentence):
        return ""
    machinery = MACHINERY.search(sentence)
    if machinery:
        return sentence if is_attributed(sentence, name, machinery.start()) else ""
    if not takes_for_program(sentence, name):
        return sentence
    return f"{claimant} claims: {sentence}" if claimant else ""


def takes_for_program(sentence: str, name: str) -> bool:
    """Return True if a sentence calls the character a program and names nobody who says so."""
    program = program_at(sentence, name)
    return program is not None and not is_attributed(sentence, name, program)


def program_at(sentence: str, name: str) -> int | None:
    """Return where a sentence calls the character an AI, a bot or a program, None if nowhere."""
    plain = sentence.replace("’", "'")
    own = [re.escape(part) for part in {name, *name.split()} if len(part) > 1]
    who = "|".join([SELF, *own])
    subject = rf"\b(?:{who})(?:,?(?: [^\s,.']{{1,30}}+){{1,5}}?,?)?(?: |(?='))"
    pattern = rf"(?:{subject}{IS_PROGRAM}|\b{AS_PROGRAM})"
    found = re.search(pattern, plain, re.IGNORECASE)
    return found.start() if found else None


def is_attributed(sentence: str, name: str, end: int) -> bool:
    """Return True if a sentence names somebody else who says what begins at ``end``."""
    spoken = SPOKEN.match(sentence)
    if spoken and spoken["speaker"].casefold() not in HEADINGS:
        return spoken["speaker"].casefold() != name.casefold()
    said = SAYS.search(sentence, 0, end)
    if said is None:
        return False
    return not sentence[: said.start()].strip().casefold().endswith(name.casefold())


def find_claimant(lines: Iterable[str], name: str) -> str:
    """Return the first player who called the character a program, empty if nobody did."""
    for line in lines:
        spoken = SPOKEN.match(line)
        if not spoken or spoken["speaker"].casefold() == name.casefold():
            continue
        if program_at(line[spoken.end() :], name) is not None:
            return spoken["speaker"]
    return ""

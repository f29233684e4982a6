"""What speakers told: their lines without questions, and facts such as names in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.languages import Language, language_of, read
from evennia_ai.offline.transcript import Said
from evennia_ai.offline.words import sentences, words

LONGEST = 160  # characters of a line that is told again whole
SPOKEN = frozenset({"say", "whisper", "acted"})


@dataclass(frozen=True)
class Told:
    """What a speaker told in one line, or in one sentence of a long one."""

    speaker: str
    text: str
    private: bool
    facts: dict[str, str] = field(default_factory=dict)


def is_question(text: str, language: Language) -> bool:
    """Return True for a sentence that asks and states nothing."""
    return text.rstrip(' "”)').endswith("?") or language.finds("question", text)


def read_told(heard: Sequence[Said], fallback: str) -> list[Told]:
    """Return the statements in what was heard, oldest first; ``fallback`` is a language's code."""
    found: list[Told] = []
    for said in heard:
        if said.kind not in SPOKEN or not said.speaker:
            continue
        language = read(language_of(said.text) or fallback)
        plain = language.plain(said.text)
        stated = [part for part in sentences(plain) if not is_question(part, language)]
        facts: dict[str, str] = {}
        for part in stated:
            facts |= facts_in(part, language)
        whole = " ".join(stated)
        parts = [whole] if len(whole) <= LONGEST else stated
        private = said.kind == "whisper"
        found += [Told(said.speaker, p, private, facts) for p in parts if len(words(p)) > 1]
    return found


def facts_in(sentence: str, language: Language) -> dict[str, str]:
    """Return the named facts in a sentence, by the names in the language's data."""
    found = {}
    for key in language.data.get("facts", ()):
        # Case matters: a name is told by its capital.
        match = re.search(language.data["facts"][key], sentence)
        value = next((v for v in match.groups() if v), "").strip(" '-.,;!") if match else ""
        if value and not (key == "name" and language.finds("no_name", value)):
            found[key] = value
    return found


def latest(told: Sequence[Told], speaker: str, key: str) -> Told | None:
    """Return the last sentence in which a speaker told a fact."""
    return next((t for t in reversed(told) if t.speaker == speaker and key in t.facts), None)

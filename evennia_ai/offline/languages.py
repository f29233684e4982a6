"""The languages of the offline brain, read from the files in ``data``.

English and German have everything. The others have the phrases of a first conversation.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from evennia_ai.offline.words import words
from evennia_ai.policy.retrieval.languages import STOP_WORDS
from evennia_ai.policy.retrieval.words import find_words

DATA = Path(__file__).parent / "data"
CODES = ("en", "de", "es", "fr", "it", "ru")
ENGLISH, GERMAN = "en", "de"
SHARE_OF_WORDS = 0.3  # of a line's words that a language must know, to be the line's language
QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Intent:
    """What a sentence can be, and what to say to it; handlers in `answers` may say more."""

    key: str
    match: re.Pattern[str]
    say: tuple[str, ...] = ()


@dataclass(frozen=True)
class Language:
    """One language; see ``data/en.toml`` for the parts."""

    code: str
    common: frozenset[str]
    marks: re.Pattern[str]
    intents: tuple[Intent, ...]
    phrases: Mapping[str, tuple[str, ...]]
    data: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(self.code)

    @property
    def full(self) -> bool:
        """Return True if it has more than the phrases of a first conversation."""
        return "requests" in self.data

    def intent_of(self, text: str) -> tuple[Intent, re.Match[str]] | None:
        """Return the first intent that matches a sentence, and its match."""
        for intent in self.intents:
            found = intent.match.search(text)
            if found:
                return intent, found
        return None

    def pattern(self, table: str, key: str) -> re.Pattern[str]:
        """Return a pattern of a table; one that never matches if the table has none."""
        return _compiled(self.data.get(table, {}).get(key, ""))

    def plain(self, text: str) -> str:
        """Return a line on one line, with the short spellings of chat expanded."""
        table = self.data.get("spelling", {})
        even = " ".join(text.translate(QUOTES).split())
        return re.sub(r"(?<![\w'-])[A-Za-z]+(?![\w'-])", lambda m: _spelled(m[0], table), even)

    def content(self, text: str) -> list[str]:
        """Return the stems of the words that carry meaning, each once."""
        return list(dict.fromkeys(find_words(text, self._leave_out, self.code)))

    @property
    def _leave_out(self) -> frozenset[str]:
        return frozenset(self.data.get("content_stop", "").split())

    def near(self, stem: str) -> frozenset[str]:
        """Return the stems of similar meaning."""
        return _near_table(self.code).get(stem, frozenset())


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE) if pattern else NEVER


def _spelled(word: str, table: Mapping[str, str]) -> str:
    meant = table.get(word.lower())
    if meant is None:
        return word
    return meant[:1].upper() + meant[1:] if word[:1].isupper() else meant


@cache
def read(code: str) -> Language:
    """Return the language of a code."""
    data = tomllib.loads((DATA / f"{code}.toml").read_text(encoding="utf-8"))
    rows = data["intents"]
    if isinstance(rows, dict):
        rows = [{"key": key, "match": match} for key, match in rows.items()]
    intents = tuple(
        Intent(row["key"], _compiled(row["match"]), tuple(row.get("say", ()))) for row in rows
    )
    phrases = {intent.key: intent.say for intent in intents if intent.say}
    phrases |= {key: tuple(said) for key, said in data["phrases"].items()}
    common = frozenset(data["common"].split()) | STOP_WORDS.get(code, frozenset())
    return Language(code, common, _compiled(data.get("marks", "")), intents, phrases, data)


@cache
def _near_table(code: str) -> dict[str, frozenset[str]]:
    language, table = read(code), dict[str, set[str]]()
    for group in language.data.get("near", ()):
        stems = set(find_words(group, (), code))
        for item in stems:
            table.setdefault(item, set()).update(stems)
    return {item: frozenset(group - {item}) for item, group in table.items()}


def language_of(text: str) -> str:
    """Return the code of a line's language, "" if nothing tells it."""
    found = words(text)
    points = {}
    for code in CODES:
        language = read(code)
        known = sum(word in language.common for word in found)
        points[code] = known + bool(language.marks.search(text))
    best = max(CODES, key=lambda code: points[code])
    enough = points[best] >= max(1.0, len(found) * SHARE_OF_WORDS)
    unclear = sum(count == points[best] for count in points.values()) > 1
    return best if enough and not unclear else ""

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
    """A kind of sentence and its phrases; `handlers` may say more.

    ``facts`` finds the persona's sentences that answer it. If ``seek``, anything known may answer.
    """

    key: str = ""
    match: re.Pattern[str] = NEVER
    say: tuple[str, ...] = ()
    facts: re.Pattern[str] = NEVER
    seek: bool = False


@dataclass(frozen=True, eq=False)
class Language:
    """One language; see ``data/en.toml`` for the parts."""

    code: str
    common: frozenset[str]
    marks: re.Pattern[str]
    intents: tuple[Intent, ...]
    phrases: Mapping[str, tuple[str, ...]]
    data: Mapping[str, Any]

    @property
    def full(self) -> bool:
        """Return True if it has more than the phrases of a first conversation."""
        return "requests" in self.data

    def intent_of(self, text: str) -> tuple[Intent, str]:
        """Return the first intent that matches a sentence, and its topic; `Intent()` if none."""
        for intent in self.intents:
            found = intent.match.search(text)
            if found:
                topic = next((value for value in found.groups() if value), "")
                return intent, topic.strip(" ?.!")
        return Intent(), ""

    def key_of(self, text: str) -> str:
        """Return the key of a sentence's intent, "" if it has none."""
        return self.intent_of(text)[0].key

    def pattern(self, table: str, key: str) -> re.Pattern[str]:
        """Return a pattern of a table; one that never matches if the table has none."""
        return _compiled(self.data.get(table, {}).get(key, ""))

    def finds(self, key: str, text: str) -> bool:
        """Return True if a text holds the pattern of a key of ``[patterns]``."""
        return bool(self.pattern("patterns", key).search(text))

    def rewritten(self, key: str, text: str, most: int = 0) -> str:
        """Return a text with the replacements of a key in order, at most ``most`` if not 0."""
        made = 0
        for pattern, replacement in self.data.get("rewrite", {}).get(key, ()):
            text, count = _compiled(pattern).subn(replacement, text)
            made += count
            if most and made >= most:
                break
        return text

    def plain(self, text: str) -> str:
        """Return a text as one line, with the short spellings of chat expanded."""
        table = self.data.get("spelling", {})
        even = " ".join(text.translate(QUOTES).split())
        return re.sub(
            r"(?<![\w'-])[A-Za-z]+(?![\w'-])", lambda m: table.get(m[0].lower(), m[0]), even
        )

    def content(self, text: str) -> list[str]:
        """Return the stems of the words that carry meaning, each once."""
        leave_out = self.data.get("content_stop", "").split()
        code = self.code if self.code in STOP_WORDS else ENGLISH
        return list(dict.fromkeys(find_words(text, frozenset(leave_out), code)))

    def near(self, stem: str) -> frozenset[str]:
        """Return the stems of similar meaning."""
        return _near_table(self.code).get(stem, frozenset())


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE) if pattern else NEVER


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return the content of a data file."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def read(code: str) -> Language:
    """Return the language of a code."""
    data = table(code)
    intents = tuple(map(_read_intent, data["intents"]))
    phrases = {intent.key: intent.say for intent in intents if intent.say}
    phrases |= {key: tuple(said) for key, said in data["phrases"].items()}
    common = frozenset(data["common"].split()) | STOP_WORDS.get(code, frozenset())
    return Language(code, common, _compiled(data.get("marks", "")), intents, phrases, data)


def _read_intent(row: Mapping[str, Any]) -> Intent:
    match, facts = _compiled(row["match"]), _compiled(row.get("facts", ""))
    return Intent(row["key"], match, tuple(row.get("say", ())), facts, row.get("seek", False))


@cache
def _near_table(code: str) -> dict[str, frozenset[str]]:
    language, found = read(code), dict[str, set[str]]()
    for group in language.data.get("near", ()):
        stems = set(find_words(group, (), code))
        for item in stems:
            found.setdefault(item, set()).update(stems)
    return {item: frozenset(group - {item}) for item, group in found.items()}


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

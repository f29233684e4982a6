"""The languages of the stand-in, read from TOML files; docs/models.md explains them."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from evennia_ai.contrib.stand_in.kinds import EXACTER, OPEN, KindClassifier, read_classifier
from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.requested_acts import NEVER, compiled, request_patterns
from evennia_ai.policy.retrieval.languages import STOP_WORDS
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.policy.retrieval.words import language_of as function_words_of
from evennia_ai.policy.texts import BoundedPattern, plain_words

DATA = Path(__file__).parent / "data"
ENGLISH, GERMAN = "en", "de"
SHARE_OF_WORDS = 0.3  # of a line's words that a language must know, to be the line's language
QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
CHAT_WORD = re.compile(r"(?<![\w'-])[A-Za-z]+\d?(?![\w'-])")
WORD, ESCAPE = re.compile(r"[^\W\d_]{2,}"), re.compile(r"\\\w")
# Kinds of sentences that need no answer beside others.
COURTESIES = frozenset("greet thanks sorry yes no praise".split())
HOSTILE = frozenset("inject authority crime threat insult".split())


@dataclass(frozen=True)
class Intent:
    """A kind of sentence and its phrases; `answers` may say more.

    ``tells`` finds the sentences that answer it, which must be near the line if ``exact``;
    ``implies`` are words of a refusal for it.
    """

    key: str = ""
    match: BoundedPattern = NEVER
    say: tuple[str, ...] = ()
    tells: BoundedPattern | None = None
    exact: bool = False
    implies: str = ""


@dataclass(frozen=True, eq=False)
class Language:
    """One language; see ``data/en.toml`` for the parts."""

    code: str
    common: frozenset[str]
    marks: BoundedPattern
    intents: tuple[Intent, ...]
    phrases: Mapping[str, tuple[str, ...]]
    data: Mapping[str, Any]
    classifier: KindClassifier | None = None

    @property
    def full(self) -> bool:
        """Return True if it has more than the phrases of a first conversation."""
        return "requests" in self.data

    @lru_cache(maxsize=4_096)  # noqa: B019 - languages are read once and kept
    def matched(self, text: str) -> tuple[Intent, str]:
        """Return the first intent whose pattern fits a sentence, with its topic; `Intent()` if none."""
        for intent in self.intents:
            match = intent.match.search(text)
            if match:
                topic = next((value for value in match.groups() if value), "").strip(" ?.!")
                return intent, topic
        return Intent(), ""

    def asked_of(self, text: str) -> tuple[Intent, str]:
        """Return the intent of a sentence, with its topic; `Intent()` if it has none.

        What was learned decides, but for kinds that only patterns know.
        """
        (intent, topic), kind = self.matched(text), self.kind_of(text)
        only_matched = intent.key and self.classifier and not self.classifier.knows(intent.key)
        if only_matched or kind in EXACTER.get(intent.key, ()) or kind == intent.key:
            return intent, topic
        return (Intent() if kind in OPEN else self.intent(kind)), ""

    @lru_cache(maxsize=4_096)  # noqa: B019 - languages are read once and kept
    def kind_of(self, text: str) -> str:
        """Return the kind of a sentence as it was learned, else its pattern's."""
        key = self.matched(text)[0].key
        return self.classifier.kind_of(text, key) if self.classifier else key

    def key_of(self, text: str) -> str:
        """Return the key of a sentence's intent, "" if it has none."""
        return self.asked_of(text)[0].key

    def intent(self, key: str) -> Intent:
        """Return the first intent of a key; `Intent()` if there is none."""
        return next((intent for intent in self.intents if intent.key == key), Intent())

    def pattern(self, table: str, key: str) -> BoundedPattern:
        """Return a pattern of a table; one that never matches if the table has none."""
        return compiled(self.data.get(table, {}).get(key, ""))

    def finds(self, key: str, text: str) -> bool:
        """Return True if a text holds the pattern of a key of ``[patterns]``."""
        return bool(self.pattern("patterns", key).search(text))

    def rewritten(self, key: str, text: str, most: int = 0) -> str:
        """Return a text with the replacements of a key in order, at most ``most`` if not 0."""
        made = 0
        for pattern, replacement in self.data.get("rewrite", {}).get(key, ()):
            text, count = compiled(pattern).subn(replacement, text)
            made += count
            if most and made >= most:
                break
        return text

    def plain(self, text: str) -> str:
        """Return a text as one line, with the short spellings of chat expanded."""
        spelling = self.data.get("spelling", {})
        even = " ".join(text.translate(QUOTES).split())
        even = CHAT_WORD.sub(lambda match: spelling.get(match[0].lower(), match[0]), even)
        return self.rewritten("chat", even)

    @lru_cache(maxsize=4_096)  # noqa: B019 - languages are read once and kept
    def content(self, text: str) -> tuple[str, ...]:
        """Return the stems of the words that carry meaning, each once."""
        leave_out = frozenset(self.data.get("content_stop", "").split())
        stems = find_words(text, leave_out, self.code if self.code in STOP_WORDS else ENGLISH)
        return tuple(dict.fromkeys(stems))

    def asks(self, text: str) -> bool:
        """Return True for a sentence that asks and states nothing."""
        end = text.rstrip(' "”)')[-1:]
        return end == "?" or (end != "!" and self.finds("question", text))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Return the words of the language's file, those of its patterns included."""
        return frozenset(WORD.findall(ESCAPE.sub(" ", str(self.data)).lower())) | self.common

    def name_in(self, sentence: str) -> str:
        """Return the name that a speaker tells, "" if none."""
        match = compiled(self.data.get("own_name", ""), 0).search(sentence)  # its capital tells it
        name = next(filter(None, match.groups()), "").strip(" '-.,;!") if match else ""
        return "" if self.finds("no_name", name) else name


@cache
def read(code: str) -> Language:
    """Return a language of the package, `ENGLISH` or `GERMAN`, with its patterns of requested acts."""
    data = tomllib.loads((DATA / f"{code}.toml").read_text(encoding="utf-8"))
    language = _language(code, {**data, **request_patterns(code)})
    return replace(language, classifier=read_classifier(DATA / f"kinds_{code}.npz"))


def read_languages(files: Iterable[str]) -> tuple[Language, ...]:
    """Return the package's languages, and those of a game's files; raises ConfigError for a bad one."""
    languages = [read(ENGLISH), read(GERMAN)]
    for file in map(Path, files):
        try:
            data = tomllib.loads(file.read_text(encoding="utf-8"))
            languages.append(_language(file.stem, data))
        except (OSError, ValueError, KeyError, TypeError, re.error) as error:
            raise ConfigError(f"{file} is no language of the stand-in: {error!r}.") from error
    return tuple(languages)


def _language(code: str, data: Mapping[str, Any]) -> Language:
    readers: dict[str, Callable[[Any], Any]] = {"match": compiled, "tells": compiled, "say": tuple}
    rows = (
        {k: readers[k](v) if k in readers else v for k, v in row.items()} for row in data["intents"]
    )
    intents = tuple(Intent(**row) for row in rows)
    phrases = {intent.key: intent.say for intent in intents if intent.say}
    phrases |= {key: tuple(phrase_list) for key, phrase_list in data["phrases"].items()}
    common = frozenset(data["common"].split()) | STOP_WORDS.get(code, frozenset())
    return Language(code, common, compiled(data.get("marks", "")), intents, phrases, data)


def language_of(text: str, languages: Sequence[Language]) -> Language | None:
    """Return the language of a line, None if nothing tells it; one word of several does not."""
    words, code = plain_words(text), function_words_of(text)
    points = [
        sum(word in language.common for word in words) + bool(language.marks.search(text))
        for language in languages
    ]
    best, least = max(points), 1 + (len(words) > 1)
    if best < max(least, len(words) * SHARE_OF_WORDS) or points.count(best) > 1:
        rows = zip(languages, points, strict=True)
        return next((item for item, own in rows if item.code == code and own >= least), None)
    return languages[points.index(best)]

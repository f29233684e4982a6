"""The words of a text: its language, the stems that carry meaning, and signs of time and number.

Stems are Snowball's (https://snowballstem.org), except in English.
"""

import re
import threading
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from evennia_ai.policy.retrieval.languages import (
    ENGLISH,
    ENGLISH_TOO,
    LETTERS,
    NAME_PARTICLES,
    RUSSIAN,
    SNOWBALL,
    STOP_WORDS,
)

LONGEST_RUN = 4_000  # characters
LONGEST_WORD = 40
WORD = re.compile(r"[^\W_]+")
OWNERS = re.compile(r"['’](?:s|re|ve|ll|d|m|t)\b", re.I)
CYRILLIC = re.compile("[\u0400-\u04ff]")
# Scripts without spaces between words; their text is split into pairs of characters.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
CUT = ("ing", "ed", "es", "s", "ly")
ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), *((ending, "") for ending in CUT))
# Accents are often left out in chat.
FOLDED = str.maketrans("äöüàâáéèêëíîïóôúùûñçё", "aouaaaeeeeiiioouuunce")
# The function words that tell a language: those that are not English and something else, too.
OTHERS = frozenset().union(*(STOP_WORDS[language] for language in SNOWBALL))
TELLING = {
    language: words - (OTHERS if language == ENGLISH else STOP_WORDS[ENGLISH] | ENGLISH_TOO)
    for language, words in STOP_WORDS.items()
}
SHORTEST_BEGINNING = 3

_stemming = threading.Lock()  # Snowball's stemmers keep the word they are working on


@lru_cache(maxsize=64)
def language_of(text: str) -> str:
    """Return "en", "de", "fr", "es" or "ru", or "" if nothing tells the language."""
    # Function words tell it, and letters that only one of the languages uses.
    lower = text.lower()
    words = WORD.findall(lower)
    if 2 * len([*filter(CYRILLIC.match, words)]) > len(words):
        return RUSSIAN
    best, most = "", 0
    for language, telling in TELLING.items():
        count = sum(map(telling.__contains__, words))
        count += language in LETTERS and bool(LETTERS[language].search(lower))
        if count > most:
            best, most = language, count
    return best


def is_english(*texts: str) -> bool:
    """Return True unless one of the texts is in another language."""
    return all(language_of(text) in ("", "en") for text in texts)


def find_words(
    text: str, leave_out: Collection[str] = (), language: str | None = None
) -> list[str]:
    """Return the stems of the words that carry meaning, in order, in any script."""
    language = (language_of(text) if language is None else language) or ENGLISH
    words: list[str] = []
    for word in content_words(text, language):
        if word in leave_out:
            continue
        if UNSPACED.search(word):
            run = word[:LONGEST_RUN]
            words += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            words.append(stem(word[:LONGEST_WORD], language))
    return words


def asked_words(query: str, leave_out: Collection[str] = ()) -> list[str]:
    """Return the different stems of a query, of all languages if nothing tells its own."""
    language = language_of(query)
    languages = [language] if language else STOP_WORDS
    stems = [word for name in languages for word in find_words(query, leave_out, name)]
    return list(dict.fromkeys(stems))


def shared_words(query: str, text: str) -> list[str]:
    """Return the different words of a text that a query shares, in lower case."""
    wanted, language = set(asked_words(query)), language_of(text)
    words = dict.fromkeys(WORD.findall(text.lower()))
    return [word for word in words if wanted.intersection(find_words(word, (), language))]


def content_words(text: str, language: str) -> list[str]:
    """Return the lower-case words of a text that carry meaning in this language."""
    words = WORD.findall(OWNERS.sub("", text.lower()))
    return [word for word in words if word not in STOP_WORDS[language]]


def beginnings(text: str) -> list[str]:
    """Return what all forms of each word of a text begin with, to search raw text for."""
    language = language_of(text) or ENGLISH
    starts = []
    for word in content_words(text, language):
        cut = stem(word[:LONGEST_WORD], language)
        same = next(
            (n for n, pair in enumerate(zip(word, cut, strict=False)) if len(set(pair)) > 1),
            len(cut),
        )
        starts.append(word[:same] if same >= SHORTEST_BEGINNING else word)
    return starts


@lru_cache(maxsize=8_192)
def phrase_of(text: str, language: str) -> str:
    """Return the stems of all words of a text, so that one phrase can be found in another."""
    words = WORD.findall(OWNERS.sub("", text.lower()))
    phrase = " ".join([stem(word[:LONGEST_WORD], language) for word in words])
    return phrase if UNSPACED.search(text) else f" {phrase} "


def name_words(name: str) -> list[str]:
    """Return the lower-case words of a name that may stand for it."""
    words = content_words(name, ENGLISH)
    return [word for word in words if len(word) > 1 and word not in NAME_PARTICLES]


def without_words(text: str, words: Collection[str]) -> str:
    if not words:
        return text
    kept = [part for part in text.split() if not (set(name_words(part)) & set(words))]
    return " ".join(kept)


@lru_cache(maxsize=16_384)
def stem(word: str, language: str = ENGLISH) -> str:
    """Return a lower-case word without its endings: hiking, hiked and hikes are one."""
    if CYRILLIC.match(word):
        language = RUSSIAN
    elif language == RUSSIAN:
        language = ENGLISH
    if language == ENGLISH:
        return stem_english(word)
    with _stemming:
        stemmed: str = stemmers()[language].stemWord(word.replace("ё", "е"))
    return stemmed.translate(FOLDED)


def stem_english(word: str) -> str:
    """Return a word without common English endings."""
    # Lighter than Porter's stemmer (1980): a wrong cut is the same in query and memory.
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1].isalpha() and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


@cache
def stemmers() -> dict[str, Any]:
    """Return Snowball's stemmers by language; the first call loads them, which takes 0.15 s."""
    import snowballstemmer

    return {language: snowballstemmer.stemmer(name) for language, name in SNOWBALL.items()}

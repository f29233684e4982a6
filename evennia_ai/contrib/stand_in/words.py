"""Small operations on words, names and sentences, the same for every language."""

import re
import zlib
from collections.abc import Iterable, Sequence

from evennia_ai.policy import texts
from evennia_ai.policy.conversation.requested_acts import SMALL, match_name
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import ARTICLES, plain_words

LOWER_START = re.compile(r"(?:^|(?<=[.!?] ))([a-zà-ÿ])")
DESCRIBING = frozenset({"a", "an", "the", "some", "ein", "eine"})
LONG_SENTENCE = 3  # words of a sentence that may be said again soon


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces; in chat, "bye! see you" is two."""
    parts = texts.sentences(" ".join(text.split()))
    return [piece.strip() for part in parts for piece in re.split(r"(?<=\w[!?]) (?=\w)", part)]


def long_sentences(text: str) -> list[str]:
    """Return the sentences that must not be repeated soon, without case and punctuation."""
    parts = (plain_words(part) for part in re.split(r"[.!?…]+", text))
    return [" ".join(part) for part in parts if len(part) > LONG_SENTENCE]


def capitals(text: str) -> str:
    """Return the text with every sentence beginning in upper case."""
    return LOWER_START.sub(lambda match: match[1].upper(), text)


def ended(text: str) -> str:
    """Return the text with a full stop, unless it has an end."""
    text = text.rstrip(" ,;:-")
    return text if not text or text[-1] in '.!?…”"' else text + "."


def with_article(name: str) -> str:
    """Return a thing's English name with "the", unless it has an article or is a proper name."""
    first, _, rest = name.partition(" ")
    if first.lower() in {"a", "an"}:
        return f"the {rest}"
    return name if first.lower() in ARTICLES or first[:1].isupper() else f"the {name}"


def is_description(name: str) -> bool:
    """Return True for a description such as "A tall man", which is no form of address."""
    first, *rest = name.split() or [""]
    return bool(rest) and (first.lower() in DESCRIBING or rest[-1].islower())


def lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def in_sentence(name: str) -> str:
    """Return a name as it stands within a sentence: "a tall man" for "A tall man"."""
    return lowered(name) if is_description(name) else name


def seed_of(*parts: object) -> int:
    """Return a number that is the same for the same parts in every process."""
    return zlib.crc32("\x1f".join(str(part) for part in parts).encode("utf-8", "replace"))


def rotated(options: Iterable[str], seed: int) -> list[str]:
    """Return the options in order, beginning with the one the seed selects."""
    items = list(options)
    start = seed % len(items) if items else 0
    return items[start:] + items[:start]


def stems_of(names: Iterable[str]) -> set[str]:
    """Return the English stems of the words of names, without small words."""
    return {stem(word, "en") for name in names for word in {*plain_words(name)} - SMALL}


def matches(text: str, names: Sequence[str]) -> list[str]:
    """Return all names that a text means equally well, by its words."""
    best = match_name(text, names)
    return [name for name in names if best and match_name(text, [name, best]) == name]

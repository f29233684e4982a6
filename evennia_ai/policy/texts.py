"""Texts for and from a model, their width on a screen, and patterns of words."""

import json
import re
import sys
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from evennia_ai.messages import WireMessage, unmarked
from evennia_ai.policy.sanitize import strip_reasoning

Fields = Mapping[str, object]  # of a JSON object
Replacement = str | Callable[[re.Match[str]], str]


def fenced(mark: str, text: str) -> str:
    """Return text between ``<mark>`` tags, with any closing tag in the text made harmless."""
    return f"<{mark}>\n{text.replace(f'</{mark}', f'< /{mark}')}\n</{mark}>"


def request(instructions: str, material: str, *, with_marks: bool = False) -> list[WireMessage]:
    """Return a request of two messages: instructions as system, material as user.

    ``with_marks`` keeps `messages.MARK` in material that holds it before perceived lines only.
    """
    material = material if with_marks else unmarked(material)
    return [{"role": "system", "content": instructions}, {"role": "user", "content": material}]


def reply_lines(reply: str) -> list[str]:
    """Return the stripped lines of a reply, without reasoning, blank lines and code fences."""
    lines = (line.strip() for line in strip_reasoning(reply).splitlines())
    return [line for line in lines if line and not line.startswith("```")]


def complete_lines(reply: str) -> str:
    """Return a reply that was cut off, without its last line unless that is a whole object."""
    head, _, last = reply.rpartition("\n")
    return reply if read_line_object(last) else head


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a model wrote, or None if the text is not one. Never raises."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def as_dict(value: object) -> dict[str, Any]:
    """Return ``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """Return ``value`` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def read_line_object(line: str) -> dict[str, Any]:
    """Return the JSON object on one line, a comma behind it allowed; empty if there is none."""
    return read_object(line.strip().rstrip(",")) or {}


def read_typed_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return a tool's name and arguments as a person types them: ``sell item = ale; price = 3``.

    A JSON object may stand in place of the arguments.
    """
    name, _, rest = text.strip().partition(" ")
    given = read_object(rest)
    if given is not None:
        return name, given
    pairs = (part.partition("=") for part in rest.split(";") if part.strip())
    return name, {key.strip(): value.strip() for key, _, value in pairs}


CJK = "\u3040-\u30ff\u4e00-\u9fff"  # written without spaces: each character counts as a word
WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation and with straight apostrophes."""
    return WORD.findall(text.casefold().replace("’", "'"))


LATIN_TOKEN = re.compile(r"[a-z']+|[?!]|\d+")


def word_features(text: str) -> dict[str, float]:
    """Return a text's words, pairs of words and beginning, for a linear classifier.

    They weigh the same, more if they are few.
    """
    tokens = LATIN_TOKEN.findall(text.lower().replace("’", "'"))
    words = ["^", *("0" if token.isdigit() else token for token in tokens), "$"]
    names = {*words, *map("_".join, pairwise(words)), "^_" + "_".join(words[1:4])}
    return dict.fromkeys(names, 1.5 / len(names) ** 0.5)


@cache
def read_weights(file: Path) -> Mapping[str, float]:
    """Return what `tests.policy.learn_weights` learned: how much each feature speaks for a kind."""
    return {name: value / 1000 for name, value in json.loads(file.read_text("utf-8")).items()}


def linear_score(text: str, weights: Mapping[str, float]) -> float:
    """Return how surely a text is of a kind, about -1 to 1, by its words and pairs of words."""
    own = (value * weights.get(name, 0.0) for name, value in word_features(text).items())
    return sum(own) + weights[""]


# A full stop ends a sentence only before white space, and not behind a title.
STOP = (
    r"(?:(?:[!?…؟]++|(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)"
    r"(?<!\bCapt)(?<!\bSgt)(?<!\bLt)"
    r"\.++(?=[!?…\"”»«'’)*_\]]*+(?:\s|\Z)))[.!?…]*+[\"”»«'’)*_\]]*+"
    r"|[。！？]++[」』”’）】]*+|(?=\n)|\Z)"
)
UP_TO_MARK = r"[^.!?…؟。！？\n]*+"
# Of dots in a row only the first two are looked at: behind a title, the second may end.
SENTENCE = re.compile(
    rf"\S{UP_TO_MARK}(?:(?!{STOP})(?:(?<=\.)\.++|[\s\S]){UP_TO_MARK})*+{STOP}\s*+"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with its marks and the white space behind it.

    Joined they are the text, but for white space at its beginning. A line ends a sentence.
    """
    return SENTENCE.findall(text)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 line", "2,000 lines"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


WIDE, UNSEEN = frozenset("WF"), frozenset({"Mn", "Me", "Cf"})


def listed_examples(text: str) -> list[str]:
    """Return the examples that a text lists between bars, each on one line."""
    return [" ".join(example.split()) for example in text.split("|")]


def read_examples(file: Path) -> dict[str, list[str]]:
    """Return the lists of a TOML file by their names, each read by `listed_examples`."""
    texts = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: listed_examples(text) for name, text in texts.items()}


def shown_width(text: str) -> int:
    """Return the columns that a text takes: two for a wide letter, none for an accent."""
    return sum(
        2
        if unicodedata.east_asian_width(char) in WIDE
        else unicodedata.category(char) not in UNSEEN
        for char in text
    )


VOWEL = re.compile(r"(?!one\b|uni|us[eu]|eu)[aeiou]|hour|heir|honest", re.IGNORECASE)  # as spoken
ARTICLES = frozenset({"a", "an", "the", "some", "my", "your", "his", "her", "their"})


def an(name: str) -> str:
    """Return a thing's English name with an indefinite article, if it needs one."""
    head = name.partition(" of ")[0].lower()
    plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    if name.split(" ", 1)[0].lower() in ARTICLES or name.istitle() or plural:
        return name
    return f"{'an' if VOWEL.match(name) else 'a'} {name}"


def fitting(text: str, columns: int) -> str:
    """Return a text cut to some columns, with an ellipsis if anything is cut."""
    shown = text
    while shown_width(shown) > columns:
        shown = f"{shown.removesuffix('…')[:-1]}…"
    return shown


def filled(text: str, columns: int) -> str:
    shown = fitting(text, columns)
    return shown + " " * (columns - shown_width(shown))


class BoundedPattern:
    """A regular expression that reads at most ``most_chars`` of a text, from where it begins.

    It is for patterns whose time grows with the square of a text. The text ends there for them:
    what lies behind is not found, not replaced, and part of no whole match.
    """

    def __init__(self, pattern: str, most_chars: int, flags: int = 0) -> None:
        self.compiled = re.compile(pattern, flags)
        self.most_chars = most_chars

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self.compiled.search(text, start, min(end, start + self.most_chars))

    def match(self, text: str) -> re.Match[str] | None:
        return self.compiled.match(text, 0, self.most_chars)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text) if len(text) <= self.most_chars else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text, 0, self.most_chars)

    def findall(self, text: str) -> list[Any]:
        return self.compiled.findall(text, 0, self.most_chars)

    def split(self, text: str) -> list[str]:
        *parts, last = self.compiled.split(text[: self.most_chars])
        return [*parts, last + text[self.most_chars :]]

    def sub(self, new: Replacement, text: str, count: int = 0) -> str:
        return self.subn(new, text, count)[0]

    def subn(self, new: Replacement, text: str, count: int = 0) -> tuple[str, int]:
        replaced, number = self.compiled.subn(new, text[: self.most_chars], count)
        return replaced + text[self.most_chars :], number


QUANTIFIERS = ("?", "*", "+", "{")


def one_of(alternatives: str) -> str:
    """Return a pattern without regard to case for any of some alternatives, divided by ``|``.

    Use it in patterns with IGNORECASE: the first letter may always be of either case. Alternatives
    of one first letter keep their order. Those that begin with a group, a class, an escape or a
    quantified letter come after the others.
    """
    letters: dict[str, list[str]] = {}
    others = []
    for split_alternative in split_alternatives(alternatives):
        if split_alternative[:1].isalpha() and not split_alternative[1:].startswith(QUANTIFIERS):
            letters.setdefault(split_alternative[0].lower(), []).append(split_alternative[1:])
        else:
            others.append(split_alternative)
    groups = [
        f"(?-i:[{letter}{letter.upper()}])(?:{'|'.join(rests)})"
        for letter, rests in letters.items()
    ]
    return f"(?:{'|'.join([*groups, *others])})"


def split_alternatives(pattern: str) -> Iterator[str]:
    """Yield the alternatives of a pattern that stand in no group or class."""
    start = depth = at = 0
    in_class = False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char == "|" and not depth:
            yield pattern[start:at]
            start = at + 1
        else:
            depth += (char == "(") - (char == ")")
        at += 1
    yield pattern[start:]

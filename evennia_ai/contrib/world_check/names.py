"""Where a sentence names what the rows are about, and the same sentence in the examples' words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from evennia_ai.contrib.world_check.facts import (
    ASKER,
    CARRIED,
    EXIT,
    OPEN,
    PERSON,
    PRICE,
    WorldFact,
)
from evennia_ai.policy.conversation.requested_acts import SMALL
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import WORD

THING, PLACE = "thing", "place"  # kinds of mentions beside those of rows
THINGS = (CARRIED, ASKER, PRICE)
LINKS = SMALL | {"for", "with", "from", "in", "on", "at"}
# What stands in the examples for the name that a sentence is about, and for others.
IN_EXAMPLES = {EXIT: "north", PLACE: "market", PERSON: "Anna", THING: "lamp", OPEN: "shop"}
OTHERS = {EXIT: "south", PLACE: "market", PERSON: "Bob", THING: "hat", OPEN: "inn"}
MOST_LINKS = 2  # in a name
LEAST_LETTERS = 2  # of a name: an exit's alias "n" is no word of a sentence


class NameToken(NamedTuple):
    """A word of a sentence, from ``start`` to before ``end``, and its stem."""

    start: int
    end: int
    stem: str


class NameMention(NamedTuple):
    """Tokens of a sentence, from ``start`` to before ``end``, that name something."""

    start: int
    end: int
    kind: str
    subject: str  # the first name of what is named


def tokens_of(text: str) -> list[NameToken]:
    return [
        NameToken(match.start(), match.end(), stem_of(match[0])) for match in WORD.finditer(text)
    ]


def stem_of(word: str) -> str:
    return stem(word.casefold().replace("’", "'").split("'")[0], ENGLISH)


class NameIndex:
    """All names of some rows, and what of each name is enough to mean it."""

    def __init__(self, facts: Iterable[WorldFact]) -> None:
        forms: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
        parts: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
        for kind, subject, name in named_by(facts):
            whole = tuple(token.stem for token in tokens_of(name) if token.stem not in LINKS)
            if whole and len(name) >= LEAST_LETTERS:
                forms[whole].add((kind, subject))
                for part in parts_of(name):
                    parts[(part,)].add((kind, subject))
        for form, named in parts.items():
            for kind in {kind for kind, _subject in named}:
                alike = [item for item in named if item[0] == kind]
                if len(alike) == 1 and form not in forms:
                    forms[form].add(alike[0])
        self._forms = forms
        self._longest = max(map(len, forms), default=0)

    def mentions(self, tokens: Sequence[NameToken]) -> list[NameMention]:
        """Return what the tokens of a sentence name, in their order; the longest names first."""
        mentions, at = list[NameMention](), 0
        while at < len(tokens):
            for end in range(min(at + self._longest + MOST_LINKS, len(tokens)), at, -1):
                ends = {tokens[at].stem, tokens[end - 1].stem}
                key = tuple(t.stem for t in tokens[at:end] if t.stem not in LINKS)
                if key in self._forms and ends.isdisjoint(LINKS):
                    mentions += [NameMention(at, end, *item) for item in sorted(self._forms[key])]
                    at = end - 1
                    break
            at += 1
        return mentions


def named_by(facts: Iterable[WorldFact]) -> Iterator[tuple[str, str, str]]:
    """Yield the names of rows: the kind of mention, the subject, and the name."""
    for fact in facts:
        for name in fact.names:
            yield THING if fact.kind in THINGS else fact.kind, fact.names[0], name
        if fact.kind == EXIT and fact.value:
            yield PLACE, fact.value, fact.value


def parts_of(name: str) -> set[str]:
    """Return the words of a name that mean it: those with a capital, and the nouns at its ends."""
    tokens = tokens_of(name)
    words = [name[token.start : token.end] for token in tokens]
    last = {
        token.stem
        for token, after in zip(tokens, [*tokens[1:], None], strict=True)
        if token.stem not in LINKS and (after is None or after.stem in LINKS)
    }
    capitals = {t.stem for t, word in zip(tokens, words, strict=True) if word[:1].isupper()}
    return {part for part in last | capitals if part not in LINKS and not part.isdecimal()}


def in_words_of_examples(
    text: str, tokens: Sequence[NameToken], mentions: Iterable[NameMention], subject: str
) -> str:
    """Return a sentence with the names of the examples; ``subject`` is what it is about."""
    before = len(text) + 1
    for mention in sorted(mentions, key=lambda item: (-item.start, item.subject != subject)):
        start, end = tokens[mention.start].start, tokens[mention.end - 1].end
        if end <= before and mention.kind in IN_EXAMPLES:
            words = IN_EXAMPLES if mention.subject == subject else OTHERS
            rest = text[start:end].partition("'")[1:] if "'" in text[start:end] else ("", "")
            text, before = text[:start] + words[mention.kind] + "".join(rest) + text[end:], start
    return text


def with_sevens(text: str) -> str:
    """Return a text with 7 for each number."""
    parts = [match.span() for match in WORD.finditer(text) if match[0].isdecimal()]
    for start, end in reversed(parts):
        text = f"{text[:start]}7{text[end:]}"
    return text


def numbers_in(text: str) -> list[int]:
    return [int(match[0]) for match in WORD.finditer(text) if match[0].isdecimal()]

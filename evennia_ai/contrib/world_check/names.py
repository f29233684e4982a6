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
from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import WORD

THING, WARE, PLACE = "thing", "ware", "place"  # kinds of mentions beside those of rows
KINDS = {CARRIED: THING, ASKER: THING, PRICE: WARE}
PREPOSITIONS = frozenset({"up", "down", "in", "out"})  # that exits are called, too
LINKS = SMALL | {"for", "with", "from", "in", "on", "at"}
# What stands in the examples for the name that a sentence is about, and for others.
IN_EXAMPLES = {
    EXIT: "north",
    PLACE: "market",
    PERSON: "Anna",
    THING: "lamp",
    WARE: "lamp",
    OPEN: "shop",
}
OTHERS = {EXIT: "south", PLACE: "market", PERSON: "Bob", THING: "hat", WARE: "hat", OPEN: "inn"}
HEADS_FOLLOW = frozenset({"of", "to", "the", "a", "an"})  # behind others a name only goes on
LONG = 5  # letters of a word of a ware
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
    """All names of some rows, and what of each name is enough to mean it.

    A name with a capital is found only where the sentence has one, too: "will" is not Will.
    """

    def __init__(self, facts: Iterable[WorldFact]) -> None:
        parts: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
        self._forms: dict[tuple[str, ...], set[tuple[str, str, bool]]] = defaultdict(set)
        for kind, subject, name in named_by(facts):
            whole = tuple(token.stem for token in tokens_of(name) if token.stem not in LINKS)
            if whole and len(name) >= LEAST_LETTERS:
                has_capital = kind == PERSON and name[:1].isupper()
                self._forms[whole].add((kind, subject, has_capital))
                for part, is_capital in parts_of(name, kind == WARE):
                    parts[kind, part, is_capital].add(subject)
        for (kind, part, is_capital), (subject, *others) in parts.items():
            is_whole = any(item[0] == kind for item in self._forms.get((part,), ()))
            if not others and not is_whole:
                self._forms[(part,)].add((kind, subject, is_capital))
        self._longest = max(map(len, self._forms), default=0)

    def mentions(self, text: str, tokens: Sequence[NameToken]) -> list[NameMention]:
        """Return what the tokens of a sentence name, in their order; the longest names first."""
        mentions, at = list[NameMention](), 0
        while at < len(tokens):
            for end in range(min(at + self._longest + MOST_LINKS, len(tokens)), at, -1):
                ends = {tokens[at].stem, tokens[end - 1].stem}
                key = tuple(t.stem for t in tokens[at:end] if t.stem not in LINKS)
                is_capital = text[tokens[at].start].isupper()
                named = [
                    NameMention(at, end, kind, subject)
                    for kind, subject, needs_capital in sorted(self._forms.get(key, ()))
                    if is_capital or not needs_capital
                ]
                goes_on = end < len(tokens) and tokens[end].stem in LINKS
                if goes_on and ends <= PREPOSITIONS:  # "down the path" is no exit
                    break
                if named and ends.isdisjoint(LINKS):
                    mentions += named
                    at = end - 1
                    break
            at += 1
        return mentions


def named_by(facts: Iterable[WorldFact]) -> Iterator[tuple[str, str, str]]:
    """Yield the names of rows: the kind of mention, the subject, and the name."""
    for fact in facts:
        for name in fact.names:
            yield kind_of(fact), fact.names[0], with_digits(name)
        if fact.kind == EXIT and fact.value:
            yield PLACE, fact.value, with_digits(fact.value)


def parts_of(name: str, is_ware: bool) -> set[tuple[str, bool]]:
    """Return the words of a name that mean it: the nouns at its ends, and those with a capital.

    With each stands whether it must have a capital in a sentence, too. Of a ware, beside which a
    number must stand, each long word will do.
    """
    tokens, parts, is_head = tokens_of(name), set[tuple[str, bool]](), True
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        word = name[token.start : token.end]
        is_last = is_head and (after is None or after.stem in LINKS)
        is_long = is_ware and len(word) >= LONG and is_head
        if token.stem in LINKS:
            is_head = is_head and token.stem in HEADS_FOLLOW
        elif not word.isdecimal() and (is_last or is_long or word[0].isupper()):
            parts.add((token.stem, word[0].isupper() and not is_last))
    return parts


def in_words_of_examples(
    text: str, tokens: Sequence[NameToken], mentions: Iterable[NameMention], fact: WorldFact
) -> str:
    """Return a sentence about a row with the names of the examples."""
    kinds = (EXIT, PLACE) if fact.kind == EXIT else (kind_of(fact),)

    def is_less_apt(mention: NameMention) -> tuple[bool, bool]:
        return mention.kind not in kinds, mention.subject not in fact.names

    before = len(text) + 1
    for mention in sorted(mentions, key=lambda item: (-item.start, *is_less_apt(item))):
        start, end = tokens[mention.start].start, tokens[mention.end - 1].end
        if end <= before and mention.kind in IN_EXAMPLES:
            words = OTHERS if any(is_less_apt(mention)) else IN_EXAMPLES
            _name, *owns = text[start:end].partition("'")
            text = f"{text[:start]}{words[mention.kind]}{''.join(owns)}{text[end:]}"
            before = start
    return text


def kind_of(fact: WorldFact) -> str:
    """Return how mentions of a row's subject are called."""
    return KINDS.get(fact.kind, fact.kind)


def with_sevens(text: str) -> str:
    """Return a text with 7 for each number."""
    parts = [match.span() for match in WORD.finditer(text) if match[0].isdecimal()]
    for start, end in reversed(parts):
        text = f"{text[:start]}7{text[end:]}"
    return text


def numbers_in(text: str) -> list[int]:
    return [int(match[0]) for match in WORD.finditer(text) if match[0].isdecimal()]

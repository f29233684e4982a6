"""Where a sentence names what the rows are about."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from evennia_ai.contrib.world_check.facts import EXIT, PERSON, PLACE, WorldFact
from evennia_ai.policy.conversation.requested_acts import SMALL
from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import WORD

GOES_ON = {"of", "the"}
LINKS = SMALL | {"for", "with", "from", "in", "on", "at"}  # behind a head noun
LEAST_LETTERS = 2  # of a name: an exit's alias "n" is no word of a sentence


class NameToken(NamedTuple):
    """A word of a sentence, from ``start`` to before ``end``, its stem, and its number, if any."""

    start: int
    end: int
    stem: str
    number: int | None


class NameMention(NamedTuple):
    """Tokens of a sentence, from ``start`` to before ``end``, that name something."""

    start: int
    end: int
    kind: str
    subject: str  # the first name of what is named


def tokens_of(text: str) -> list[NameToken]:
    tokens = []
    for match in WORD.finditer(text):
        word = match[0].casefold().replace("’", "'").split("'")[0]
        number = int(match[0]) if match[0].isdecimal() else None
        tokens.append(NameToken(*match.span(), stem(word, ENGLISH), number))
    return tokens


class NameIndex:
    """All names of some rows; of a name its head noun is enough, if no other of its kind has it.

    A person's name with a capital is found only where the sentence has one: "will" is not Will.
    """

    def __init__(self, facts: Iterable[WorldFact]) -> None:
        heads: dict[tuple[str, str], set[tuple[str, bool]]] = defaultdict(set)
        self._forms: dict[tuple[str, ...], set[tuple[str, str, bool]]] = defaultdict(set)
        for kind, subject, name in named_by(facts):
            stems = [token.stem for token in tokens_of(name)]
            if len(name) < LEAST_LETTERS or not stems:
                continue
            has_capital = kind == PERSON and name[:1].isupper()
            self._forms[tuple(stems)].add((kind, subject, has_capital))
            for head in heads_of(stems):
                heads[kind, head].add((subject, has_capital))
        for (kind, head), named in heads.items():
            if len(named) == 1:
                self._forms[(head,)] |= {(kind, *item) for item in named}
        self._longest = max(map(len, self._forms), default=0)

    def mentions(self, text: str, tokens: Sequence[NameToken]) -> list[NameMention]:
        """Return what the tokens of a sentence name, in their order; the longest names first."""
        mentions, at = list[NameMention](), 0
        while at < len(tokens):
            is_capital = text[tokens[at].start].isupper()
            for end in range(min(at + self._longest, len(tokens)), at, -1):
                key = tuple(token.stem for token in tokens[at:end])
                named = [
                    NameMention(at, end, kind, subject)
                    for kind, subject, needs_capital in sorted(self._forms.get(key, ()))
                    if is_capital or not needs_capital
                ]
                if named:
                    mentions += named
                    at = end - 1
                    break
            at += 1
        return mentions


def heads_of(stems: Sequence[str]) -> Iterator[str]:
    """Yield the nouns of a name that mean it: Osk and drover, of a bed for the night only bed."""
    for word, after in zip(stems, [*stems[1:], ""], strict=True):
        if word in LINKS - GOES_ON:
            return
        if word not in LINKS and (not after or after in LINKS) and not word.isdecimal():
            yield word


def named_by(facts: Iterable[WorldFact]) -> Iterator[tuple[str, str, str]]:
    """Yield the names of rows: the kind of mention, the subject, and the name."""
    for fact in facts:
        for name in fact.names:
            yield fact.kind, fact.names[0], with_digits(name)
        if fact.kind == EXIT and fact.value:
            yield PLACE, fact.value, with_digits(fact.value)

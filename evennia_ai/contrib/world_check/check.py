"""Which sentences of a reply structure alone shows to be wrong; plain data only.

A number beside a ware that no price explains, and an exit beside the place behind another one. What
a sentence states of anything else only a model can tell (`asking.py`).
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from evennia_ai.contrib.world_check.facts import EXIT, PLACE, PRICE, WorldFact
from evennia_ai.contrib.world_check.names import NameIndex, NameMention, NameToken, tokens_of
from evennia_ai.policy.facts.terms import is_question, with_digits

NEAR = 6  # words between a ware and its price
MOST_NUMBERS = 8  # in a sentence that tells prices


class WorldCheck:
    """Holds the sentences of one reply against the rows of the world."""

    def __init__(self, facts: Sequence[WorldFact], line: str) -> None:
        """Take the rows, and the line that is answered."""
        self._facts, self._names = facts, NameIndex(facts)
        self._exits = {fact.names[0]: fact for fact in facts if fact.kind == EXIT}
        self._prices = {fact.names[0]: fact for fact in facts if fact.kind == PRICE}
        self._in_line = {*numbers_in(tokens_of(with_digits(line))).values()}

    def to_judge(self, parts: Iterable[str]) -> list[str]:
        """Return the sentences that ask nothing, if one names anything of the world or a number."""
        statements = [part.strip() for part in parts if not is_question(part)]
        tokens = (token for part in statements for token in tokens_of(with_digits(part)))
        names_any = any(map(self._mentions, statements)) or any(numbers_in(tokens).values())
        return statements if names_any else []

    def rows_for(self, sentence: str) -> list[WorldFact]:
        """Return the rows about what a sentence names, all if it names nothing."""
        subjects = {item.subject for item in self._mentions(sentence)}
        named = [f for f in self._facts if subjects & {*f.names[:1], f.value}]
        return named or list(self._facts)

    def _mentions(self, sentence: str) -> list[NameMention]:
        text = with_digits(sentence)
        return self._names.mentions(text, tokens_of(text))

    def contradicted(self, sentence: str) -> WorldFact | None:
        """Return the row that a sentence contradicts, None if none surely."""
        if is_question(sentence):
            return None
        text = with_digits(sentence)
        tokens = tokens_of(text)
        mentions = self._names.mentions(text, tokens)
        return self._wrong_exit(mentions) or self._wrong_price(tokens, mentions)

    def _wrong_exit(self, mentions: Iterable[NameMention]) -> WorldFact | None:
        exits = {item.subject: item for item in mentions if item.kind == EXIT}
        places = {item.subject: item for item in mentions if item.kind == PLACE}
        if len(exits) != 1 or not places:
            return None
        ((name, mention),) = exits.items()
        fact = self._exits[name]
        is_sure = is_whole(mention, fact.names) or any(
            is_whole(item, [place]) for place, item in places.items()
        )
        return fact if is_sure and fact.value and fact.value not in places else None

    def _wrong_price(
        self, tokens: Sequence[NameToken], mentions: Sequence[NameMention]
    ) -> WorldFact | None:
        wares = [item for item in mentions if item.kind == PRICE]
        numbers = numbers_in(tokens)
        if not wares or len(numbers) > MOST_NUMBERS:
            return None
        counts = {at for at in numbers if any(item.start == at + 1 for item in wares)}
        quoted = {at: n for at, n in numbers.items() if at not in counts and n not in self._in_line}
        prices = {int(self._prices[item.subject].value) for item in wares}
        factors = {1, *numbers.values(), *self._in_line} - {0}
        each = {price * factor for price in prices for factor in factors}
        explained = each | set(map(sum, combinations(sorted(each), 2)))
        if not quoted or not explained.isdisjoint(quoted.values()):
            return None
        return next(
            (
                self._prices[item.subject]
                for item in wares
                if any(-NEAR <= at - item.start <= NEAR + item.end - item.start for at in quoted)
            ),
            None,
        )


def is_whole(mention: NameMention, names: Iterable[str]) -> bool:
    """Return True for a mention by as many words as one of the names has, not by a part of it."""
    return mention.end - mention.start in {len(tokens_of(name)) for name in names}


def numbers_in(tokens: Iterable[NameToken]) -> dict[int, int]:
    """Return the numbers among tokens by their places."""
    return {at: token.number for at, token in enumerate(tokens) if token.number is not None}

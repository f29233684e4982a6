"""Hold the sentences of a reply against the rows of the world; plain data only.

A sentence is held against a row only if it, or what it answers, names what the row is about. What
it states of that is told by its nearness to examples, in which names and numbers stand for others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from evennia_ai.contrib.world_check.claims import DAYTIME, FREE, NOT, OTHER, SO, claim_kinds
from evennia_ai.contrib.world_check.facts import (
    ALONE,
    ASKER,
    CARRIED,
    EXIT,
    GAME,
    HOUR,
    OPEN,
    PERSON,
    PRICE,
    WorldFact,
    is_between,
)
from evennia_ai.contrib.world_check.names import (
    PLACE,
    WARE,
    NameIndex,
    NameMention,
    NameToken,
    in_words_of_examples,
    kind_of,
    numbers_in,
    tokens_of,
    with_sevens,
)
from evennia_ai.policy.facts.terms import Cosines, is_question, with_digits
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import language_of

SURE = (PRICE, EXIT)  # of which a claim may be surely wrong without an embedder
# How sure a sentence must be of a class, about 0 to 1, and how much surer than of `OTHER`; then of
# a sentence whose names or numbers tell something else.
SURE_ENOUGH, SURER, SUREST = (0.6, 0.25), (0.7, 0.4), (0.85, 0.5)
LEAST = {
    (PRICE, FREE): SURE_ENOUGH,
    **{(kind, SO): SURE_ENOUGH for kind in (EXIT, PERSON, OPEN)},
    **{(kind, NOT): SURE_ENOUGH for kind in (EXIT, PERSON, OPEN, CARRIED, ASKER)},
    **{(kind, SO): SURER for kind in (ALONE, HOUR)},  # every sentence may be about them
    **{(kind, SO): SUREST for kind in (CARRIED, ASKER)},
}
LEAST_IF_WRONG = LEAST | {(EXIT, SO): (0.35, -0.05), (PRICE, SO): (0.45, 0.1)}
OWNERS = {CARRIED: ASKER, ASKER: CARRIED}
WITH = OWNERS | {HOUR: DAYTIME}  # whose examples a kind needs beside its own
FEW_WORDS = 4  # of a sentence that tells the hour only to who asked for it
WHOLE_DAY = "0-24"
LETTERS = 3  # of a part of a ware's name that means it
MOST_NUMBERS = 8  # in a text that tells prices
LESS_SURE = 0.1  # than that a sentence tells no part of the day
SURE_PART = 0.4  # of a part of the day
LIKE_IT, NEARER = 0.6, 0.03  # the nearness to a sentence of a game's row; more than to its truth
NEAR_H, HALF_DAY_H, DAY_H = 1.0, 12, 24


@dataclass(frozen=True)
class Claim:
    """A sentence that may contradict a row, as it is compared with the examples of its kind."""

    fact: WorldFact
    text: str
    wrong_if: str = SO  # the class of which it must be to be wrong
    is_wrong: bool = False  # True if its numbers or names alone tell something else


class ClaimCheck:
    """Finds what sentences state, and which row they contradict.

    ``cosines`` tells how near texts are that were prepared; without an embedder it returns nothing,
    and only a price beside its ware and an exit beside another's place are sure.
    """

    def __init__(self, cosines: Cosines) -> None:
        self._cosines, self._kinds = cosines, claim_kinds()

    def claims_in(
        self, sentence: str, facts: Sequence[WorldFact], before: Sequence[str] = ()
    ) -> list[Claim]:
        """Return what a sentence may say against rows.

        ``before`` are the line that it answers and the sentences in front of it.
        """
        if is_question(sentence):
            return []
        text = with_digits(sentence).strip()
        parts = [with_digits(part).strip() for part in before]
        return list(_Sentence(sentence.strip(), text, facts, parts).claims())

    def to_prepare(self, claims: Iterable[Claim]) -> list[str]:
        """Return the texts that `contradicted` compares, each once."""
        texts = dict.fromkeys(claim.text for claim in claims)
        for kind in {claim.fact.kind for claim in claims} - {GAME}:
            for needed in filter(None, (kind, WITH.get(kind))):
                texts |= dict.fromkeys(self._kinds[needed].examples)
        game = (claim.fact for claim in claims if claim.fact.kind == GAME)
        return list(texts | dict.fromkeys(text for fact in game for text in sayings(fact)))

    def contradicted(self, claims: Iterable[Claim]) -> WorldFact | None:
        """Return the first row that prepared claims contradict, None if none surely."""
        return next((claim.fact for claim in claims if self._is_wrong(claim)), None)

    def _is_wrong(self, claim: Claim) -> bool:
        kind = claim.fact.kind
        if kind == GAME:
            return contradicts_game(claim, self._cosines(claim.text, sayings(claim.fact)))
        scores = self._kinds[kind].scores(claim.text, self._cosines)
        if not scores:
            return claim.is_wrong and kind in SURE
        sure = scores[claim.wrong_if]
        least, more = (LEAST_IF_WRONG if claim.is_wrong else LEAST)[kind, claim.wrong_if]
        if sure < least or sure < scores[OTHER] + more:
            return False
        if kind in OWNERS and sure < self._surest(OWNERS[kind], claim.text):
            return False
        if kind != HOUR:
            return True
        parts = self._kinds[DAYTIME].scores(claim.text, self._cosines)
        least = max(SURE_PART, parts.pop(WHOLE_DAY, 0.0) - LESS_SURE)
        hours = max(parts, key=lambda name: parts[name], default="")
        if not hours or parts[hours] < least:
            return claim.is_wrong
        return not is_between(hours, claim.fact.value)

    def _surest(self, kind: str, text: str) -> float:
        """Return how sure a sentence says of a kind that it is so or not."""
        scores = self._kinds[kind].scores(text, self._cosines)
        return max((scores[name] for name in (SO, NOT) if scores), default=0.0)


@dataclass(frozen=True)
class _Sentence:
    """A sentence with digits for its numbers, the rows, and what stands before it."""

    raw: str
    text: str
    facts: Sequence[WorldFact]
    before: Sequence[str]

    @cached_property
    def names(self) -> NameIndex:
        return NameIndex(self.facts)

    def claims(self) -> Iterator[Claim]:
        tokens = tokens_of(self.text)
        mentions = self.names.mentions(self.text, tokens)
        earlier, prefix_tokens, prefix = self._named_before()
        for fact in self.facts:
            kind = kind_of(fact)
            if fact.kind == ALONE:
                yield Claim(fact, self.raw)
            if fact.kind == HOUR:
                is_wrong, text = tells_other_hour(self.text, fact), with_sevens(self.text)
                if len(tokens) <= FEW_WORDS and self.before:
                    yield Claim(fact, with_sevens(f"{self.before[0]} {text}"), SO, is_wrong)
                if len(tokens) > FEW_WORDS or not numbers_in(text):
                    yield Claim(fact, text, SO, is_wrong)
            elif (kind, fact.names[:1]) in {(m.kind, (m.subject,)) for m in mentions}:
                shown = in_words_of_examples(self.text, tokens, mentions, fact)
                yield from self._about(fact, shown, mentions)
            elif (kind, fact.names[:1]) in {(m.kind, (m.subject,)) for m in earlier}:
                if any(mention.kind == kind for mention in mentions):
                    continue  # it is about another
                if kind != WARE and prefix != self.before[-1]:
                    continue
                shown = in_words_of_examples(prefix, prefix_tokens, earlier, fact)
                shown += " " + in_words_of_examples(self.text, tokens, mentions, fact)
                yield from self._about(fact, shown, mentions)

    def _named_before(self) -> tuple[Sequence[NameMention], Sequence[NameToken], str]:
        """Return what the nearest text before the sentence names that names anything."""
        for text in reversed(self.before):
            tokens = tokens_of(text)
            if mentions := self.names.mentions(text, tokens):
                return mentions, tokens, text
        return [], [], ""

    def _prices(self) -> list[int]:
        """Return the prices of the wares that the sentence or a text before it may name."""
        texts = (*self.before, self.text)
        words = tuple(t.stem for text in texts for t in tokens_of(text) if len(t.stem) >= LETTERS)
        return [
            int(fact.value)
            for fact in self.facts
            if fact.kind == PRICE
            and any(t.stem.endswith(words) for name in fact.names for t in tokens_of(name))
        ]

    def _about(
        self, fact: WorldFact, shown: str, mentions: Sequence[NameMention]
    ) -> Iterator[Claim]:
        """Yield what a sentence about a row's subject may say against it."""
        if fact.kind == EXIT:
            places = {mention.subject for mention in mentions if mention.kind == PLACE}
            is_wrong = bool(fact.value and places and fact.value not in places)
            yield Claim(fact, shown, SO if is_wrong or not fact.value else NOT, is_wrong)
        elif fact.kind == PRICE:
            if int(fact.value) and not numbers_in(self.text):
                yield Claim(fact, shown, FREE)
            elif is_other_price(self.text, self.before, int(fact.value), self._prices()):
                yield Claim(fact, with_sevens(shown), SO, True)
        elif fact.kind == OPEN:
            yield Claim(fact, with_sevens(shown), NOT if fact.value else SO)
        elif fact.kind == GAME:
            yield Claim(fact, self.text)
        else:
            yield Claim(fact, shown, NOT if fact.value else SO)


def is_other_price(text: str, before: Sequence[str], price: int, prices: Sequence[int]) -> bool:
    """Return True if a text has a number that no price explains, and not that of the ware.

    How many are wanted may stand in the text or in the line that it answers; ``prices`` are those
    of all wares that these name.
    """
    numbers, earlier = numbers_in(text), [n for part in before[1:] for n in numbers_in(part)]
    counts = {1, *numbers, *(n for part in before[:1] for n in numbers_in(part))} - {0}
    if len(counts) > MOST_NUMBERS:
        return False
    each = {item * count for item in prices for count in counts}
    quantities = {count for count in counts for item in prices if item * count in numbers}
    totals = {sum(earlier), *map(sum, combinations(sorted(each), 2))}
    is_stated = any(price * count in numbers for count in counts)
    return not is_stated and not (each | quantities | totals).issuperset(numbers)


def tells_other_hour(text: str, fact: WorldFact) -> bool:
    """Return True if a text has numbers, and none is an hour near to now."""
    now = int(fact.value) / 60
    numbers = [number / 100 if number > DAY_H else number for number in numbers_in(text)]
    return bool(numbers) and all(
        min((hour - now) % HALF_DAY_H, (now - hour) % HALF_DAY_H) > NEAR_H for hour in numbers
    )


def sayings(fact: WorldFact) -> list[str]:
    return [fact.truth, *fact.wrong]


def contradicts_game(claim: Claim, cosines: Sequence[float]) -> bool:
    """Return True for a sentence nearer to what is wrong than to the truth, or like the truth with
    other numbers.
    """
    if not cosines:
        return False
    truth, *wrong = cosines
    if max(wrong, default=0.0) >= max(LIKE_IT, truth + NEARER):
        return True
    known = set(numbers_in(with_digits(claim.fact.truth)))
    return truth >= LIKE_IT and bool(known) and bool(set(numbers_in(claim.text)) - known)


def answer_with(fact: WorldFact, line: str) -> str:
    """Return a row as a sentence if a line asks about it in English, else ""."""
    is_about = bool(NameIndex([fact]).mentions(line, tokens_of(line)))
    if fact.kind == CARRIED or not is_about or language_of(line) != ENGLISH:
        return ""
    return f"{fact.truth[:1].upper()}{fact.truth[1:].rstrip('.')}."

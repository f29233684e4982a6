"""Hold the sentences of a reply against the rows of the world; plain data only.

A sentence is held against a row only if it, or what it answers, names what the row is about. What
it states of that is told by its nearness to examples, in which names and numbers stand for others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from evennia_ai.contrib.world_check.claims import (
    DAYTIME,
    NOT,
    OTHER,
    SO,
    ClaimReader,
    Cosines,
    examples_of,
)
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
    THING,
    THINGS,
    NameIndex,
    NameMention,
    NameToken,
    in_words_of_examples,
    numbers_in,
    tokens_of,
    with_sevens,
)
from evennia_ai.policy.facts.terms import is_question, with_digits
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import language_of

SURE = (PRICE, EXIT)  # of which a claim may be surely wrong without an embedder
# How sure a sentence must be of a class, about 0 to 1.
LEAST = {
    EXIT: 0.5,
    PERSON: 0.5,
    ALONE: 0.5,
    CARRIED: 0.5,
    ASKER: 0.5,
    PRICE: 0.5,
    HOUR: 0.5,
    OPEN: 0.5,
}
MORE = dict.fromkeys(LEAST, 0.1)  # than that it is of neither class
OWNERS = {CARRIED: ASKER, ASKER: CARRIED}
WITH = OWNERS | {HOUR: DAYTIME}  # whose examples a kind needs beside its own
FEW_WORDS = 4  # of a sentence that tells the hour only to who asked for it
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
        self._cosines, self._reader = cosines, ClaimReader()

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
            texts |= dict.fromkeys(examples_of(kind))
            texts |= dict.fromkeys(examples_of(WITH[kind]) if kind in WITH else ())
        game = (claim.fact for claim in claims if claim.fact.kind == GAME)
        return list(texts | dict.fromkeys(text for fact in game for text in sayings(fact)))

    def contradicted(self, claims: Iterable[Claim]) -> WorldFact | None:
        """Return the first row that prepared claims contradict, None if none surely."""
        return next((claim.fact for claim in claims if self._is_wrong(claim)), None)

    def _is_wrong(self, claim: Claim) -> bool:
        kind = claim.fact.kind
        if kind == GAME:
            return contradicts_game(claim, self._cosines(claim.text, sayings(claim.fact)))
        scores = self._reader.scores(kind, claim.text, self._cosines)
        if not scores:
            return claim.is_wrong and kind in SURE
        sure = scores[claim.wrong_if]
        if sure < LEAST[kind] or sure < scores[OTHER] + MORE[kind]:
            return False
        if kind in OWNERS and sure < self._surest(OWNERS[kind], claim.text):
            return False
        if kind != HOUR or claim.is_wrong:
            return True
        parts = self._reader.scores(DAYTIME, claim.text, self._cosines)
        hours = max(parts, key=lambda name: parts[name], default="")
        return bool(hours) and parts[hours] >= SURE_PART and not is_between(hours, claim.fact.value)

    def _surest(self, kind: str, text: str) -> float:
        """Return how sure a sentence says of a kind that it is so or not."""
        scores = self._reader.scores(kind, text, self._cosines)
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
        mentions = self.names.mentions(tokens)
        earlier, prefix_tokens, prefix = self._named_before()
        for fact in self.facts:
            if fact.kind == ALONE:
                yield Claim(fact, self.raw)
            if fact.kind == HOUR:
                asks = self.before[:1] if len(tokens) <= FEW_WORDS else ()
                text = with_sevens(" ".join([*asks, self.text]))
                yield Claim(fact, text, SO, tells_other_hour(self.text, fact))
            own = [m for m in mentions if m.subject in fact.names and is_of(m, fact.kind)]
            if own:
                shown = in_words_of_examples(self.text, tokens, mentions, fact.names[0])
                yield from self._about(fact, shown, mentions)
            elif any(m.subject in fact.names and is_of(m, fact.kind) for m in earlier):
                if any(is_of(m, fact.kind) for m in mentions):
                    continue  # it is about another
                shown = in_words_of_examples(prefix, prefix_tokens, earlier, fact.names[0])
                shown += " " + in_words_of_examples(self.text, tokens, mentions, fact.names[0])
                yield from self._about(fact, shown, mentions)

    def _named_before(self) -> tuple[Sequence[NameMention], Sequence[NameToken], str]:
        """Return what the nearest text before the sentence names that names anything."""
        for text in reversed(self.before):
            tokens = tokens_of(text)
            if mentions := self.names.mentions(tokens):
                return mentions, tokens, text
        return [], [], ""

    def _about(
        self, fact: WorldFact, shown: str, mentions: Sequence[NameMention]
    ) -> Iterator[Claim]:
        """Yield what a sentence about a row's subject may say against it."""
        if fact.kind == EXIT:
            places = {mention.subject for mention in mentions if mention.kind == PLACE}
            is_wrong = bool(fact.value and places and fact.value not in places)
            yield Claim(fact, shown, SO if is_wrong or not fact.value else NOT, is_wrong)
        elif fact.kind == PRICE:
            wares = {f.names[0]: int(f.value) for f in self.facts if f.kind == PRICE}
            if is_other_price(self.text, self.before[:1], wares, fact.names[0]):
                yield Claim(fact, with_sevens(shown), SO, True)
        elif fact.kind == OPEN:
            yield Claim(fact, with_sevens(shown), NOT if fact.value else SO)
        elif fact.kind == GAME:
            yield Claim(fact, self.text)
        else:
            yield Claim(fact, shown, NOT if fact.value else SO)


def is_of(mention: NameMention, kind: str) -> bool:
    return mention.kind == (THING if kind in THINGS else kind)


def is_other_price(text: str, lines: Sequence[str], wares: Mapping[str, int], name: str) -> bool:
    """Return True if a text has a number that no price explains, and not that of a ware.

    How many are wanted may stand in the text or in the lines that it answers.
    """
    numbers = numbers_in(text)
    counts = {1, *numbers, *(number for line in lines for number in numbers_in(line))}
    each = {price * count for price in wares.values() for count in counts}
    explained = {*counts - {*numbers}, *each, *map(sum, combinations(sorted(each), 2))}
    is_told = any(wares[name] * count in numbers for count in counts - {0})
    return not is_told and not explained.issuperset(numbers)


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
    is_about = bool(NameIndex([fact]).mentions(tokens_of(line)))
    if fact.kind == CARRIED or not is_about or language_of(line) != ENGLISH:
        return ""
    return f"{fact.truth[:1].upper()}{fact.truth[1:].rstrip('.')}."

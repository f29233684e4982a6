"""A long talk in a game with facts planted in it, and a question for each in other words.

Seeded: the same seed gives the same talk. Its words, its names and its way to tell whether a fact
stands in a text are its own: nothing here comes from the package's search for facts.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from string import Formatter

from tests.bench.planted_words import CHANGED, CHATTER, POOLS, PUBLIC, REPLIES, ROOM, WHISPERED

PLAYERS = {"Tamsin": "#11", "Joren": "#12", "Petra": "#13"}
CHANGED_GAP = 60  # turns between a value and the one that takes its place, at least
ANSWERED = 0.5  # of what players say

ALIASES = {"m": "n", "q": "p", "item2": "item", "num2": "num", "time2": "time", "guild2": "guild"}
SLIGHT = frozenset(
    "a an the of in on at to for and or is are was were do does did have has had i my me you your"
    " we us our he she it they what who whom whose where when why how which that this there from"
    " with by be been am not no".split()
)


@dataclass(frozen=True)
class Planted:
    """One fact: ``keys`` are the words an answer needs, and what the question names of the fact, so
    that a number alone is no answer; ``turn`` is where it was said last; ``outdated`` what was
    true before, for one that has changed; ``named`` what its question names, which others mention
    too without saying anything of it."""

    kind: str
    speaker: str
    said: str
    question: str
    asker: str
    keys: tuple[str, ...]
    private: bool = False
    outdated: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    turn: int = 0

    @property
    def shared(self) -> frozenset[str]:
        """The words that fact and question have in common, slight ones left out."""
        return content(self.said) & content(self.question)


@dataclass(frozen=True)
class Line:
    """Something said; ``reply`` is the assistant's answer, if any, ``look`` what it saw before."""

    speaker: str
    text: str
    private: bool = False
    reply: str = ""
    look: str = ""


@dataclass(frozen=True)
class Talk:
    """The whole talk, in turns, and what is planted in it."""

    lines: tuple[Line, ...]
    facts: tuple[Planted, ...]


@dataclass
class Supply:
    """Words for slots, none twice before all have been used."""

    chance: random.Random
    left: dict[str, deque[str]] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)

    def draw(self, slot: str) -> str:
        """The next word for a slot."""
        pool = ALIASES.get(slot, slot)
        if not self.left.get(pool):
            words = list(POOLS[pool])
            self.chance.shuffle(words)
            self.left[pool] = deque(words)
        return self.left[pool].popleft()

    def fill(self, templates: Sequence[str], speaker: str) -> tuple[list[str], dict[str, str]]:
        """The templates with the same words in the same slots, and these words."""
        slots = {s for text in templates for _, s, _, _ in Formatter().parse(text) if s}
        words = {slot: self.draw(slot) for slot in sorted(slots - {"s"})} | {"s": speaker}
        return [text.format(**words) for text in templates], words


def make_talk(turns: int, facts: int, seed: int) -> Talk:
    """A talk of so many turns with so many facts planted in it.

    One fact in ten is whispered, and one in ten takes the place of an earlier one.
    """
    chance = random.Random(seed)
    supply = Supply(chance)
    few = max(1, facts // 10)
    planted = _plant(WHISPERED, few, supply, private=True)
    planted += _plant(PUBLIC, facts - 2 * few, supply, private=False)
    changed = _plant(CHANGED, few, supply, private=False)
    chance.shuffle(planted)
    places = sorted(chance.sample(range(turns), facts + few))
    later = chance.sample([at for at in places if at >= CHANGED_GAP + few], few)
    at_turn: dict[int, Planted] = {}
    early = [at for at in places if at < max(later)]
    for fact, at in zip(changed, sorted(later), strict=True):
        first = next(x for x in early if x not in at_turn and x not in later and x < at)
        at_turn[first] = replace(fact, turn=first, said=fact.outdated[0])
        at_turn[at] = replace(fact, turn=at)
    for fact, at in zip(planted, [x for x in places if x not in at_turn], strict=True):
        at_turn[at] = replace(fact, turn=at)
    named = [word for fact in at_turn.values() for word in fact.named]
    lines = tuple(_line(at_turn.get(at), at, named, supply) for at in range(turns))
    latest = {fact.question + fact.asker: fact for _, fact in sorted(at_turn.items())}
    return Talk(lines, tuple(latest.values()))


def _plant(source: str, many: int, supply: Supply, private: bool) -> list[Planted]:
    """So many facts, from every template in turn; no question is asked twice by the same player."""
    templates = [line.split("|") for line in source.strip().splitlines()]
    supply.chance.shuffle(templates)
    made: list[Planted] = []
    turns = cycle(templates)
    while len(made) < many:
        fact = _make(next(turns), supply, private)
        if (fact.question, fact.asker) not in supply.asked:
            supply.asked.add((fact.question, fact.asker))
            made.append(fact)
    return made


def _make(template: Sequence[str], supply: Supply, private: bool) -> Planted:
    kind, *told, asked, answer = template
    speaker = supply.chance.choice(sorted(PLAYERS))
    who, question = asked.split(": ", 1)
    (question, *said), words = supply.fill([question, *told], speaker)
    others = sorted(set(PLAYERS) - {speaker})
    asker = speaker if who == "i" else supply.chance.choice(others)
    keys = [word for text, slot, _, _ in Formatter().parse(answer) for word in text.split()]
    keys += [words[slot] for _, slot, _, _ in Formatter().parse(answer) if slot]
    anchors = content(said[-1]) & content(question)
    named = [word for slot, word in words.items() if slot != "s" and word in question]
    return Planted(
        kind, speaker, said[-1], question, asker, (*keys, *sorted(anchors)), private,
        tuple(said[:-1]), () if private else tuple(named),
    )  # fmt: skip


def _line(fact: Planted | None, turn: int, named: Sequence[str], supply: Supply) -> Line:
    chance = supply.chance
    reply = chance.choice(REPLIES) if chance.random() < ANSWERED else ""
    look = ROOM if turn % 25 == 24 else ""
    if fact is not None:
        return Line(fact.speaker, fact.said, fact.private, reply, look)
    text = chance.choice(CHATTER)
    slots = [s for _, s, _, _ in Formatter().parse(text) if s]
    words = {slot: chance.choice(named if slot == "a" else POOLS[slot]) for slot in slots}
    return Line(chance.choice(sorted(PLAYERS)), text.format(**words), False, reply, look)


def content(text: str) -> frozenset[str]:
    """The words of a text that mean something, each once."""
    return frozenset(re.findall(r"[^\W_]+", text.lower())) - SLIGHT


def stands_in(keys: Iterable[str], lines: Iterable[str]) -> bool:
    """True where one line holds all keys, each as it was said, whatever the case."""
    wanted = [re.compile(rf"(?<!\w){re.escape(key.lower())}(?!\w)") for key in keys]
    return any(all(key.search(line) for key in wanted) for line in map(str.lower, lines))

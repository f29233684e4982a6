"""A long talk in a game with facts planted in it, and two questions for each.

Seeded: the same seed gives the same talk. Its words, its names and its way to tell whether a fact
stands in a prompt are its own: nothing here comes from the package. `data/planted.txt` has the
facts and explains their form.
"""

import random
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, cycle
from pathlib import Path
from string import Formatter

from tests.bench.planted_words import CHATTER, POOLS, REPLIES, ROOM

FILE = Path(__file__).parent / "data" / "planted.txt"
PLAYERS = {"Tamsin": "#11", "Joren": "#12", "Petra": "#13"}
NAMED, BARE = "teller named", "bare"
WAYS = (NAMED, BARE)
HARD = ("correction", "answer", "split", "twice", "short")
FOREIGN = ("German", "French", "Spanish", "Russian")
SECRET, CHANGED, PLAIN = "secret", "changed", "plain"

LAST_TURNS = 40  # of a talk, in which nothing is planted: they are still in the prompt
GAP = 80  # turns before a later line, as far as chance keeps to it
ANSWERED = 0.5  # of what players say
INTERRUPTED = 0.3  # of lines that belong together

ALIASES = {"m": "n", "q": "p", "item2": "item", "num2": "num", "time2": "time", "guild2": "guild"}
BOTH, CORRECTS, REPLACES = " / ", " > ", " >> "
FIRST_PERSON = frozenset(
    "i my me we our ich mein meine wir je j mon ma mi yo я мой моя мою нас".split()
)
SLIGHT = frozenset(
    "a an the of in on at to for and or is are was were do does did have has had i my me you your"
    " we us our he she it they what who whom whose where when why how which that this there from"
    " with by be been am not no".split()
)


@dataclass(frozen=True)
class Line:
    """Something said; ``reply`` is the assistant's answer, if any, ``look`` what it saw before."""

    speaker: str
    text: str
    private: bool = False
    reply: str = ""
    look: str = ""


@dataclass(frozen=True)
class Question:
    """What one player asks about a fact."""

    asker: str
    text: str


@dataclass(frozen=True)
class Planted:
    """One fact: ``runs`` are its lines, those of a run said together, a later run much later.

    ``needs`` holds for each line that a prompt must show the words that must stand in it; ``how``
    is BOTH, CORRECTS or REPLACES. ``mentions`` are words of the bare question that others say too.
    """

    kind: str
    runs: tuple[tuple[Line, ...], ...]
    questions: dict[str, Question]
    needs: tuple[tuple[str, ...], ...]
    how: str = BOTH
    mentions: tuple[str, ...] = ()

    @property
    def private(self) -> bool:
        """Return True if the fact was whispered."""
        return self.kind == SECRET

    @property
    def lines(self) -> list[Line]:
        """Return all lines of the fact."""
        return [line for run in self.runs for line in run]

    def judge(self, way: str, shown: Iterable[str]) -> tuple[bool, bool]:
        """Return whether the fact stands in the lines of a prompt, and whether it stands stale.

        It is stale if what was true before stands there alone. The question itself counts for
        nothing.
        """
        lines = [line.lower() for line in shown if self.questions[way].text not in line]
        places = [places_of(keys, lines) for keys in self.needs]
        first, last = places[0], places[-1]
        if self.how == BOTH:
            return all(places), False
        stands = bool(last)
        if self.how == CORRECTS and stands:
            stands = bool(first) and max(last) > min(first)
        return stands, bool(first) and not last


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

    def draw(self, slot: str) -> str:
        """Return the next word for a slot."""
        pool = ALIASES.get(slot, slot)
        if not self.left.get(pool):
            words = list(POOLS[pool])
            self.chance.shuffle(words)
            self.left[pool] = deque(words)
        return self.left[pool].popleft()


@cache
def templates() -> dict[str, list[list[str]]]:
    """Return the cells of each fact in the file, by kind."""
    found: dict[str, list[list[str]]] = {}
    for row in FILE.read_text(encoding="utf-8").splitlines():
        if row.startswith("## "):
            found[row[3:]] = kind = []
        elif row and not row.startswith("#"):
            kind.append([cell.strip() for cell in row.split(" | ")])
    return found


def make_talk(turns: int, facts: int, seed: int) -> Talk:
    """Return a talk of so many turns with so many facts planted in it.

    A quarter of the facts are of the kinds in HARD, a quarter in FOREIGN languages, a tenth each
    are whispered and changed later, the others plain.
    """
    chance = random.Random(seed)
    supply = Supply(chance)
    planted = [fact for kind, many in shares(facts).items() for fact in _plant(kind, many, supply)]
    chance.shuffle(planted)
    mentions = [word for fact in planted for word in fact.mentions]
    chatter = (_chatter(mentions, chance) for _ in count())
    lines = arranged(planted, turns - LAST_TURNS, chatter, chance)
    lines += [next(chatter) for _ in range(turns - len(lines))]
    return Talk(tuple(_answered(line, at, chance) for at, line in enumerate(lines)), tuple(planted))


def shares(facts: int) -> dict[str, int]:
    """Return how many facts are of each kind."""
    many = dict.fromkeys((*HARD, *FOREIGN), 0)
    for kinds in (HARD, FOREIGN):
        for kind, _ in zip(cycle(kinds), range(facts // 4), strict=False):
            many[kind] += 1
    many |= {SECRET: max(1, facts // 10), CHANGED: max(1, facts // 10)}
    return many | {PLAIN: facts - sum(many.values())}


def _plant(kind: str, many: int, supply: Supply) -> list[Planted]:
    """Return so many facts, from every template in turn; no two have the same bare question."""
    rows = list(templates()[kind])
    supply.chance.shuffle(rows)
    made: dict[str, Planted] = {}
    for number in range(40 * many):
        fact = _make(kind, rows[number % len(rows)], supply)
        made.setdefault(fact.questions[BARE].text, fact)
        if len(made) == many:
            break
    return list(made.values())


def _make(kind: str, row: Sequence[str], supply: Supply) -> Planted:
    speaker, *others = supply.chance.sample(sorted(PLAYERS), len(PLAYERS))
    slots = {slot for cell in row for _, slot, _, _ in Formatter().parse(cell) if slot}
    words = {slot: supply.draw(slot) for slot in sorted(slots - {"s"})} | {"s": speaker}
    said, named, bare, needs = (cell.format(**words) for cell in row)
    if named == "=":
        named = f"According to {speaker}, {bare[0].lower()}{bare[1:]}"
    questions = {
        way: Question(*_turned(text, "i: ", speaker, others[0]))
        for way, text in ((NAMED, named), (BARE, bare))
    }
    runs = runs_of(said, speaker, others[0], kind == SECRET)
    how = next(sign for sign in (REPLACES, CORRECTS, BOTH) if sign in needs or sign == BOTH)
    parts = [tuple(part.split()) for part in needs.split(how)]
    mentions = () if kind == SECRET else tuple(w for w in words.values() if w in bare)
    told = [line for run in runs for line in run]
    return Planted(kind, runs, questions, _with_tellers(parts, told), how, mentions)


def runs_of(
    said: str, speaker: str, other: str, private: bool = False
) -> tuple[tuple[Line, ...], ...]:
    """Return the runs of a fact's lines as the file has them."""
    return tuple(
        tuple(Line(*_turned(text, "o: ", other, speaker), private) for text in run.split(" / "))
        for run in said.split(" / ... / ")
    )


def _turned(text: str, sign: str, if_signed: str, otherwise: str) -> tuple[str, str]:
    """Return who says a text, by the sign it begins with, and the text without it."""
    return (if_signed if text.startswith(sign) else otherwise, text.removeprefix(sign))


def _with_tellers(
    parts: Sequence[tuple[str, ...]], lines: Sequence[Line]
) -> tuple[tuple[str, ...], ...]:
    """Return the parts; to those that stand in a line with "I" or "my" the speaker's name added."""
    found = []
    for keys in parts:
        line = next(line for line in lines if places_of(keys, [line.text.lower()]))
        first_person = FIRST_PERSON & set(re.findall(r"[^\W_]+", line.text.lower()))
        found.append((*keys, line.speaker) if first_person else keys)
    return tuple(found)


def arranged(
    facts: Sequence[Planted], turns: int, chatter: Iterator[Line], chance: random.Random
) -> list[Line]:
    """Return the facts' lines at random places among chatter, later runs later."""
    placed: list[tuple[float, list[Line]]] = []
    for fact in facts:
        at, gap = 0.0, GAP / turns
        for number, run in enumerate(fact.runs, 1):
            at = chance.uniform(at, 1 - gap * (len(fact.runs) - number))
            placed.append((at, _interrupted(run, chatter, chance)))
            at += gap
    idle = turns - sum(len(run) for _, run in placed)
    placed += [(chance.random(), [next(chatter)]) for _ in range(idle)]
    placed.sort(key=lambda one: one[0])
    return [line for _, run in placed for line in run]


def _interrupted(run: Sequence[Line], chatter: Iterator[Line], chance: random.Random) -> list[Line]:
    """Return the lines of a run, some with somebody's chatter between them."""
    lines = [run[0]]
    for line in run[1:]:
        if chance.random() < INTERRUPTED:
            lines.append(next(chatter))
        lines.append(line)
    return lines


def _chatter(mentions: Sequence[str], chance: random.Random) -> Line:
    text = chance.choice(CHATTER)
    slots = [slot for _, slot, _, _ in Formatter().parse(text) if slot]
    words = {slot: chance.choice(mentions if slot == "a" else POOLS[slot]) for slot in slots}
    return Line(chance.choice(sorted(PLAYERS)), text.format(**words))


def _answered(line: Line, turn: int, chance: random.Random) -> Line:
    """Return a line with what the assistant says and sees, if anything."""
    reply = chance.choice(REPLIES) if chance.random() < ANSWERED else ""
    look = ROOM if turn % 25 == 24 else ""
    return Line(line.speaker, line.text, line.private, reply, look)


def content(text: str) -> frozenset[str]:
    """Return the words of a text that mean something, each once."""
    return frozenset(re.findall(r"[^\W_]+", text.lower())) - SLIGHT


def places_of(keys: Iterable[str], lines: Sequence[str]) -> list[int]:
    """Return which lines, in lower case, hold all keys as whole words."""
    wanted = [re.compile(rf"(?<!\w){re.escape(key.lower())}(?!\w)") for key in keys]
    return [at for at, line in enumerate(lines) if all(key.search(line) for key in wanted)]

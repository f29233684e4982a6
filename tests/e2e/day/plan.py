"""What happens in a day of play, and when: decided by a seed alone.

A plan is a list of steps in the order of time. Most are lines that players type; the others are
faults and what staff does. Players walk a ring of rooms; the plan follows them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

# What a step does besides a line that a player types.
TYPE, LOOK = "type", "look"
KILL, RELOAD, CLOCK, FORGET = "kill", "reload", "clock", "forget"
LOCK, UNLOCK, DISCONNECT, STOP_DATABASE = "lock", "unlock", "disconnect", "stop database"
MODEL, ADMIN = "model", "admin"

HOUR_S = 3_600
DAY_S = 24 * HOUR_S
SYLLABLES = (
    ("Bra", "Cor", "Dul", "Fen", "Gar", "Hol", "Jor", "Kel", "Lun", "Mor", "Nar", "Osk", "Pel",
     "Quen", "Ruf", "Sel", "Tor", "Ulm", "Vor", "Wil"),
    ("adan", "bert", "dric", "elin", "fara", "gund", "hild", "imar", "jana", "lotte", "mund",
     "nara", "olf", "piet", "rada", "sina", "tilo"),
)  # fmt: skip
# Weights of what a player does next. ``{mark}`` makes each line one of its own.
LINES = {
    "say {mind}, what about {mark}?": 40,
    "say {mind}, wave at me for {mark}": 9,
    "say {mind}, give me the mug, that is {mark}": 5,
    "say goodbye, {mind}, until {mark}": 4,
    "say the weather will turn, {mark}": 5,
    "whisper {mind} = keep {mark} to yourself": 18,
    "emote waves at {mind}, {mark}.": 6,
    "give coin to {mind}": 2,
    "drop mug": 4,
}
WALK, SIT = 12, sum(LINES.values())
WAYS = {"east": 1, "west": -1}
# How the endpoint of the model fails, the answers that small models give among it.
GARBAGE = (
    "rate_limited", "server_error", "overloaded", "reset", "html", "hang", "truncated_json",
    "broken_arguments", "wrong_arguments", "unknown_tool", "no_choices", "no_content", "filtered",
    "too_long", "no_usage", "absurd_usage",
)  # fmt: skip
SLOW_S, DOWN_S = 12.0, 4.0
LONGEST_ILL_S = 10.0
WELL = {"latency": 0.05, "faults": {"rate": 0.02, "names": list(GARBAGE)}}
ILL: tuple[dict[str, object], ...] = (
    {"latency": SLOW_S},
    {"faults": {"rate": 0.6, "names": list(GARBAGE)}},
    {"faults": {"rate": 1.0, "names": ["rate_limited"]}},
    {"refuse": DOWN_S},
)
# Moments of `crash_points` at which the server is killed; "" is any.
MOMENTS = (
    "", "", "after inbox row", "after turn begun", "before call recorded", "after intent stored",
    "after act executed", "before outcome stored", "before turn finished", "after summary asked",
    "before compaction stored", "after compaction stored",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How large a day is.

    Args:
        rooms: Where players are, in a ring.
        lonely: Rooms into which nobody ever comes.
        minds: Assistants in each room.
        players: How many play.
        play_s: How long, in seconds.
        lines_per_s: How many lines all players type in a second.
        faults: How often each kind of fault happens.
        looks: How often the promises are checked before the end.
    """

    rooms: int
    lonely: int
    minds: int
    players: int
    play_s: float
    lines_per_s: float
    faults: int
    looks: int


@dataclass(frozen=True)
class Step:
    """Something to do ``at_s`` seconds after the begin: ``who`` types ``line``, or a fault.

    ``mark`` is the word of the line that no other has. ``order`` is for the model's provider,
    ``amount`` a number of seconds.
    """

    at_s: float
    what: str
    who: str = ""
    line: str = ""
    mark: str = ""
    order: dict[str, object] = field(default_factory=dict)
    amount: float = 0.0


@dataclass(frozen=True)
class Cast:
    """Who is where: rooms by number, those of the ring first."""

    minds: dict[str, int]
    players: dict[str, int]
    ring: int

    @property
    def lonely(self) -> set[str]:
        """Return the assistants whom nobody meets."""
        return {name for name, room in self.minds.items() if room >= self.ring}


def cast_for(size: Size, seed: int) -> Cast:
    """Return who plays, and where they begin."""
    dice = random.Random(f"{seed}:cast")
    names = [first + second for first in SYLLABLES[0] for second in SYLLABLES[1]]
    dice.shuffle(names)
    rooms = size.rooms + size.lonely
    wanted = rooms * size.minds
    assert wanted + size.players <= len(names), "there are not enough names"
    minds = {name: number % rooms for number, name in enumerate(names[:wanted])}
    guests = names[wanted : wanted + size.players]
    return Cast(minds, {name: dice.randrange(size.rooms) for name in guests}, size.rooms)


def plan_day(size: Size, seed: int, on_postgresql: bool) -> list[Step]:
    """Return all steps of a day."""
    cast = cast_for(size, seed)
    dice = random.Random(f"{seed}:plan")
    troubles = plan_troubles(size, cast, dice, on_postgresql)
    looks = [Step(size.play_s * n / (size.looks + 1), LOOK) for n in range(1, size.looks + 1)]
    return sorted([*talk(size, cast, dice), *troubles, *looks], key=lambda step: step.at_s)


def talk(size: Size, cast: Cast, dice: random.Random) -> Iterator[Step]:
    """Yield the lines of all players."""
    places = dict(cast.players)
    marks = (f"k{number}" for number in count(1))
    at_s = 0.0
    while (at_s := at_s + dice.expovariate(size.lines_per_s)) < size.play_s:
        who = dice.choice(sorted(places))
        if dice.random() < WALK / (WALK + SIT):
            way = dice.choice(sorted(WAYS))
            places[who] = (places[who] + WAYS[way]) % cast.ring
            yield Step(at_s, TYPE, who, way)
            continue
        here = sorted(name for name, room in cast.minds.items() if room == places[who])
        line = dice.choices(list(LINES), list(LINES.values()))[0]
        mark = next(marks) if "{mark}" in line else ""
        yield Step(at_s, TYPE, who, line.format(mind=dice.choice(here), mark=mark), mark)


def plan_troubles(
    size: Size, cast: Cast, dice: random.Random, on_postgresql: bool
) -> Iterator[Step]:
    """Yield each kind of trouble ``size.faults`` times in any order, and clock jumps over a day."""
    met = sorted(set(cast.minds) - cast.lonely)
    kinds = [kind for kind in KINDS if on_postgresql or kind not in POSTGRESQL_ONLY]
    drawn = [kind for _ in range(size.faults) for kind in dice.sample(kinds, len(kinds))]
    jumps = [hours * HOUR_S for hours in hours_of_a_day(len(drawn), dice)]
    gap_s = size.play_s / (len(drawn) + 1)
    ills = [ILL[number % len(ILL)] for number in range(len(drawn))]
    for number, (kind, jump_s) in enumerate(zip(drawn, jumps, strict=True)):
        at_s = gap_s * (number + 0.5)
        last_s = min(gap_s / 2, 6.0)
        if jump_s:
            yield Step(at_s + 0.8 * gap_s, CLOCK, amount=jump_s)
        if kind == MODEL:
            yield Step(at_s, MODEL, order=ills.pop(0))
            yield Step(at_s + min(0.75 * gap_s, LONGEST_ILL_S), MODEL, order=WELL)
        elif kind == LOCK:
            yield Step(at_s, LOCK)
            yield Step(at_s + last_s, UNLOCK)
        elif kind == ADMIN:
            yield from what_staff_does(at_s, last_s, met, dice)
        elif kind == KILL:
            yield Step(at_s, KILL, line=dice.choice(MOMENTS))
        elif kind == FORGET:
            yield Step(at_s, FORGET, who=dice.choice(sorted(cast.players)))
        else:
            yield Step(at_s, kind, amount=last_s)


def hours_of_a_day(count: int, dice: random.Random) -> Sequence[int]:
    """Return by how many hours the clock jumps each time: a day together, once backwards."""
    jumps = [0] * count
    for _ in range(26):
        jumps[dice.randrange(count)] += 1
    back = dice.randrange(count)
    jumps[back] -= 2
    return jumps


def what_staff_does(
    at_s: float, last_s: float, met: list[str], dice: random.Random
) -> Iterator[Step]:
    """Yield orders of an admin: compactions, sleep, one assistant stopped, then all of them."""
    one, *others = dice.sample(met, 5)
    for other in others:
        yield Step(at_s, ADMIN, line=f"aicompact/keep {other}/2")
    yield Step(at_s, ADMIN, line=f"aisleep {one}")
    yield Step(at_s, ADMIN, line=f"aistop {others[0]}")
    yield Step(at_s + last_s / 2, ADMIN, line="aistop all")
    yield Step(at_s + last_s, ADMIN, line="aistart all")
    yield Step(at_s + last_s, ADMIN, line=f"aistart {others[0]}")


KINDS = (MODEL, KILL, RELOAD, FORGET, LOCK, ADMIN, DISCONNECT, STOP_DATABASE)
POSTGRESQL_ONLY = frozenset({DISCONNECT, STOP_DATABASE})

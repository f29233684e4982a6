"""Who tells whom which rumour: plain data, no clock, no rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from random import Random

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds, seconds
from evennia_ai.policy.records.record import Record

MOST_AT_ONCE = 10  # rumours that one character tells another at a meeting, the newest first
VISITS = 1 / 24  # how often those meet who know each other and are apart: about once a day


@dataclass(frozen=True)
class RumourSettings:
    """How a character passes rumours on."""

    rumour_delay: float = setting(
        3_600.0,
        "Time in the world from when a character hears a rumour until it tells it on.",
        seconds(0.0),
    )
    rumour_loss: float = setting(
        0.3, "Chance that a character leaves a rumour out at a meeting.", Bounds(0.0, 1.0)
    )
    rumour_hops: int = setting(
        8, "How many times a rumour may have been passed on for the character to tell it.",
        Bounds(0, 100),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hearing:
    """How one character came to know a rumour: from whom ("" for the first), when, after how many
    times it was passed on.
    """

    teller: str
    at: datetime  # from when it is known
    hops: int = 0


@dataclass(eq=False)
class Rumour:
    """A rumour: the number of its first row, the journal entry and the character that it began
    with, its words as a record, and how each who knows it came to it, by dbref.
    """

    id: int
    entry: str
    first: str
    assistant: int
    record: Record
    learnt_at: datetime
    heard: dict[str, Hearing] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, str]:
        """What the rows of a rumour have in common."""
        return self.assistant, self.entry


def meetings(
    rooms: Mapping[str, int | None], friends: Mapping[str, Iterable[str]], rng: Random
) -> list[tuple[str, str]]:
    """Return who meets whom now, both ways: all in one room, and now and then those who know
    each other.

    Args:
        rooms: the room of each character by dbref, None for nowhere.
        friends: whom characters know, by dbref.
        rng: decides on visits.
    """
    by_room: dict[int, list[str]] = {}
    for who, room in rooms.items():
        if room is not None:
            by_room.setdefault(room, []).append(who)
    met = {pair for present in by_room.values() for pair in combinations(sorted(present), 2)}
    known = {
        (min(who, other), max(who, other))
        for who, others in friends.items()
        for other in others
        if who in rooms and other in rooms and who != other
    }
    met |= {pair for pair in sorted(known - met) if rng.random() < VISITS}
    return [pair for one, two in sorted(met) for pair in ((one, two), (two, one))]


def select_told(
    known: Iterable[Rumour], teller: str, rules: RumourSettings, now: datetime, rng: Random
) -> list[Rumour]:
    """Return which of some rumours a teller passes on at a meeting, the newest first."""
    tellable = [
        rumour
        for rumour in known
        if (hearing := rumour.heard[teller]).at <= now and hearing.hops < rules.rumour_hops
    ]
    tellable.sort(key=lambda rumour: rumour.id, reverse=True)
    return [rumour for rumour in tellable if rng.random() >= rules.rumour_loss][:MOST_AT_ONCE]


def as_tree(rumour: Rumour) -> list[tuple[int, str]]:
    """Return who heard a rumour below whoever told them: the depth and the dbref of each."""
    told_by: dict[str, list[str]] = {}
    for who, hearing in rumour.heard.items():
        told_by.setdefault(hearing.teller, []).append(who)
    lines: list[tuple[int, str]] = []
    waiting = [(0, who) for who in told_by.get("", ())]
    while waiting:
        depth, who = waiting.pop()
        lines.append((depth, who))
        hearers = sorted(told_by.get(who, ()), key=lambda dbref: rumour.heard[dbref].at)
        waiting += [(depth + 1, hearer) for hearer in reversed(hearers)]
    return lines

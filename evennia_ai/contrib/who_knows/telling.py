"""Who tells whom which rumour: plain data, no clock, no rows."""

from collections.abc import Iterable, Iterator, Mapping
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
        3_600.0, "World time until another character knows a rumour it was told.", seconds(0.0)
    )
    rumour_loss: float = setting(
        0.3, "Chance that the character leaves a rumour out at a meeting.", Bounds(0.0, 1.0)
    )
    rumour_hops: int = setting(
        8, "The character tells a rumour on that came to it over fewer tellings.", Bounds(0, 100)
    )


@dataclass(frozen=True, slots=True)
class Retelling:
    """From whom a character has a rumour ("" for the first), since when, over how many tellings."""

    teller: str
    at: datetime
    hops: int = 0


@dataclass(eq=False)
class Rumour:
    """A rumour: the number of its first row, the journal entry and the character it began with,
    its words as a record, and all who know it, by dbref.
    """

    id: int
    entry: str
    first: str
    assistant: int
    record: Record
    learnt_at: datetime
    hearers: dict[str, Retelling] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, str]:
        """What the rows of a rumour have in common."""
        return self.assistant, self.entry

    def tree(self, teller: str = "", depth: int = 0) -> Iterator[tuple[int, str]]:
        """Yield the depth and the dbref of all who know it, each below whoever told them."""
        for who, telling in sorted(self.hearers.items(), key=lambda item: item[1].at):
            if telling.teller == teller:
                yield depth, who
                yield from self.tree(who, depth + 1)


def meetings(
    rooms: Mapping[str, int | None], friends: Mapping[str, Iterable[str]], rng: Random
) -> list[tuple[str, str]]:
    """Return who meets whom now, in both directions: all in one room, and some of those who know
    each other. ``rooms`` and ``friends`` are by dbref; a room of None is nowhere.
    """
    present: dict[int, list[str]] = {}
    for who, room in rooms.items():
        if room is not None:
            present.setdefault(room, []).append(who)
    met = {pair for people in present.values() for pair in combinations(sorted(people), 2)}
    pairs = ((who, other) for who, others in friends.items() for other in others)
    known = {(min(pair), max(pair)) for pair in pairs if rooms.keys() >= {*pair}}
    met |= {pair for pair in sorted(known - met) if len({*pair}) > 1 and rng.random() < VISITS}
    return [way for pair in sorted(met) for way in (pair, pair[::-1])]


def select_news(
    rumours: Iterable[Rumour], teller: str, rules: RumourSettings, now: datetime, rng: Random
) -> list[Rumour]:
    """Return which of some rumours a teller passes on at a meeting, the newest first."""
    tellable = [
        rumour
        for rumour in rumours
        if (telling := rumour.hearers.get(teller))
        and telling.at <= now
        and telling.hops < rules.rumour_hops
    ]
    tellable.sort(key=lambda rumour: rumour.id, reverse=True)
    return [rumour for rumour in tellable if rng.random() >= rules.rumour_loss][:MOST_AT_ONCE]

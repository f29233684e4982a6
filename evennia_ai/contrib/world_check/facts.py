"""The rows that a sentence is held against: what is so of a character's world now."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evennia_ai.policy.records.goal import clock

# What a row is about; what stands behind an exit is a place. Of others nothing depends on it.
EXIT, PLACE, PERSON, CARRIED, PRICE, OTHER = (
    "exit", "place", "person", "carried", "price", "other"
)  # fmt: skip
DAY = 24 * 60  # minutes
Names = Sequence[str]  # of one thing, the first as it is shown


@dataclass(frozen=True)
class WorldFact:
    """Something that is so now.

    A game gives ``names`` and ``truth``.

    Attributes:
        names: what a sentence may call it, none if every sentence may be about it.
        truth: the sentence that the model reads: "The bridge is closed."
        kind: what it is about, of the package's own.
        value: where an exit leads, or a price; "" says that there is no such exit.
    """

    names: tuple[str, ...]
    truth: str
    kind: str = OTHER
    value: str = ""


@dataclass(frozen=True)
class WorldView:
    """What is so around a character; each thing by its names.

    Attributes:
        exits: exits with the names of the places behind them.
        directions: those in which exits of this world may lead.
        people: those who are here, beside the character.
        absent: people who are elsewhere.
        elsewhere: things that neither the character nor the asker carries.
        prices: wares with their prices, and these in words.
        minute: of the world's day, None if that does not count.
        asker: the name of whom the character answers, "" for several people.
    """

    exits: Sequence[tuple[Names, str]] = ()
    directions: Iterable[str] = ()
    people: Sequence[Names] = ()
    absent: Iterable[Names] = ()
    carried: Sequence[Names] = ()
    asker_carries: Sequence[Names] = ()
    elsewhere: Sequence[Names] = ()
    prices: Iterable[tuple[Names, int, str]] = ()
    minute: int | None = None
    asker: str = ""


def own_rows(view: WorldView) -> list[WorldFact]:
    """Return the package's own rows."""
    carried, theirs, asker = view.carried, view.asker_carries, view.asker
    known = {name.casefold() for names, _place in view.exits for name in names}
    rows = [row(names, EXIT, f"{names[0]} leads to {place}", place) for names, place in view.exits]
    rows += [
        row((name,), EXIT, f"there is no exit {name} here")
        for name in view.directions
        if name.casefold() not in known
    ]
    rows += [row(names, PERSON, f"{names[0]} is here") for names in view.people]
    rows += [row(names, PERSON, f"{names[0]} is not here") for names in view.absent]
    rows += [
        *carried_rows(CARRIED, "you carry", carried, [*theirs, *view.elsewhere]),
        *carried_rows(
            OTHER, f"{asker or 'your hearer'} carries", theirs, [*carried, *view.elsewhere]
        ),
    ]
    rows += [
        row(names, PRICE, f"the price of {names[0]} is {words}", str(price))
        for names, price, words in view.prices
    ]
    others = [names[0] for names in view.people if asker and asker not in names]
    if others:
        rows.append(row((), OTHER, f"{' and '.join(others)} can hear you too"))
    if view.minute is not None:
        rows.append(row((), OTHER, f"it is {clock(view.minute)} now"))
    return rows


def opening_row(names: Names, first: int, last: int, minute: int) -> WorldFact:
    """Return a row of opening hours, all in minutes of the day: open from ``first`` to ``last``."""
    is_open = (minute - first) % DAY <= (last - first) % DAY
    state, hours = "open" if is_open else "closed", f"{clock(first)} to {clock(last)}"
    return row(names, OTHER, f"{names[0]} is {state} now, and open from {hours}")


def row(names: Names, kind: str, truth: str, value: str = "") -> WorldFact:
    return WorldFact(tuple(names), truth, kind, value)


def carried_rows(
    kind: str, who: str, carried: Sequence[Names], others: Sequence[Names]
) -> Iterator[WorldFact]:
    """Yield what somebody carries, and what they do not."""
    known = {name.casefold() for names in carried for name in names}
    for names in carried:
        yield row(names, kind, f"{who} {names[0]}")
    for names in others:
        if known.isdisjoint(map(str.casefold, names)):
            yield row(names, kind, f"{who} no {names[0]}")

"""The moments at which the fast campaigns kill, and how one is chosen.

A family is a kind of commit point: the operations of a store, the statements and commits of the
database, the deeds in the world, or any moment. A new feature with several steps, such as a
compaction, adds a family of its operations here, with the step that leads to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

BEFORE, AFTER = "before", "after"
AT_RANDOM = "at random"
LATEST_S = 0.12


@dataclass(frozen=True)
class Family:
    """Moments of one kind.

    A kill comes at one of the first ``latest`` passes of a moment. ``weight`` is how often the
    family is chosen. ``steps`` are methods of `simulation.play.Play` that lead to a rare moment.
    """

    moments: tuple[str, ...]
    latest: int
    weight: int
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kill:
    """When to kill: at the ``number``-th pass of ``moment``, such as "before turns.begin".

    A random kill comes ``delay_s`` seconds after the life began."""

    moment: str
    number: int = 1
    delay_s: float = 0.0


FAMILIES = {
    "hearing": Family(("inbox.put",), latest=6, weight=2),
    "turns": Family(("turns.begin", "turns.finish"), latest=4, weight=3),
    "acts": Family(("turns.intend", "turns.record_outcome"), latest=5, weight=5),
    "world": Family(("a deed",), latest=4, weight=4),
    "recovery": Family(("recovery",), latest=1, weight=1),
    "compaction": Family(
        ("log.compact", "statement of log.compact", "commit of log.compact"),
        latest=1,
        weight=4,
        steps=("order_compaction", "short_wait", "be_cramped", "short_wait"),
    ),
    "archive": Family(
        ("log.note_archived", "statement of log.note_archived", "commit of log.note_archived"),
        latest=1,
        weight=1,
        steps=("order_compaction", "short_wait", "undo_compaction"),
    ),
    "mask": Family(
        ("log.mask", "commit of log.mask"), latest=1, weight=1, steps=("see", "short_wait")
    ),
    "undo": Family(
        ("log.undo", "statement of log.undo", "commit of log.undo"),
        latest=1,
        weight=2,
        steps=("order_compaction", "long_wait", "undo_compaction"),
    ),
    "journal": Family(
        ("journal.add", "statement of journal.add", "commit of journal.add", "log.note_archived"),
        latest=1,
        weight=4,
        steps=("doze", "long_wait", "order_compaction", "long_wait"),
    ),
    "costs": Family(("turns.record_model_call",), latest=3, weight=1),
    "database": Family(("statement",), latest=90, weight=5),
    "transaction": Family(("commit",), latest=30, weight=4),
}
RANDOM_WEIGHT = 3


def choose_kill(rng: Random, families: Sequence[str] = ()) -> Kill:
    """Choose a random moment, of some families or of any."""
    chances = {name: FAMILIES[name].weight for name in families or FAMILIES}
    if not families:
        chances[AT_RANDOM] = RANDOM_WEIGHT
    name = rng.choices(list(chances), list(chances.values()))[0]
    if name == AT_RANDOM:
        return Kill(AT_RANDOM, delay_s=rng.uniform(0, LATEST_S))
    family = FAMILIES[name]
    moment = f"{rng.choice((BEFORE, AFTER))} {rng.choice(family.moments)}"
    return Kill(moment, rng.randint(1, family.latest))


def family_of(moment: str) -> str:
    """Return the family of a moment."""
    passed = moment.removeprefix(f"{BEFORE} ").removeprefix(f"{AFTER} ")
    found = (name for name, family in FAMILIES.items() if passed in family.moments)
    return next(found, AT_RANDOM)


def steps_towards(kill: Kill | None) -> tuple[str, ...]:
    """Return the steps that lead to a moment; none if it comes by itself."""
    family = FAMILIES.get(family_of(kill.moment)) if kill is not None else None
    return family.steps if family is not None else ()

"""Whether the authors of a prompt may have a tool used, by Evennia's locks (P8).

A player is asked by the accounts that own the character, whether they play it now or not: Evennia
itself would ask an unplayed character's own permissions, which may be more or less than the
account's. A superuser's bypass never counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import product
from types import SimpleNamespace
from typing import Any

from evennia.locks.lockhandler import check_lockstring
from evennia.objects.models import ObjectDB
from twisted.logger import Logger

from evennia_ai.game.authorship import owners_of
from evennia_ai.messages import Authors
from evennia_ai.policy.authors import BUILDER, GAME, LOCK_FUNCTION, STRANGER, people_among

log = Logger()

Found = Callable[[Iterable[str]], Iterable[Any | None]]

FOR_ALL = frozenset({"all()", "true()"})
# Lock functions about what a builder can give anybody: tags, attributes, things, places.
GIVEN_BY_BUILDERS = frozenset(
    "tag attr attr_eq attr_gt attr_ge attr_lt attr_le attr_ne locattr holds inside inside_rec "
    "has_account".split()
)
MOST_KEPT = 1_000  # people in memory
MOST_READ = 20  # people for one question
MOST_TRIED = 6  # of these functions in one lock; with more a builder's text does not pass


class Played:
    """A character as a lock sees it while one of its owners plays it."""

    def __init__(self, character: Any, account: Any) -> None:
        self._character, self.account = character, account

    def __getattr__(self, name: str) -> Any:
        return getattr(self._character, name)

    @property
    def __class__(self) -> type:
        """The character's class: Evennia's lock functions look at it."""
        return type(self._character)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("a view of a character has no class of its own")

    def __eq__(self, other: object) -> bool:
        return bool(self._character == other)

    def __hash__(self) -> int:
        return hash(self._character)


class UnnamedBuilder:
    """Somebody with the permission Builder and nothing else, for Evennia's lock functions."""

    locks = SimpleNamespace(lock_bypass=False)
    permissions = SimpleNamespace(all=lambda: ["builder"])
    attributes = SimpleNamespace(has=lambda *_a, **_k: False, get=lambda *_a, **_k: None)
    tags = SimpleNamespace(has=lambda *_a, **_k: False, get=lambda *_a, **_k: None)
    account = location = dbref = None
    contents = ()
    has_account = is_superuser = False


UNNAMED_BUILDER = UnnamedBuilder()


class People:
    """The people whom locks are asked of, kept in memory between turns.

    Evennia forgets an object that nothing refers to, and reads it again with its tags, its
    permissions and its account. So the latest people are referred to here, and only a few new ones
    are read for one question: a crowd in a long talk would hold the reactor.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._answers: dict[tuple[Authors, str], bool] = {}
        self._turn: object = None

    def all_may(self, authors: Authors, lock: str, turn: object = None) -> bool:
        """Return True if every author passes a lock, asked once in each turn."""
        if turn is None:
            return all_may(authors, lock, self.found)
        if turn != self._turn:
            self._turn, self._answers = turn, {}
        asked = (authors, lock)
        if asked not in self._answers:
            self._answers[asked] = all_may(authors, lock, self.found)
        return self._answers[asked]

    def found(self, dbrefs: Iterable[str]) -> Iterator[Any | None]:
        """Yield the objects with some dbrefs, those in memory first.

        At last yield None if any is deleted, or if too many are not in memory yet: a later question
        goes on reading them. One query at most.
        """
        missing = set[int]()
        for number in sorted(int(dbref.lstrip("#")) for dbref in dbrefs):
            cached = ObjectDB.get_cached_instance(number)
            if cached is None or not cached.pk:
                missing.add(number)
            else:
                yield self._keep(number, cached)
        if missing:
            for one in ObjectDB.objects.filter(id__in=sorted(missing)[:MOST_READ]):
                missing.discard(one.id)
                yield self._keep(one.id, one)
        if missing:
            yield None

    def _keep(self, number: int, one: Any) -> Any:
        self._kept[number] = one
        self._kept.move_to_end(number)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return one


def all_may(authors: Authors, lock: str, found: Found) -> bool:
    """Return True if every author passes a lock; without authors, if everybody does.

    ``found`` returns the objects with some dbrefs, None for those that are not to be found.
    """
    if lock.strip() in FOR_ALL:
        return True
    if not authors or STRANGER in authors:
        return False
    if BUILDER in authors and not builders_may(lock):
        return False
    people = people_among(authors)
    if authors - people - {BUILDER, GAME}:
        return False
    return all(character is not None and may(character, lock) for character in found(people))


def may(character: Any, lock: str) -> bool:
    """Return True if a character passes a lock, by every account that owns or plays it."""
    owners, is_orphan = owners_of(character)
    if is_orphan:
        return False
    players = {account.id: account for account in (*owners, character.account) if account}
    if not players:
        return passes(character, lock)
    return all(passes(Played(character, account), lock) for account in players.values())


def passes(who: Any, lock: str) -> bool:
    """Return True if somebody passes a lock; an error in a lock function counts as a no."""
    try:
        return bool(check_lockstring(who, f"use:{lock}", no_superuser_bypass=True))
    except Exception:  # noqa: BLE001  # a game's lock function may raise anything
        log.failure("the lock {lock} raised an error and refuses", lock=lock)
        return False


@lru_cache(maxsize=256)
def builders_may(lock: str) -> bool:
    """Return True if some builder could pass a lock, whatever they have to give themselves for it.

    Permissions are asked of somebody with the permission Builder.
    """
    calls = [match for match in LOCK_FUNCTION.finditer(lock) if match[1] in GIVEN_BY_BUILDERS]
    if len(calls) > MOST_TRIED:
        return False
    for answers in product(("true()", "false()"), repeat=len(calls)):
        tried = lock
        for match, answer in zip(reversed(calls), answers, strict=True):
            tried = tried[: match.start()] + answer + tried[match.end() :]
        if passes(UNNAMED_BUILDER, tried):
            return True
    return False

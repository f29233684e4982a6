"""Who of an old world is who in the new one, and references to people with other numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB

from evennia_ai.errors import ConfigError
from evennia_ai.game.perception import PUPPETEERS, listed_by
from evennia_ai.policy.audience import BUILDER, GAME, STRANGER
from evennia_ai.policy.call_record import LockAsked, read_locks, stored_locks
from evennia_ai.policy.compaction.restored_context import ENTITY
from evennia_ai.policy.records.forgetting import FORGOTTEN
from evennia_ai.store import server_settings
from evennia_ai.store.personal_data import PLACES, ErasureRule

# A setting of the server: the number of the next person in a file who is not in this world.
NEXT_STRANGER = "evennia_ai_next_stranger"
NOBODY = 2_000_000_000  # no object has this number or a higher one
# Columns with people's words, in which a number means nobody; summaries have people as keys.
WORDS = frozenset(
    name for place in PLACES if place.law is not ErasureRule.REWRITTEN for name in place.words
)
LOCKS = "locks"  # a column of JSON in text, with people in it
NUMBER = re.compile(r"#\d+")
WHO = rf"(?:(?:{ENTITY}:)?#\d++|{GAME}|{BUILDER}|{STRANGER})"
PEOPLE = re.compile(rf"\A[\s,]*+{WHO}(?:[\s,]++{WHO})*+[\s,]*+")

Rename = Callable[[str], str]
Row = dict[str, Any]


@dataclass
class Matching:
    """Who of the old world is who in the new one, by number."""

    people: Mapping[str, Row]  # of the old world: name, and account and its time if a player's
    by_hand: Mapping[str, str] = field(default_factory=dict)  # old number or name: new number
    players_by_name: bool = False

    def __post_init__(self) -> None:
        self.players = players()
        self.next_stranger = max(NOBODY, server_settings.stored(NEXT_STRANGER) or 0)
        self.strangers: dict[str, str] = {}  # who is not here: the number that stands for them
        by_hand = {self.named(wanted) for wanted in self.by_hand}
        matches = {old: new for old in self.people if (new := self.find(old))}
        taken = Counter(matches.values())  # two of one name may both seem to be the only one here
        self.found = {old: new for old, new in matches.items() if taken[new] == 1 or old in by_hand}

    def named(self, wanted: str) -> str:
        """Return the number of whom an admin names; raises ConfigError unless that is one."""
        matches = [
            old for old, person in self.people.items() if wanted in (old, person["name"].lower())
        ]
        if len(matches) != 1:
            raise ConfigError(
                f"{len(matches)} in the file are called '{wanted}'. "
                + ("Map each by number." if matches else "See `load --dry-run` for who is in it.")
            )
        return matches[0]

    def find(self, old: str) -> str:
        """Return the number of somebody in the new world, "" if that is not certain."""
        then = self.people[old]
        by_hand = self.by_hand.get(old) or self.by_hand.get(then["name"].lower())
        if by_hand:
            return by_hand
        if "account" not in then:
            named = ObjectDB.objects.filter(db_key__iexact=then["name"]).values_list("id")
            same = {f"#{number}" for (number,) in named} - self.players.keys()
        else:
            sure = ("name", "account") if self.players_by_name else ("name", "account", "joined")
            wanted = [then[name] for name in sure]
            same = {
                player for player, now in self.players.items() if wanted == [now[n] for n in sure]
            }
        return same.pop() if len(same) == 1 else ""

    def rename(self, old: str) -> str:
        """Return the new number of somebody; whoever is not here gets one that was never used."""
        if old == FORGOTTEN:
            return old
        if old not in self.found and old not in self.strangers:
            self.strangers[old] = f"#{self.next_stranger}"
            self.next_stranger += 1
        return self.found.get(old) or self.strangers[old]

    def missing(self) -> list[str]:
        lost = [(person["name"], self.rename(old)) for old, person in self.people.items()
                if old not in self.found]  # fmt: skip
        return [f"{name} ({number})" for name, number in sorted(lost)]

    def keep_numbers(self) -> None:
        """Note that no later load may use the numbers of strangers; raises StoreUnavailable."""
        server_settings.write(NEXT_STRANGER, self.next_stranger)


def players() -> dict[str, Row]:
    """Return the characters of players by number, with the accounts that tell who they are."""
    accounts = {account.id: account for account in AccountDB.objects.all()}
    owned = [(item, account) for account in accounts.values() for item in listed_by(account)]
    for item in ObjectDB.objects.filter(db_lock_storage__contains="puppet:"):
        numbers = PUPPETEERS.findall(str(item.locks.get("puppet")))
        owned += [(item, accounts[int(n)]) for n in numbers if int(n) in accounts]
    return {
        item.dbref: {"name": item.key, "account": account.username,
                    "joined": account.date_joined.isoformat()} for item, account in owned
    }  # fmt: skip


def renamed(value: Any, rename: Rename) -> Any:
    """Return plain data in which every text of nothing but people has other numbers."""
    if isinstance(value, str):
        if "#" not in value or not PEOPLE.fullmatch(value):
            return value
        text = NUMBER.sub(lambda match: rename(match[0]), value)
        return ",".join(in_order(value.split(","), text.split(",")))
    if isinstance(value, Mapping):
        return {renamed(key, rename): renamed(item, rename) for key, item in value.items()}
    if isinstance(value, list | tuple):
        new = [renamed(item, rename) for item in value]
        return in_order(list(value), new) if all(isinstance(item, str) for item in new) else new
    return value


def in_order(old: list[str], new: list[str]) -> list[str]:
    """Return people sorted if they were: keys of summaries and of memories compare them so."""
    return sorted(new) if old != new and old == sorted(old) else new


def renamed_fields(fields: Mapping[str, Any], rename: Rename) -> Row:
    """Return a row's columns in which people have other numbers, but for the words."""
    new = {n: v if n in WORDS else renamed(v, rename) for n, v in fields.items()}
    if fields.get(LOCKS):
        new[LOCKS] = stored_locks([LockAsked(*renamed(read_lock, rename))
                                   for read_lock in read_locks(fields[LOCKS])])  # fmt: skip
    return new


def described(dbrefs: set[str]) -> dict[str, Row]:
    """Return who stands behind numbers of objects, as far as they still exist."""
    ids = [int(dbref[1:]) for dbref in dbrefs if not is_stranger(dbref)]
    named = ObjectDB.objects.filter(id__in=ids).values_list("id", "db_key")
    own = players()
    here = {f"#{number}": own.get(f"#{number}", {"name": key}) for number, key in named}
    return here | {dbref: {"name": dbref} for dbref in dbrefs if is_stranger(dbref)}


def is_stranger(dbref: str) -> bool:
    """Return True for a number that `load` gave to somebody who was not there."""
    return bool(NUMBER.fullmatch(dbref)) and int(dbref[1:]) >= NOBODY


def existing(dbref: str) -> str:
    """Return the number of an object that is here; raises ConfigError for anything else."""
    if not NUMBER.fullmatch(dbref):
        raise ConfigError(f"'{dbref}' is no number of an object, such as #12.")
    if not ObjectDB.objects.filter(id=int(dbref[1:])).exists():
        raise ConfigError(f"There is no object {dbref}.")
    return dbref


def read_map(pairs: Iterable[str]) -> dict[str, str]:
    """Return what pairs such as "Ann=#12" say; raises ConfigError."""
    split = (pair.rpartition("=") for pair in pairs)
    return {old.strip().lower(): existing(new.strip()) for old, _, new in split}

"""The authors of what a character sees: who may have written an object's name and description."""

import re
from collections.abc import Iterable
from typing import Any

from evennia.accounts.models import AccountDB
from evennia.objects.objects import DefaultCharacter

from evennia_ai.messages import Authors
from evennia_ai.policy.audience import BUILDER, STRANGER, editors_in

PUPPETEERS = re.compile(r"\bp(?:id|dbref)\(#?(\d+)\)")


def authors_of_object(obj: Any) -> Authors:
    """Return who may have written an object's name and description (`policy.audience`).

    Builders may have, those whom its locks ``edit`` and ``control`` pass, and a player's character.
    """
    objects, accounts, anybody = editors_in(" or ".join(map(obj.locks.get, ("edit", "control"))))
    authors = {BUILDER, *(f"#{number}" for number in objects)}
    is_played = obj.has_account or PUPPETEERS.search(str(obj.locks.get("puppet")))
    if isinstance(obj, DefaultCharacter) and is_played:
        authors.add(obj.dbref)
    elif accounts:
        authors.update(characters_of(accounts))
    return frozenset({*authors, STRANGER} if anybody else authors)


def authors_of_objects(objects: Iterable[Any]) -> Authors:
    return frozenset[str]().union(*map(authors_of_object, objects))


def characters_of(accounts: Iterable[int]) -> Authors:
    """Return the characters of some accounts, a stranger for an account without any."""
    characters_found = set[str]()
    for number in accounts:
        account = AccountDB.get_cached_instance(number) or AccountDB.objects.get_id(number)
        characters = [item.dbref for item in listed_by(account)] if account else []
        characters_found.update(characters or [STRANGER])
    return frozenset(characters_found)


def listed_by(account: Any) -> list[Any]:
    """Return an account's characters; Evennia's handler needs four queries a reading (measured)."""
    return [item for item in account.attributes.get("_playable_characters") or () if item]


def owners_of(character: Any) -> tuple[list[Any], bool]:
    """Return the accounts that own a character, and whether a deleted one may have owned it.

    The ``puppet`` lock names whom to ask, among them a builder who only created the character.
    """
    numbers = {int(number) for number in PUPPETEERS.findall(str(character.locks.get("puppet")))}
    cached = {number: AccountDB.get_cached_instance(number) for number in numbers}
    accounts = [account for account in cached.values() if account]
    missing = [number for number, account in cached.items() if not account]
    accounts += AccountDB.objects.filter(id__in=missing)
    owners = [account for account in accounts if character in listed_by(account)]
    return owners, bool(numbers) and not accounts


def is_played_by(account: Any, character: Any) -> bool:
    """Return True unless a builder's account lists a character that nobody ever played."""
    has_been_left = character.attributes.has("prelogout_location")
    is_builders = account.check_permstring("Builder")
    return has_been_left or not is_builders or account.db._last_puppet == character

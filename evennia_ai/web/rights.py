"""What an account may read on the web, for the staff pages and for REST.

Rights come from the tables, by account, since a web thread must not use Evennia's lock handlers. A
quelled account keeps its rights here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from django.conf import settings
from evennia.accounts.models import AccountDB

from evennia_ai.game.script_ports import GameServices
from evennia_ai.policy.disclosure import Reader


def reader_of(account: int, services: GameServices) -> Reader:
    """Return an account as a reader of stored words."""
    superuser, held = rights_of(account)
    hierarchy = [name.lower() for name in settings.PERMISSION_HIERARCHY]
    has = partial(holds, held, hierarchy)
    return Reader(services.who_may_read, (lambda _: True) if superuser else has)


def rights_of(account: int) -> tuple[bool, frozenset[str]]:
    """Return whether an account is a superuser, and its permissions. One query."""
    rows = AccountDB.objects.filter(id=account, is_active=True).values_list(
        "is_superuser", "db_tags__db_tagtype", "db_tags__db_key"
    )
    found = list(rows)
    held = frozenset(key.lower() for _, kind, key in found if kind == "permission")
    return any(row[0] for row in found), held


def holds(held: Collection[str], hierarchy: Sequence[str], wanted: str) -> bool:
    """Return True if some permissions include one, or one above it in the game's hierarchy."""
    known = {singular(name, hierarchy) for name in held}
    name = singular(wanted.lower(), hierarchy)
    enough = hierarchy[hierarchy.index(name) :] if name in hierarchy else [name]
    return not known.isdisjoint(enough)


def singular(name: str, hierarchy: Sequence[str]) -> str:
    """Return a permission without the plural that Evennia also understands."""
    return name[:-1] if name not in hierarchy and name[:-1] in hierarchy else name

"""What the package keeps in Evennia's table of server settings, one row for each key.

Every key begins with ``evennia_ai_``; the command ``ai_uninstall`` finds the rows by that.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast
from uuid import uuid4

from django.conf import settings
from django.dispatch import Signal
from evennia.server.models import ServerConfig
from twisted.logger import Logger

from evennia_ai.store.server_lock import this_shard
from evennia_ai.store.transactions import brief_transaction

log = Logger()

# Marks on characters whose long-term memory may hold what their journals no longer do.
MARKS = "evennia_ai_deletion_marks"
# Who waits to be forgotten, and by whom: kept until it is done, so that a restart resumes it.
WISHES = "evennia_ai_to_forget"
# Why an admin stopped all assistants.
SWITCH = "evennia_ai_switched_off"
# This game's name in a store that several games may share.
GAME = "evennia_ai_game"
# What is known of model endpoints.
FACTS = "evennia_ai_endpoints"
# How the world's time ran (`game.world_clock`).
WORLD_TIME = "evennia_ai_world_time"

# The server process that started last.
NEWEST = "evennia_ai_server"

# Sent after a character was marked.
marked = Signal()


def stored(key: str, lock: bool = False) -> Any:
    """Return a stored value, None without one, not from any cache: other servers write it, too.

    With ``lock`` nobody else can change it until the transaction ends.
    """
    rows = ServerConfig.objects.filter(db_key=key)
    return (rows.select_for_update() if lock else rows).values_list("db_value", flat=True).first()


def read_mapping(key: str, lock: bool = False) -> dict[Any, Any]:
    """Return a stored mapping, an empty one if there is none."""
    mapping = stored(key, lock)
    return dict(mapping) if isinstance(mapping, Mapping) else {}


def of_shard(key: str, shard: str | None = None) -> str:
    """Return the key of a value that each shard of `evennia-shards` has, by default this one."""
    return f"{key} {this_shard() if shard is None else shard}".strip()


def write(key: str, value: Any) -> None:
    """Store a value, or delete the row of an empty one; raises StoreUnavailable."""
    with brief_transaction():
        if value:
            ServerConfig.objects.conf(key, value)
        else:
            ServerConfig.objects.conf(key, delete=True)


def newest_server() -> int | None:
    """Return the number of the server process that started last, not from any cache."""
    return cast("int | None", stored(of_shard(NEWEST)))


def mark_for_deletion(character_id: int) -> None:
    """Note that long-term memory must be cleaned, too; raises StoreUnavailable."""
    with brief_transaction():
        marks = read_mapping(MARKS, lock=True)
        write(MARKS, {**marks, character_id: marks.get(character_id, 0) + 1})
    marked.send_robust(None)


def deletion_marks() -> dict[int, int]:
    """Return how often each character is marked, by its id."""
    return {mark: times for mark, times in read_mapping(MARKS).items() if isinstance(mark, int)}


def note_deleted(character_id: int, number: int) -> None:
    """Remove a character's mark, unless it was marked again; raises StoreUnavailable."""
    with brief_transaction():
        marks = read_mapping(MARKS, lock=True)
        if marks.get(character_id) == number:
            del marks[character_id]
            write(MARKS, marks)


def wishes() -> dict[int | None, list[str]]:
    """Return the dbrefs of those who wait to be forgotten, by assistant; None: by all."""
    wishes_found: dict[int | None, list[str]] = {}
    for wish in _stored_wishes(of_shard(WISHES)):
        dbref, _, assistant = wish.partition(" ")
        wishes_found.setdefault(int(assistant) if assistant else None, []).append(dbref)
    return wishes_found


def change_wishes(people: Iterable[str], assistant: int | None, wait: bool) -> None:
    """Note that some people wait to be forgotten, or no longer; raises StoreUnavailable.

    A wish is stored as "#12", or as "#12 7" for the assistant 7 only.
    """
    marks = {dbref if assistant is None else f"{dbref} {assistant}" for dbref in people}
    with brief_transaction():
        before = {*_stored_wishes(of_shard(WISHES), lock=True)}
        write(of_shard(WISHES), sorted(before | marks if wait else before - marks))


def tell_shards(people: Iterable[str]) -> None:
    """Note for each other shard that some people wait to be forgotten by all; raises as above.

    This server deletes the words, but their minds may hold them in memory, and write of them.
    """
    if not this_shard():
        return
    with brief_transaction():
        for shard in sorted({*settings.SHARD_URLS} - {this_shard()}):
            before = {*_stored_wishes(of_shard(WISHES, shard), lock=True)}
            write(of_shard(WISHES, shard), sorted(before | {*people}))


def _stored_wishes(key: str, lock: bool = False) -> list[str]:
    """Return the wishes under a key; leaves damaged ones out, and tells of them."""
    stored_list = stored(key, lock=lock) or []
    listed = list(stored_list) if isinstance(stored_list, Iterable) else [stored_list]
    texts = [item for item in listed if isinstance(item, str) and item.startswith("#")]
    known = [text for text in texts if text[1:].replace(" ", "", 1).isdecimal()]
    if known != listed:
        log.error("evennia_ai: a damaged wish to be forgotten is left out; type forgetme again")
    return known


def game_name() -> str:
    """Return this game's name in a store of several games, made once; raises StoreUnavailable."""
    name = str(ServerConfig.objects.conf(GAME) or "")
    if not name:
        write(GAME, name := uuid4().hex[:12])
    return name

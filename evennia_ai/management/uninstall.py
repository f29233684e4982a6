"""Removing the package from a game: finding its data, and deleting it.

``evennia ai_uninstall`` runs this in its own process while the game is stopped.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.db.models import Model, Q, QuerySet
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.server.models import ServerConfig
from evennia.typeclasses.attributes import Attribute

from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import game_setting
from evennia_ai.memory.mem0_setup import remove_files
from evennia_ai.memory.semantic import read_settings
from evennia_ai.store.attributes import MENU_DRAFT, TYPES
from evennia_ai.store.rows import delete_rows
from evennia_ai.store.who_knows import STORES

PACKAGE = "evennia_ai"
# The Attributes that the package writes on characters; a test compares this with the code.
ATTRIBUTES = tuple(name for name in TYPES if name.startswith("ai_"))
EVENNIA_MENU = "evennia.utils.evmenu."
CHUNK = 500
ROWS_A_PROGRESS_LINE = 10_000
IN_CODE = (PACKAGE, "AI_ASSISTANT")

Say = Callable[[str], Any]


@dataclass(frozen=True)
class Traces:
    """The data of the package in a game, in numbers."""

    assistants: int
    rows: dict[str, int]  # by table name
    typeclasses: dict[str, int]  # objects by the path of their typeclass of ours
    attributes: dict[str, int]  # characters by the name or the type of an Attribute
    code: list[str]  # lines in the game's own files that name us, as ``file:line: text``


def find_traces() -> Traces:
    """Return the data of the package; changes nothing."""
    paths = our_objects().values_list("db_typeclass_path", flat=True)
    plain = our_attributes().filter(db_attrtype=None).values_list("db_key", flat=True)
    holders = {kind: ObjectDB.objects.filter(db_attributes__db_attrtype=kind) for kind in STORES}
    records = Counter({kind: rows.distinct().count() for kind, rows in holders.items()})
    return Traces(
        assistants=our_scripts().count(),
        rows={model._meta.db_table: model._default_manager.count() for model in our_models()},
        typeclasses=dict(Counter(paths)),
        attributes=dict(sorted((Counter(plain) + records).items())),
        code=list(lines_of_code(Path(settings.GAME_DIR))),
    )


def remove_traces(say: Say) -> None:
    """Delete all rows and Attributes; report each step. The tables stay."""
    for model in our_models():
        erase_table(model, say)
    scripts = list(our_scripts().values_list("id", flat=True))
    attributes = Attribute.objects.filter(scriptdb__in=scripts)
    say(f"{delete_in_chunks(attributes)} settings of assistants deleted.")
    say(f"{delete_in_chunks(our_scripts())} assistants deleted.")
    close_menus()
    say(f"{delete_in_chunks(our_attributes())} Attributes deleted.")
    if count := our_objects().update(db_typeclass_path=settings.BASE_CHARACTER_TYPECLASS):
        say(f"{count} characters are {settings.BASE_CHARACTER_TYPECLASS} now.")
    remove_command_sets()
    ServerConfig.objects.filter(db_key__startswith=f"{PACKAGE}_").delete()
    if settings.STATIC_ROOT:
        shutil.rmtree(Path(settings.STATIC_ROOT) / PACKAGE, ignore_errors=True)
    remove_long_term_memory(say)


def remove_long_term_memory(say: Say) -> None:
    """Delete the files of long-term memory; the admin must empty an external store."""
    try:
        store = read_settings(game_setting("MEMORY", {}), Path(settings.GAME_DIR)).store
    except ConfigError as error:
        say(f"AI_ASSISTANT['MEMORY']: {error} The files of long-term memory stay.")
        return
    if remove_files(store.path):
        say(f"Long-term memory in {store.path} deleted.")
    if not store.is_embedded:
        say(f"Long-term memory is in your own store, {store.provider}: empty it yourself.")


def remove_tables() -> None:
    """Undo the migrations, and delete the content types of the tables."""
    call_command("migrate", PACKAGE, "zero")
    ContentType.objects.filter(app_label=PACKAGE).delete()


def leave_write_ahead_mode() -> bool:
    """Set an SQLite database back to its ordinary mode.

    Returns False if another process has it open. Without `apps.close_connections`, Evennia 5.0.1
    loses data in write-ahead mode as soon as another process closes the file (measured).
    """
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        mode = cursor.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    return str(mode) != "wal"


def our_scripts() -> Any:
    """Return the assistant scripts, with those of a game's subclasses, as a queryset."""
    from evennia_ai.assistant_script import AssistantScript

    return ScriptDB.objects.filter(id__in=AssistantScript.objects.all_family().values("id"))


def our_objects() -> Any:
    """Return the objects whose typeclass is in this package, as a queryset."""
    return ObjectDB.objects.filter(db_typeclass_path__startswith=f"{PACKAGE}.")


def our_attributes() -> Any:
    """Return the package's Attributes on characters, with all records, as a queryset."""
    ours = Q(db_key__in=ATTRIBUTES, db_attrtype=None) | Q(db_attrtype__in=STORES)
    return Attribute.objects.filter(ours, db_model="objectdb")


def our_models() -> list[type[Model]]:
    """Return the package's existing tables, each before those it refers to."""
    existing = set(connection.introspection.table_names())
    ours = apps.get_app_config(PACKAGE).get_models()
    left = {model for model in ours if model._meta.db_table in existing}
    ordered: list[type[Model]] = []
    while left:
        referred = {
            item.related_model
            for model in left
            for item in model._meta.fields
            if item.related_model is not model
        }
        free = sorted(left - referred, key=lambda model: model._meta.db_table)
        ordered += free
        left -= set(free)
    return ordered


def erase_table(model: type[Model], say: Say) -> None:
    """Delete all rows of a table, newest first, since they may refer to older ones."""
    rows = model._default_manager.order_by("-pk")
    count = 0
    while ids := list(rows.values_list("pk", flat=True)[:CHUNK]):
        delete_rows(model, ids)
        count += len(ids)
        if count % ROWS_A_PROGRESS_LINE == 0:
            say(f"{model._meta.db_table}: {count:,} rows ...")
    say(f"{model._meta.db_table}: {count:,} rows deleted.")


def delete_in_chunks(rows: QuerySet[Any]) -> int:
    """Delete rows and all that refers to them, without hooks; returns how many."""
    count = 0
    while ids := list(rows.values_list("id", flat=True)[:CHUNK]):
        rows.model.objects.filter(id__in=ids).delete()
        count += len(ids)
    return count


def close_menus() -> None:
    """Take builders out of an open menu of the package, which could not be loaded any more."""
    for obj in ObjectDB.objects.filter(db_attributes__db_key=MENU_DRAFT):
        kept = [path for path in obj.cmdset_storage if not path.startswith(EVENNIA_MENU)]
        ObjectDB.objects.filter(id=obj.id).update(db_cmdset_storage=",".join(kept))
        obj.db_attributes.filter(db_key__startswith="_menutree_saved").delete()


def remove_command_sets() -> None:
    """Remove the package's command sets from objects and accounts."""
    for model in (ObjectDB, AccountDB):
        for obj in model.objects.filter(db_cmdset_storage__contains=f"{PACKAGE}."):
            kept = [path for path in obj.cmdset_storage if not path.startswith(f"{PACKAGE}.")]
            model.objects.filter(id=obj.id).update(db_cmdset_storage=",".join(kept))


def lines_of_code(folder: Path) -> Iterator[str]:
    """Return the lines of a game's own Python files that name the package."""
    for file in sorted(folder.rglob("*.py")):
        inner = file.relative_to(folder)
        if "site-packages" in inner.parts or any(part.startswith(".") for part in inner.parts):
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            if any(word in line for word in IN_CODE):
                yield f"{inner}:{number}: {line.strip()}"

"""Removing the package from a game: what of it there is, and deleting that.

``evennia ai_uninstall`` runs this in its own process while the game is stopped.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Q
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.server.models import ServerConfig
from evennia.typeclasses.attributes import Attribute

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.game.extensions import extension_classes
from evennia_ai.policy.texts import counted
from evennia_ai.signals import uninstalling
from evennia_ai.store.attributes import TYPES
from evennia_ai.store.personal_data import STORES
from evennia_ai.store.rows import raw_delete
from evennia_ai.store.server_lock import lock_file

PACKAGE = "evennia_ai"
# The Attributes that the package writes on characters; a test compares this with the code.
ATTRIBUTES = tuple(name for name in TYPES if name.startswith("ai_"))
IN_CODE = (PACKAGE, "AI_ASSISTANT")
OWN_SETS = f"{PACKAGE}."  # paths of command sets that cannot be loaded without the package


def traces() -> Iterator[str]:
    """Yield what the package left in the game, in lines; changes nothing."""
    extension_classes()  # they declare their kinds of records
    rows = sum(model._default_manager.count() for model in tables())
    yield f"Assistants: {assistants().count()}. Rows in tables: {rows:,}."
    paths = Counter(our_objects().values_list("db_typeclass_path", flat=True))
    for path, count in sorted(paths.items()):
        yield f"Characters that become {settings.BASE_CHARACTER_TYPECLASS}: {count} (now {path})."
    plain = Counter(our_attributes().filter(db_attrtype=None).values_list("db_key", flat=True))
    holders = {kind: ObjectDB.objects.filter(db_attributes__db_attrtype=kind) for kind in STORES}
    records = Counter({kind: objects.distinct().count() for kind, objects in holders.items()})
    for name, count in sorted((plain + records).items()):
        yield f"Attribute {name}: on {counted(count, 'character')}."
    yield from lines_of_code(Path(settings.GAME_DIR))


def lines_of_code(folder: Path) -> Iterator[str]:
    """Yield a line for each of a game's own Python files that names the package."""
    for file in sorted(folder.rglob("*.py")):
        inner = file.relative_to(folder)
        if "site-packages" in inner.parts or any(part.startswith(".") for part in inner.parts):
            continue
        lines = file.read_text(errors="replace").splitlines()
        numbers = [n for n, line in enumerate(lines, 1) if any(word in line for word in IN_CODE)]
        if numbers:
            yield f"Remove this yourself: {inner}, line {', '.join(map(str, numbers))}"


def remove_data(say: Callable[[str], Any]) -> None:
    """Delete all rows and Attributes in one transaction, then files; the tables stay."""
    extension_classes()  # their modules hear the signal, too
    with transaction.atomic():  # in which rows may go before those that refer to them
        for model in tables():
            raw_delete(model._default_manager.all())
        scripts = assistants()
        say(f"{scripts.count()} assistants deleted.")
        Attribute.objects.filter(scriptdb__in=list(scripts.values_list("id", flat=True))).delete()
        scripts.delete()
        for kind in (ObjectDB, AccountDB):
            for obj in kind.objects.filter(db_cmdset_storage__contains=OWN_SETS):
                kept = [path for path in obj.cmdset_storage if not path.startswith(OWN_SETS)]
                kind.objects.filter(id=obj.id).update(db_cmdset_storage=",".join(kept))
        our_attributes().delete()
        our_objects().update(db_typeclass_path=settings.BASE_CHARACTER_TYPECLASS)
        ServerConfig.objects.filter(db_key__startswith=f"{PACKAGE}_").delete()
    if settings.STATIC_ROOT:
        shutil.rmtree(Path(settings.STATIC_ROOT) / PACKAGE, ignore_errors=True)
    uninstalling.send(None, say=say)


def remove_tables() -> bool:
    """Undo the migrations. Returns False if another process keeps the database in write-ahead mode.

    Evennia 5.0.1 without the package loses data in that mode (measured).
    """
    call_command("migrate", PACKAGE, "zero")
    ContentType.objects.filter(app_label=PACKAGE).delete()
    if file := lock_file():
        file.unlink(missing_ok=True)
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        return str(cursor.execute("PRAGMA journal_mode=DELETE").fetchone()[0]) != "wal"


def tables() -> list[Any]:
    existing = set(connection.introspection.table_names())
    ours = apps.get_app_config(PACKAGE).get_models()
    return [model for model in ours if model._meta.db_table in existing]


def assistants() -> Any:
    """Return the assistant scripts, with those of a game's subclasses, as a queryset."""
    return ScriptDB.objects.filter(id__in=AssistantScript.objects.all_family().values("id"))


def our_objects() -> Any:
    return ObjectDB.objects.filter(db_typeclass_path__startswith=f"{PACKAGE}.")


def our_attributes() -> Any:
    ours = Q(db_key__in=ATTRIBUTES, db_attrtype=None) | Q(db_attrtype__in=STORES)
    return Attribute.objects.filter(ours, db_model="objectdb")

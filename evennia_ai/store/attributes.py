"""Reading and writing this package's own Attributes, where other code may have stored any value.

A value that cannot be used is ignored and left in place; the log names it once.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.typeclasses.attributes import Attribute, DbHolder
from evennia.utils.dbserialize import deserialize
from twisted.logger import Logger

from evennia_ai.config import FIELDS, brief
from evennia_ai.config.declared import FORMER_NAMES, by_present_names
from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.store.transactions import brief_transaction, store_errors

log = Logger()
_pointed_out: set[str] = set()  # in this process

# The key of every AssistantScript.
SCRIPT_KEY = "assistant"

TYPES: dict[str, tuple[type, ...]] = {
    "ai_persona": (str, dict, Persona),
    "ai_persona_authors": (list, tuple),
    "ai_lore": (list, tuple),
    "ai_fillers": (str, list, tuple),
    "ai_following": (str,),
    "ai_quests": (list, tuple, dict),
    "ai_introduced": (bool,),
    "ai_muted": (list, tuple, set),
    "author_note": (dict,),
    "context_signals": (dict,),
    "stopped": (bool,),
    "operating_mode": (str,),
    "sleep_phase": (str,),
    "sleep_cause": (str,),
    "asleep_since": (int, float),
    "last_compaction": (str,),
}
# What designs of such assistants keep in an Attribute, and where this package has it.
ELSEWHERE = {
    "conversation_history": "script.conversation_history, the messages in view; the log is a table",
    "journal": "character.journal, a handler with add, get, all and search",
    "entity_profiles": "character.ai_profiles, a handler of what it knows of others",
    "goals": "character.ai_goals, a handler of its goals",
}
TYPE_NAMES = {str: "text", dict: "fields", bool: "true or false", list: "a list", float: "a number"}


# What is so before anything is stored.
AT_FIRST = {"operating_mode": "awake"}


class AttributeHolder(DbHolder):
    """What ``db`` of a character and of its assistant is: it says once where something else is."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if value is None and name in AT_FIRST:
            return AT_FIRST[name]
        if value is None and name in ELSEWHERE and name not in _pointed_out:
            _pointed_out.add(name)
            log.warn("db.{name} is in no Attribute: use {where}", name=name, where=ELSEWHERE[name])
        return value


def holder_of(obj: Any) -> AttributeHolder:
    """Return an object's ``db``, made at the first use."""
    known = vars(obj).get("_db_holder")
    if not isinstance(known, AttributeHolder):
        known = vars(obj)["_db_holder"] = AttributeHolder(obj, "attributes")
    return known


def script_of(assistant_id: int) -> Any:
    return ScriptDB.objects.filter(id=assistant_id).first()


def assistants(**attributes: Any) -> Any:
    """Return the scripts of assistants with such Attributes, as a queryset."""
    scripts = ScriptDB.objects.filter(db_key=SCRIPT_KEY, db_obj__isnull=False)
    for name, value in attributes.items():
        scripts = scripts.filter(db_attributes__db_key=name, db_attributes__db_value=value)
    return scripts


def numbers_of(dbrefs: Iterable[str]) -> list[int]:
    return [int(dbref.lstrip("#")) for dbref in dbrefs]


def inspect_attribute(obj: Any, name: str) -> tuple[Any, str]:
    """Return an Attribute's plain value, None if it cannot be used, and then a sentence why."""
    try:
        value = deserialize(obj.attributes.get(name))
    except Exception as error:  # noqa: BLE001  # unpickling what anybody wrote may raise anything
        return None, f"{name} cannot be read ({type(error).__name__}). Set it again."
    allowed = TYPES.get(name, (object,))
    if value is None or isinstance(value, allowed):
        return value, ""
    kinds = " or ".join(TYPE_NAMES[kind] for kind in allowed if kind in TYPE_NAMES)
    return None, f"{name} must be {kinds}, not {brief(value)}."


def read_attribute(obj: Any, name: str) -> Any:
    """Return the plain value of an Attribute; logs once if it cannot be used."""
    value, trouble = inspect_attribute(obj, name)
    if trouble:
        tell_once(obj, trouble)
    return value


def tell_once(obj: Any, trouble: str, about: str = "a stored value is ignored: ") -> None:
    """Log what is wrong with an object, once in this process; ``about`` begins the sentence."""
    known_troubles = obj.ndb.ai_told or set()
    if trouble not in known_troubles:
        obj.ndb.ai_told = {*known_troubles, trouble}
        name = getattr(obj, "character_name", "") or str(obj)
        log.warn("{name}: {about}{trouble}", name=name, about=about, trouble=trouble)


def write_attribute(obj: Any, name: str, value: Any) -> None:
    """Set an Attribute; if it raises StoreUnavailable, memory shows the stored value."""
    write_attributes(obj, **{name: value})


def write_attributes(obj: Any, **values: Any) -> None:
    """Set several Attributes in one transaction; raises as `write_attribute`."""
    try:
        of_script, of_object = ([obj.id] * isinstance(obj, kind) for kind in (ScriptDB, ObjectDB))
        with brief_transaction(*of_script, characters=of_object):
            for name, value in values.items():
                obj.attributes.add(name, value)
    except StoreUnavailable:
        for name in values:
            forget_cached(obj, name)
        raise


def forget_cached(obj: Any, name: str) -> None:
    """Drop an Attribute from the cache: Evennia also caches what it could not save."""
    with suppress(StoreUnavailable), store_errors():  # it cannot be read either
        cached = obj.attributes.get(name, return_obj=True)
        if cached is not None and cached.pk:
            cached.flush_from_cache(force=True)
    obj.attributes.reset_cache()


def read_anew(obj: Any) -> None:
    """Drop all Attributes of an object from the cache, since another server wrote them."""
    for attribute in obj.db_attributes.all():
        attribute.flush_from_cache(force=True)
    obj.attributes.reset_cache()


@contextmanager
def all_or_nothing(*objects: Any) -> Generator[None]:
    """Change locations, locks and Attributes of objects in one transaction, or none of them.

    Raises StoreUnavailable if the database refuses.
    """
    before = [(obj, obj.db_location, obj.db_lock_storage) for obj in objects]
    try:
        with brief_transaction():
            yield
    except BaseException:  # Evennia also caches what is rolled back
        for obj, place, locks in before:
            obj.db_location, obj.db_lock_storage = place, locks
            obj.locks.reset()
            with suppress(StoreUnavailable), store_errors():
                for attribute in obj.attributes.all():
                    attribute.flush_from_cache(force=True)
                obj.contents_cache.init()
            obj.attributes.reset_cache()
        raise


def attributes_of(obj: Any, *kinds: str) -> Any:
    """Return the Attributes of some types on an object, as a queryset."""
    return obj.db_attributes.filter(db_attrtype__in=kinds)


def stored_columns(rows: Any) -> Any:
    """Add ``column``, the text of ``db_value``, to Attributes: nothing in it is unpickled."""
    return rows.annotate(column=Cast("db_value", TextField()))


def rows_about(dbref: str, kinds: Iterable[str]) -> Any:
    """Return the Attributes of some types, on any object, that concern somebody."""
    return Attribute.objects.filter(db_attrtype__in=list(kinds), db_strvalue__contains=f" {dbref} ")


def own_settings(shell: Any) -> dict[str, Any]:
    """Return the settings stored on an assistant itself; no server needs to run."""
    stored = {attribute.key for attribute in shell.attributes.all()}
    names = [name for name in (*FIELDS, *FORMER_NAMES) if name in stored]
    values = by_present_names({name: read_attribute(shell, name) for name in names})
    return {name: value for name, value in values.items() if value is not None}

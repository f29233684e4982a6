"""Our Attributes: read with suspicion, written without holding the reactor.

Anybody may have written anything there, an older version and a builder's ``set`` too. What cannot
be used counts as not being there; it stays where it is for whoever looks into it, and the log tells
of it once.
"""

from __future__ import annotations

from typing import Any

from evennia.utils.dbserialize import deserialize
from twisted.logger import Logger

from evennia_ai.config import brief
from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.store.brief_transaction import brief_transaction

log = Logger()

# The key of every AssistantScript.
SCRIPT_KEY = "assistant"

KINDS: dict[str, tuple[type, ...]] = {
    "ai_persona": (str, dict, Persona),
    "ai_lore": (list, tuple),
    "ai_fillers": (str, list, tuple),
    "ai_following": (str,),
    "ai_introduced": (bool,),
    "ai_muted": (list, tuple, set),
    "stopped": (bool,),
    "operating_mode": (str,),
    "sleep_phase": (str,),
    "sleep_cause": (str,),
    "asleep_since": (int, float),
}
WORDS = {
    str: "text",
    dict: "fields",
    bool: "true or false",
    list: "a list",
    float: "a number",
}


def inspect_attribute(obj: Any, name: str) -> tuple[Any, str]:
    """The plain value of one of our Attributes, None where there is none or where it is of no use;
    and what is wrong with it, in a sentence, else an empty text."""
    try:
        value = deserialize(obj.attributes.get(name))
    except Exception as error:  # noqa: BLE001  # unpickling what anybody wrote may raise anything
        return None, f"{name} cannot be read: {type(error).__name__}."
    allowed = KINDS.get(name, (object,))
    if value is None or isinstance(value, allowed):
        return value, ""
    kinds = " or ".join(WORDS[kind] for kind in allowed if kind in WORDS)
    return None, f"{name} must be {kinds}, not {brief(value)}."


def read_attribute(obj: Any, name: str) -> Any:
    """`inspect_attribute`'s value; what is wrong with it is logged, once."""
    value, trouble = inspect_attribute(obj, name)
    if trouble:
        tell_once(obj, trouble)
    return value


def tell_once(obj: Any, trouble: str) -> None:
    """Log what is wrong with something that is stored on an object, once in this process."""
    told = obj.ndb.ai_told or set()
    if trouble not in told:
        obj.ndb.ai_told = {*told, trouble}
        log.warn("{subject!s}, not used: {trouble}", subject=obj, trouble=trouble)


def write_attribute(obj: Any, name: str, value: Any) -> None:
    """Set one of our Attributes; raises StoreUnavailable where the database cannot be written now,
    and then memory shows what is stored."""
    write_attributes(obj, **{name: value})


def write_attributes(obj: Any, **values: Any) -> None:
    """Set several of our Attributes or none of them, as `write_attribute` does."""
    try:
        with brief_transaction():
            for name, value in values.items():
                obj.attributes.add(name, value)
    except StoreUnavailable:
        for name in values:
            forget_cached(obj, name)
        raise


def forget_cached(obj: Any, name: str) -> None:
    """Read an Attribute anew at its next use: Evennia keeps what it could not save."""
    cached = obj.attributes.get(name, return_obj=True)
    if cached is not None and cached.pk:
        cached.flush_from_cache(force=True)
    obj.attributes.reset_cache()

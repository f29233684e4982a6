"""Evennia's lock functions of this extension; Evennia knows them also where it is off."""

from contextlib import suppress
from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.store.attributes import SCRIPT_KEY


def ai_opinion(
    accessing_obj: Any,
    accessed_obj: Any,
    name: str = "",
    least: str = "",
    *_rest: str,
    **_more: Any,
) -> bool:
    """Return True if a character thinks well enough of whoever asks: ``ai_opinion(Mira, 5)``.

    The character is named by its name or number. Nobody passes if several have that name, if
    nobody has, or if the points are no number.
    """
    known, name = ObjectDB.objects.filter(scriptdb__db_key=SCRIPT_KEY), name.strip()
    is_number = name.startswith("#") and name[1:].isdecimal()
    same = known.filter(id=int(name[1:])) if is_number else known.filter(db_key__iexact=name)
    values = [
        character.ai_opinions.of(getattr(accessing_obj, "puppet", None) or accessing_obj)
        for character in same[:2]
        if hasattr(character, "ai_opinions")
    ]
    with suppress(ValueError):
        return len(values) == 1 and bool(values[0] >= float(least))
    return False

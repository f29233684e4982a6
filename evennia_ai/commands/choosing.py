"""Choosing one of several by name, and telling apart those of one name, as Evennia does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from evennia_ai.commands.common import UsageError
from evennia_ai.game.client_text import NAME_CHARS, clean_output, shown_name
from evennia_ai.game.perception import all_named, find_named
from evennia_ai.game.texts import text


def choose(name: str, candidates: Iterable[Any], caller: Any) -> Any | None:
    """Return the candidate that a player named, None if there is none.

    A name may be ``#12``, or ``guard-2`` for the second of several. Raises UsageError if several
    have the name.
    """
    known = sorted(set(candidates), key=lambda obj: obj.id)
    base, _, number = name.rpartition("-")
    same = all_named(base, known, caller) if number.isdecimal() else []
    numbered = [obj for place, obj in enumerate(same, 1) if str(place) == number]
    found = [obj for obj in known if obj.dbref == name] or all_named(name, known, caller)
    if len(found) > 1:
        options = ", ".join(
            f"{clean_output(name, NAME_CHARS)}-{place}{where_is(obj, caller)}"
            for place, obj in enumerate(found, 1)
        )
        raise UsageError(text("which_one", names=options))
    return next(iter(found or numbered), None) or find_named(name, known, caller)


def where_is(obj: Any, caller: Any) -> str:
    """Return the place of an object in brackets, "" for the caller's own place."""
    here = obj.location is None or obj.location is caller.location
    return "" if here else f" ({shown_name(obj.location)})"


def told_apart(objects: Sequence[Any]) -> list[str]:
    """Return the names of objects or assistants, not escaped; equal ones with their numbers."""
    characters = [getattr(obj, "character", obj) for obj in objects]
    counts = Counter(obj.key.lower() for obj in characters)
    return [f"{o.key}({o.dbref})" if counts[o.key.lower()] > 1 else o.key for o in characters]

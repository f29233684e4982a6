"""People without fixed names: Evennia's contrib ``rpsystem``, where each listener has own names.

There a person is called by a short description, or as the listener recognises them. The contrib is
known by its methods and never imported, so that a game without it does not load it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from evennia_ai.game.client_text import as_shown
from evennia_ai.game.perception import display_name, has_short_description, plain

# What its hook at_pre_say makes of speech.
REPORTED = re.compile(r'/me\b[^"]*"(.*)"\s*', re.IGNORECASE | re.DOTALL)
SELF_REFERENCE = re.compile(r"\A/me\s+", re.IGNORECASE)


def names_known(obj: Any, looker: Any) -> list[str]:
    """Return what somebody may call an object beside its key."""
    if not has_short_description(obj):
        return []
    return [plain(obj.sdesc.get()), display_name(obj, looker)]


def bare_words(speech: str) -> str:
    """Return speech without ``/Me says, "…"`` around it."""
    found = REPORTED.fullmatch(speech)
    return found[1] if found else speech


class AtStart:
    """A person whose name begins a sentence, as `msg_contents` asks for it."""

    def __init__(self, person: Any) -> None:
        self._person = person

    def get_display_name(self, looker: Any, **_options: Any) -> str:
        """Return the name for a looker, with a capital."""
        return str(self._person.get_display_name(looker, ref="t", noid=True))


class Quoted:
    """Spoken words; each listener understands as much as they know of the language."""

    def __init__(self, speaker: Any, words: str) -> None:
        self._speaker, self._words = speaker, words

    def get_display_name(self, looker: Any, **_options: Any) -> str:
        """Return the words in quotes as a listener hears them."""
        quoted = f'"{self._words}"'
        understand = getattr(looker, "process_language", None)
        return str(understand(quoted, self._speaker, None)) if understand else quoted


def with_people(deed: str, character: Any, people: Iterable[Any]) -> tuple[str, Mapping[str, Any]]:
    """Return a deed as a template and its mapping for `msg_contents`.

    A name that the character has for somebody present becomes that person, so that each listener
    reads their own name for them.
    """
    known = {display_name(one, character).lower(): one for one in people}
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    text = SELF_REFERENCE.sub("", deed)
    parts = re.split(rf"(?<!\w)({names})(?!\w)", text, flags=re.IGNORECASE) if names else [text]
    mapping = {
        f"part{number}": known[part.lower()] if number % 2 else as_shown(part)
        for number, part in enumerate(parts)
    }
    return "".join(f"{{{key}}}" for key in mapping), mapping

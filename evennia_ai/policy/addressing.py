"""Does what was heard call for an answer, or is it talk in the room?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

SPOKEN = frozenset({"say", "whisper", "emote"})
DIRECT = frozenset({"whisper", "give"})


@dataclass(frozen=True)
class Hearing:
    """Everything the decision needs. ``names`` are the character's own, ``other_names`` those of
    everybody else who is present but the speaker; ``alone`` True where only the speaker hears."""

    kind: str
    text: str
    names: tuple[str, ...]
    other_names: tuple[str, ...] = ()
    alone: bool = False
    in_conversation: bool = False
    hops: int = 0
    max_hops: int = 3


@dataclass(frozen=True)
class Address:
    """The decision; ``reason`` says why, for the log."""

    addressed: bool
    reason: str


def names_any(text: str, names: Iterable[str]) -> bool:
    """True where one of the names stands in the text as a word of its own, in any case."""
    return any(
        name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        for name in names
    )


def judge_address(hearing: Hearing) -> Address:
    """Decide whether something heard is meant for the character.

    Rules, the first that fits: too many assistants' answers in a row: no; whispered or given to
    it: yes; no speech: no; it is named: yes; somebody else is named: no; it is alone with the
    speaker: yes; the two were just talking: yes; else no.
    """
    if hearing.hops > hearing.max_hops:
        return Address(False, "hop limit")
    if hearing.kind in DIRECT:
        return Address(True, hearing.kind)
    if hearing.kind not in SPOKEN:
        return Address(False, "ambient")
    if names_any(hearing.text, hearing.names):
        return Address(True, "named")
    if names_any(hearing.text, hearing.other_names):
        return Address(False, "somebody else named")
    if hearing.alone:
        return Address(True, "alone with the speaker")
    if hearing.in_conversation:
        return Address(True, "in conversation")
    return Address(False, "ambient")

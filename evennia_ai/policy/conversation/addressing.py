"""Does what was heard call for an answer, or is it talk in the room?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

SPOKEN = frozenset({"say", "whisper", "emote"})
DIRECT = frozenset({"whisper", "give"})
GREETING = re.compile(
    r"(hello|hi|hey|hail|greetings|good (morning|day|evening)|hallo|guten (morgen|tag|abend)|hola|"
    r"bonjour|salut|привет)\b(\W+\w+){0,2}\W*",
    re.IGNORECASE,
)
EVERYBODY = ("anybody", "anyone", "everybody", "everyone", "all of you", "jemand", "alle")


@dataclass(frozen=True)
class Hearing:
    """Everything the decision needs.

    ``names`` are the character's own, ``other_names`` those of everybody else who is present but
    the speaker. ``alone`` is True where no player hears but the speaker, ``chosen`` where the
    character is the one to answer if any of several may. ``from_assistant`` is True where the
    speaker is no player, ``players_listen`` where at least one player hears.
    """

    kind: str
    text: str
    names: tuple[str, ...]
    other_names: tuple[str, ...] = ()
    alone: bool = False
    in_conversation: bool = False
    chosen: bool = True
    from_assistant: bool = False
    players_listen: bool = True
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


def is_for_everybody(text: str) -> bool:
    """True for words to whoever is there: a bare greeting, or a question to anybody."""
    return bool(GREETING.fullmatch(text.strip())) or names_any(text, EVERYBODY)


def judge_address(hearing: Hearing) -> Address:
    """Decide whether something heard is meant for the character.

    Rules, the first that fits: too many assistants' answers in a row, or assistants among
    themselves: no; whispered or given to it: yes; no speech: no; it is named: yes; somebody else
    is named: no; an assistant speaks to nobody: no; everybody is meant: yes, if it is chosen; it
    is alone with the speaker: yes, if it is chosen; the two were just talking: yes, if it is
    chosen; else no.
    """
    if hearing.hops > hearing.max_hops:
        return Address(False, "hop limit")
    if hearing.from_assistant and not hearing.players_listen:
        return Address(False, "no player listens")
    if hearing.kind in DIRECT:
        return Address(True, hearing.kind)
    if hearing.kind not in SPOKEN:
        return Address(False, "ambient")
    if names_any(hearing.text, hearing.names):
        return Address(True, "named")
    if names_any(hearing.text, hearing.other_names):
        return Address(False, "somebody else named")
    if hearing.from_assistant:
        return Address(False, "ambient")
    for applies, reason in (
        (hearing.kind == "say" and is_for_everybody(hearing.text), "everybody was meant"),
        (hearing.alone, "alone with the speaker"),
        (hearing.in_conversation, "in conversation"),
    ):
        if applies:
            return Address(hearing.chosen, reason if hearing.chosen else "another one answers")
    return Address(False, "ambient")


@dataclass(frozen=True)
class Candidate:
    """One of several assistants who hear the same line.

    ``last_exchange`` is when it last talked with the speaker (unix seconds, 0 for never or too
    long ago), ``nearness`` how near its persona is to the words, ``id`` its dbref.
    """

    id: str
    last_exchange: float = 0.0
    nearness: float = 0.0


def choose_responder(candidates: Iterable[Candidate]) -> str:
    """Who answers a line that is meant for nobody in particular.

    Whoever was talking with the speaker last; else whose business it is; else the oldest. Every
    candidate comes to the same answer on its own.
    """
    best = max(candidates, key=lambda c: (c.last_exchange, c.nearness, -int(c.id.lstrip("#"))))
    return best.id

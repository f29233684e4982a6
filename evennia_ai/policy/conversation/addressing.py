"""The decision whether something heard calls for an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evennia_ai.messages import EMOTE, SPEECH

SPOKEN = SPEECH | {EMOTE}
OTHER_NAMED = "somebody else named"
DIRECT = frozenset({"whisper", "give"})
GREETING = re.compile(
    r"(hello|hi|hey|hail|greetings|good (morning|day|evening)|hallo|guten (morgen|tag|abend)|hola|"
    r"bonjour|salut|привет)\b(\W+\w+){0,2}\W*",
    re.IGNORECASE,
)
EVERYBODY = ("anybody", "anyone", "everybody", "everyone", "all of you", "jemand", "alle")


@dataclass(frozen=True)
class Hearing:
    """The input of the decision."""

    kind: str
    text: str
    names: tuple[str, ...]  # the character's
    other_names: tuple[str, ...] = ()  # of others present, without the speaker
    alone: bool = False  # no player hears it but the speaker
    in_conversation: bool = False
    chosen: bool = True  # this assistant answers when any of several may
    from_assistant: bool = False  # the speaker is not a player
    players_listen: bool = True  # at least one player hears it
    hops: int = 0  # assistants' answers in a row that led to it
    max_hops: int = 3


@dataclass(frozen=True)
class Address:
    """The decision, with its reason for the log."""

    addressed: bool
    reason: str


def names_any(text: str, names: Iterable[str]) -> bool:
    """Return True if the text has one of the names as a whole word, in any case."""
    return any(
        name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        for name in names
    )


def is_for_everybody(text: str) -> bool:
    """Return True for a bare greeting or words to anybody present."""
    return bool(GREETING.fullmatch(text.strip())) or names_any(text, EVERYBODY)


def judge_address(hearing: Hearing) -> Address:
    """Decide whether something heard is meant for the character; the first rule that fits wins."""
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
        return Address(False, OTHER_NAMED)
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
    """One of several assistants who hear the same line, by dbref."""

    id: str
    last_exchange: float = 0.0  # with the speaker, Unix seconds; 0 for never or too long ago
    nearness: float = 0.0  # similarity of its persona to the words


def choose_responder(candidates: Iterable[Candidate]) -> str:
    """Return the dbref of the assistant that answers a line to nobody in particular.

    Each candidate computes the same: last talked with, then the nearest persona, then the oldest.
    """
    best = max(candidates, key=lambda c: (c.last_exchange, c.nearness, -int(c.id.lstrip("#"))))
    return best.id

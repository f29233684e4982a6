"""Hearsay: what one character tells others of its kind, to whom, when, and how far it is believed.

A scope is a label as lore has them (`policy.conversation.lore`): a faction, a place, a tag,
everybody. Only what a character knows at first hand and anybody may know is told, so that a rumour
is never older than one telling, and nothing that was whispered crosses over, however trusting the
teller is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.lore import EVERYBODY, check_scope
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.retrieval.relevance import content_words

T = TypeVar("T")

OFF, WORLD, FACTION, ROOM = "off", "world", "faction", "room"
HEARSAY = "hearsay"
FIRST_HAND = ("direct", "observation")
# Written from a prompt that may have held what was whispered: `discretion` was "trusting".
UNGUARDED = "unguarded"
UNTOLD = frozenset({"secret", UNGUARDED})
# What of an entry others are told, or what decides whether they are: where it changes, what they
# were told is not so any more.
TOLD_FIELDS = (
    "content",
    "audience",
    "speakers",
    "source_type",
    "source_entity",
    "source_seqs",
    "tags",
    "pinned",
)
MOST_TOLD = 50  # entries that one character has told at a time
TRUST_KEPT = 0.7  # of how far the teller believed it
LEAST_TRUST = 0.3  # what others would believe less is not told
OWN_TO_ONE = 2  # of what one knows oneself, to one piece of hearsay
# How much of the shorter of two texts the other must hold to be its echo: what says the same of
# something else, or of later, differs in one word of four. Less where it names who told it.
ECHO_SHARE, NAMED_SHARE, ECHO_WORDS = 0.8, 0.4, 2


@dataclass(frozen=True)
class Telling:
    """One entry as it is told to one scope. ``people`` are those it concerns: who may have it
    forgotten; ``trust`` is how far those believe it who are told."""

    entry: str
    scope: str
    text: str
    learnt_at: datetime
    available_from: datetime
    importance: int
    trust: float
    source: str
    speakers: tuple[str, ...]
    people: frozenset[str]


@dataclass(frozen=True)
class Told:
    """One entry that was told to one scope, as it is stored."""

    id: int
    entry: str
    scope: str


# --- to whom ----------------------------------------------------------------------------------


def read_scopes(text: str) -> tuple[str, ...]:
    """The scopes of a setting such as ``faction, room:market``; raises ConfigError.

    ``faction`` is every faction the character is of, ``room`` the room it is in, ``world`` is
    everybody; a single one is named as in lore. ``off`` is none.
    """
    named = [part.strip().lower() for part in text.split(",") if part.strip()]
    return () if named in ([], [OFF]) else tuple(dict.fromkeys(map(read_scope, named)))


def read_scope(name: str) -> str:
    """One scope in its normal form; raises ConfigError."""
    if name in (FACTION, ROOM):
        return name
    if name in (WORLD, EVERYBODY):
        return EVERYBODY
    try:
        scope = check_scope(name)
    except ConfigError:
        scope = ""
    if not scope or scope.startswith("quest:"):
        raise ConfigError(
            f"share_memory cannot be '{name}'. There are: off, world, faction, room, "
            "faction:<name>, room:<tag or number>, tag:<tag>."
        )
    return scope


def is_covered(scope: str, chosen: Iterable[str]) -> bool:
    """True where a scope is among those that were chosen: by its name, every faction by the word
    ``faction``, and a room by ``room``, but not what merely has a tag in common with it."""
    kind, _, name = scope.partition(":")
    by_kind = kind == FACTION or (kind == ROOM and name.startswith("#"))
    return scope in chosen or (by_kind and kind in chosen)


def select_scopes(chosen: Sequence[str], labels: Iterable[str]) -> list[str]:
    """The chosen scopes that a character belongs to, by the labels it has now; in a stable
    order."""
    return sorted(label for label in labels if is_covered(label, chosen))


# --- what -------------------------------------------------------------------------------------


def may_be_told(entry: Record, least_importance: int) -> bool:
    """True for what the character knows at first hand and anybody may know, where it matters enough
    and is believed enough.

    What it keeps in mind for good is its own affair, and what is tagged a secret stays one.
    """
    return (
        entry["audience"] is None
        and entry["source_type"] in FIRST_HAND
        and entry["importance"] >= least_importance
        and entry["trust"] * TRUST_KEPT >= LEAST_TRUST
        and not entry["pinned"]
        and UNTOLD.isdisjoint(tag.lower() for tag in entry["tags"])
    )


def is_as_told(old: Record, new: Record | None) -> bool:
    """True where what others were told of an entry is still so after a change of it."""
    return new is not None and all(old[name] == new[name] for name in TOLD_FIELDS)


def worth_telling(entry: Record) -> tuple[int, str]:
    """A key by which entries sort: what matters most is the largest, of equals the newest."""
    return entry["importance"], entry["timestamp"]


def was_said_openly(entry: Record, open_seqs: frozenset[int]) -> bool:
    """True where all the messages an entry was made from were for everybody, as far as can be
    seen: one that is gone may have been whispered."""
    return open_seqs.issuperset(entry["source_seqs"])


@dataclass(frozen=True)
class Rumour:
    """What is kept of a rumour: how many words it has, since when it could be heard, and the words
    of its teller's name."""

    size: int
    heard_from: str
    teller: frozenset[str]

    def is_in(self, words: frozenset[str], common: int) -> bool:
        """True where a text of these words, so many of them the rumour's own, says the same."""
        named = bool(self.teller) and self.teller <= words
        smaller = min(self.size, len(words))
        share = NAMED_SHARE if named else ECHO_SHARE
        return common >= min(ECHO_WORDS, smaller) and common >= share * smaller


class Rumours:
    """What a character was told by others, to know it again in its own words."""

    def __init__(self) -> None:
        self._heard: list[Rumour] = []
        self._by_word: dict[str, list[int]] = defaultdict(list)

    def add(self, record: Mapping[str, Any], teller: str = "") -> None:
        """Take in something that was told, with since when it could be heard, and by whom."""
        words = frozenset(content_words(record["content"]))
        for word in words:
            self._by_word[word].append(len(self._heard))
        name = frozenset(content_words(teller))
        self._heard.append(Rumour(len(words), record["available_from"], name))

    def is_echo(self, entry: Record) -> bool:
        """True for an entry that says, in many of the same words, what could be heard from others
        when it was written: it may be no more than that, and a rumour is not told on."""
        words = frozenset(content_words(entry["content"]))
        common = Counter(index for word in words for index in self._by_word.get(word, ()))
        return any(
            self._heard[index].heard_from <= entry["timestamp"]
            and self._heard[index].is_in(words, count)
            for index, count in common.items()
        )


# --- when, and how far it is believed -----------------------------------------------------------


def make_tellings(
    entry: Record, scopes: Iterable[str], now: datetime, delay_s: float, people: frozenset[str]
) -> list[Telling]:
    """An entry for each scope that is told it. News takes ``delay_s`` from when it was learnt."""
    learnt_at = datetime.fromisoformat(entry["timestamp"])
    return [
        Telling(
            entry=entry["id"],
            scope=scope,
            text=entry["content"],
            learnt_at=learnt_at,
            available_from=max(now, learnt_at + timedelta(seconds=delay_s)),
            importance=entry["importance"],
            trust=round(entry["trust"] * TRUST_KEPT, 3),
            source=entry["source_entity"],
            speakers=tuple(entry["speakers"]),
            people=people,
        )
        for scope in scopes
    ]


def select_taken_back(
    told: Iterable[Told], standing: frozenset[str], chosen: Sequence[str]
) -> list[int]:
    """The ids of what is told no more: its entry is not among those that still stand, or its scope
    is none any more that the teller shares with."""
    return [
        one.id for one in told if one.entry not in standing or not is_covered(one.scope, chosen)
    ]


# --- beside what one knows oneself --------------------------------------------------------------


def mix(own: Sequence[T], heard: Sequence[T], limit: int) -> list[T]:
    """What one knows oneself and what one was told, each best first, as one ranking: of three the
    last is hearsay, where there is enough of both. Their scores cannot be compared: how rare a
    word is differs from one heap of memories to the other."""
    left, rumours = list(own), list(heard)
    mixed: list[T] = []
    while (left or rumours) and len(mixed) < limit:
        turn = rumours if (len(mixed) + 1) % (OWN_TO_ONE + 1) == 0 else left
        mixed.append((turn or left or rumours).pop(0))
    return mixed

"""Sharing of memories among characters: what is told, to whom, when, how trusted.

A scope is a label as in lore: a faction, a place, a tag, everybody. A character shares only public
knowledge of its own experience: nothing that it was told, and no whisper, however trusting it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.persona_and_lore import EVERYBODY, check_scope
from evennia_ai.policy.records.journal_entry import UNGUARDED
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.retrieval.words import find_words

OFF, WORLD, FACTION, ROOM = "off", "world", "faction", "room"
HEARSAY = "hearsay"
FIRST_HAND = ("direct", "observation")
UNTOLD = frozenset({"secret", UNGUARDED})
MOST_TOLD = 50  # entries that one character shares at a time
TRUST_KEPT = 0.7  # the listener's share of the teller's trust
LEAST_TRUST = 0.3  # an entry is not shared if listeners would trust it less
# The share of the shorter text's words that both texts must have for one to be an echo of the
# other. A text on another subject or a later time differs in one word of four. The share is lower
# if the text names the teller.
ECHO_SHARE, NAMED_SHARE, ECHO_WORDS = 0.8, 0.4, 2


@dataclass(frozen=True)
class SharedTelling:
    """One entry as it is told to one scope."""

    entry: str
    scope: str
    text: str
    learnt_at: datetime
    available_from: datetime
    importance: int
    trust: float  # the listeners'
    source: str
    speakers: tuple[str, ...]
    people: frozenset[str]  # those it concerns, who may have it forgotten


@dataclass(frozen=True)
class SharedRecord:
    """A stored record that one entry was told to one scope."""

    id: int
    entry: str
    scope: str


def read_scopes(text: str) -> tuple[str, ...]:
    """Return the scopes of a setting such as ``faction, room:market``; raises ConfigError."""
    # ``faction`` means every faction of the character, ``room`` its current room, ``off`` none.
    named = [part.strip().lower() for part in text.split(",") if part.strip()]
    return () if named in ([], [OFF]) else tuple(dict.fromkeys(map(read_scope, named)))


def read_scope(name: str) -> str:
    """Return one scope in its normal form; raises ConfigError."""
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
            f"share_memory cannot be '{name}'. Use off, world, faction, room, "
            "faction:<name>, room:<tag or number> or tag:<tag>."
        )
    return scope


def is_covered(scope: str, chosen: Iterable[str]) -> bool:
    """Return True if a scope is chosen; ``faction`` covers all, ``room`` only rooms by number."""
    kind, _, name = scope.partition(":")
    by_kind = kind == FACTION or (kind == ROOM and name.startswith("#"))
    return scope in chosen or (by_kind and kind in chosen)


def select_scopes(chosen: Sequence[str], labels: Iterable[str]) -> list[str]:
    """Return the chosen scopes among a character's current labels, sorted."""
    return sorted(label for label in labels if is_covered(label, chosen))


def may_be_told(entry: Record, least_importance: int) -> bool:
    """Return True if an entry may be shared: public, first-hand, weighty, trusted, unpinned."""
    return (
        entry["audience"] is None
        and entry["source_type"] in FIRST_HAND
        and entry["importance"] >= least_importance
        and entry["trust"] * TRUST_KEPT >= LEAST_TRUST
        and not entry["pinned"]
        and UNTOLD.isdisjoint(tag.lower() for tag in entry["tags"])
    )


def worth_telling(entry: Record) -> tuple[int, str]:
    """Return a sort key: the most important entry is the largest, then the newest."""
    return entry["importance"], entry["timestamp"]


def was_said_openly(entry: Record, open_seqs: frozenset[int]) -> bool:
    """Return True if all of an entry's source messages are known to be public."""
    return open_seqs.issuperset(entry["source_seqs"])


class Rumours:
    """The memories that others told a character, to recognise them when repeated."""

    def __init__(self) -> None:
        # Of each memory: how many words, since when it could be heard, and the teller's name.
        self._retellings: list[tuple[int, str, frozenset[str]]] = []
        self._by_word: dict[str, list[int]] = defaultdict(list)

    def add(self, record: Mapping[str, Any], teller: str = "") -> None:
        """Add a memory that was told, with its time and its teller's name."""
        words = frozenset(find_words(record["content"]))
        for word in words:
            self._by_word[word].append(len(self._retellings))
        named = frozenset(find_words(teller))
        self._retellings.append((len(words), record["available_from"], named))

    def is_echo(self, entry: Record) -> bool:
        """Return True if an entry may only repeat a rumour heard before; it is not told on."""
        words = frozenset(find_words(entry["content"]))
        common = Counter(index for word in words for index in self._by_word.get(word, ()))
        for index, count in common.items():
            size, heard_from, teller = self._retellings[index]
            smaller = min(size, len(words))
            share = NAMED_SHARE if teller and teller <= words else ECHO_SHARE
            is_like = count >= max(min(ECHO_WORDS, smaller), share * smaller)
            if is_like and heard_from <= entry["timestamp"]:
                return True
        return False


def make_tellings(
    entry: Record, scopes: Iterable[str], now: datetime, delay_s: float, people: frozenset[str]
) -> list[SharedTelling]:
    """Return an entry's tellings, one for each scope, available after ``delay_s``."""
    learnt_at = datetime.fromisoformat(entry["timestamp"])
    return [
        SharedTelling(
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
    shared: Iterable[SharedRecord], standing: frozenset[str], chosen: Sequence[str]
) -> list[int]:
    """Return the ids of tellings whose entry or scope may no longer be told."""
    return [
        item.id
        for item in shared
        if item.entry not in standing or not is_covered(item.scope, chosen)
    ]

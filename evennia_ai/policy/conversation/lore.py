"""Lore: static knowledge, and which of it belongs in a prompt.

Each piece names its scopes. ``all`` is for everybody; ``tag:``, ``faction:`` and ``room:`` select
the characters who know it; ``quest:`` restricts who may hear it: every listener must have that
flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.errors import ConfigError
from evennia_ai.messages import Authors
from evennia_ai.policy.authors import BUILDER
from evennia_ai.policy.retrieval.relevance import score_texts
from evennia_ai.policy.tokens import estimate_tokens

EVERYBODY = "all"
KNOWERS = ("tag", "faction", "room")
QUEST = "quest"


@dataclass(frozen=True)
class LoreEntry:
    """One piece of knowledge."""

    title: str
    text: str
    scopes: tuple[str, ...] = (EVERYBODY,)
    authors: Authors = frozenset({BUILDER})


def check_scope(scope: str) -> str:
    """Return a scope in its normal form; raises ConfigError."""
    kind, _, name = scope.strip().lower().partition(":")
    if kind == EVERYBODY and not name:
        return EVERYBODY
    if kind in (*KNOWERS, QUEST) and name.strip():
        return f"{kind}:{name.strip()}"
    raise ConfigError(
        f"'{scope.strip()}' is not a scope. Use all, tag:<tag>, faction:<name>, "
        "room:<tag or number> or quest:<flag>."
    )


def is_known(entry: LoreEntry, labels: frozenset[str]) -> bool:
    """Return True if a character knows a piece and its listeners may hear it."""
    return not why_unknown(entry, labels)


def why_unknown(entry: LoreEntry, labels: frozenset[str]) -> str:
    """Return why a character may not use a piece, "" if it may.

    ``labels`` holds ``all``, the character's and its room's scopes, and all listeners' quest flags.
    """
    quests = [scope for scope in entry.scopes if scope.startswith(f"{QUEST}:")]
    knowers = [scope for scope in entry.scopes if scope not in quests]
    if knowers and labels.isdisjoint(knowers):
        return f"neither the character nor its room has {' or '.join(knowers)}"
    if missing := [quest for quest in quests if quest not in labels]:
        return f"everybody who hears it needs {' and '.join(missing)}"
    return ""


def select_lore(
    entries: Iterable[LoreEntry], labels: frozenset[str], talk: str, budget_tokens: int
) -> list[LoreEntry]:
    """Return the known pieces with content words of the talk, best first, in a budget."""
    trials = try_lore(entries, labels, talk, budget_tokens)
    return [trial.entry for trial in trials if trial.is_chosen]


@dataclass(frozen=True)
class LoreTrial:
    """What becomes of one piece when a line is said; an unknown piece has no score."""

    entry: LoreEntry
    why_unknown: str = ""
    score: float = 0.0
    tokens: int = 0
    is_chosen: bool = False

    def verdict(self, was_asked: bool, found: str) -> str:
        """Return in words why the piece is in the prompt or not; ``found`` says why it fits."""
        if self.why_unknown:
            return f"no: {self.why_unknown}"
        if not was_asked:
            return "known"
        if not self.score:
            return "no: it shares no word with the line"
        return f"yes: {found}" if self.is_chosen else f"no: the budget is used up ({found})"


def try_lore(
    entries: Iterable[LoreEntry], labels: frozenset[str], talk: str, budget_tokens: int
) -> list[LoreTrial]:
    """Return what becomes of each piece, best first: those that nobody asked for, then unknown."""
    listed = list(entries)
    known: Sequence[LoreEntry] = [entry for entry in listed if is_known(entry, labels)]
    texts = [f"{entry.title} {entry.title} {entry.text}" for entry in known]
    scored = zip(score_texts(talk, texts), known, strict=True)
    trials = []
    for score, entry in sorted(scored, key=lambda pair: -pair[0]):
        cost = estimate_tokens(entry.title + entry.text)
        is_chosen = score > 0 and cost <= budget_tokens
        budget_tokens -= cost * is_chosen
        trials.append(LoreTrial(entry, "", score, cost, is_chosen))
    return [*trials, *(LoreTrial(e, why) for e in listed if (why := why_unknown(e, labels)))]

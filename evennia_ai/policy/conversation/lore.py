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
    """Return True if a character knows a piece and its listeners may hear it.

    ``labels`` holds ``all``, the character's and its room's scopes, and all listeners' quest flags.
    """
    quests = [scope for scope in entry.scopes if scope.startswith(f"{QUEST}:")]
    knowers = [scope for scope in entry.scopes if scope not in quests]
    return all(quest in labels for quest in quests) and (
        not knowers or any(scope in labels for scope in knowers)
    )


def select_lore(
    entries: Iterable[LoreEntry], labels: frozenset[str], talk: str, budget_tokens: int
) -> list[LoreEntry]:
    """Return the known pieces with content words of the talk, best first, in a budget."""
    known: Sequence[LoreEntry] = [entry for entry in entries if is_known(entry, labels)]
    texts = [f"{entry.title} {entry.title} {entry.text}" for entry in known]
    scored = zip(score_texts(talk, texts), known, strict=True)
    ranked = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    chosen = []
    for _score, entry in ranked:
        cost = estimate_tokens(entry.title + entry.text)
        if cost <= budget_tokens:
            budget_tokens -= cost
            chosen.append(entry)
    return chosen

"""Asleep, a model says how much new journal entries matter; awake a rule of thumb does."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.policy.consolidation.importance import (
    BY_MODEL,
    is_unscored,
    read_scores,
    scoring_request,
)
from evennia_ai.policy.records.journal_entry import BY_RULE
from evennia_ai.policy.records.provenance import Record
from evennia_ai.scheduling import pause, persist
from evennia_ai.turn.background_call import ask_in_background, has_model

log = Logger()

PURPOSE = "importance"
AT_ONCE = 40  # entries in one call
CALLS_A_PASS = 5
LOOKED_AT = 500  # of the newest entries
NEW_DAYS = 7.0  # what is older keeps what the rule of thumb gave it
TOKENS_A_SCORE = 8


@inlineCallbacks
def score_new_entries(script: Any, journal: Any) -> Generator[Deferred[Any], Any, int]:
    """Let a model score the journal entries that only the rule of thumb has scored.

    One call for the entries of one audience (P9), the newest first. What it does not score stays as
    the rule has it, and is not asked about again by this process.

    Args:
        script: the assistant.
        journal: its character's, loaded.

    Fires with how many entries have a score of the model's now; a model that fails is no error.
    Fails with TurnAborted and StoreUnavailable.
    """
    if not has_model(script):
        return 0
    scored = 0
    for entries in unscored(script, journal)[:CALLS_A_PASS]:
        yield pause(script.services.slices.put)
        try:
            scored += yield score_some(script, journal, entries)
        except ProviderError as error:
            log.warn("{name}: not scored: {error}", name=script.character_name, error=error)
            break
    return scored


def unscored(script: Any, journal: Any) -> list[list[Record]]:
    """The new entries of each audience, at most so many for one call."""
    now = script.services.now()
    groups: dict[frozenset[str] | None, list[Record]] = {}
    for entry in journal.newest(LOOKED_AT, discretion="trusting"):
        if entry["id"] not in journal.asked_about and is_unscored(entry, now, NEW_DAYS):
            ears = None if entry["audience"] is None else frozenset(entry["audience"])
            groups.setdefault(ears, []).append(entry)
    return [entries[-AT_ONCE:] for entries in groups.values()]


@inlineCallbacks
def score_some(
    script: Any, journal: Any, entries: Sequence[Record]
) -> Generator[Deferred[Any], Any, int]:
    """Ask about some entries of one audience. Fires with how many were scored; fails with
    `ProviderError`, and then nothing has changed."""
    wire = scoring_request(script.character_name, entries)
    reply: str = yield ask_in_background(script, PURPOSE, wire, TOKENS_A_SCORE * (len(entries) + 2))
    journal.asked_about.update(entry["id"] for entry in entries)
    scores = {
        entries[number - 1]["id"]: score
        for number, score in read_scores(reply, len(entries)).items()
    }

    def write() -> int:
        fresh = filter(None, map(journal.get, scores))
        changes = {
            entry["id"]: {"importance": scores[entry["id"]], "importance_by": BY_MODEL}
            for entry in fresh
            if entry["importance_by"] == BY_RULE
        }
        return int(journal.update_all(changes))

    stored: int = yield persist(script.services.clock, write)
    return stored

"""Let a model score the importance of new journal entries; awake, a rule scores them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Audience
from evennia_ai.policy.consolidation.importance import (
    BY_MODEL,
    is_unscored,
    read_scores,
    scoring_request,
)
from evennia_ai.policy.records.journal_entry import BY_RULE
from evennia_ai.policy.records.provenance import Record
from evennia_ai.ports import Identity, Journal
from evennia_ai.scheduling import Clock, Steps, persist
from evennia_ai.turn.model_call import (
    Asked,
    Background,
    BackgroundReply,
)

PURPOSE = "importance"
AT_ONCE = 40  # entries in one call
CALLS_A_PASS = 5
LOOKED_AT = 500  # of the newest entries
NEW_DAYS = 7.0  # older entries keep the score of the rule
TOKENS_A_SCORE = 8


def store_scores(journal: Journal, scores: Mapping[str, int]) -> int:
    """Store the scores of entries that still have that of the rule; return how many."""
    fresh = filter(None, map(journal.get, scores))
    return journal.update_all(
        {
            entry["id"]: {"importance": scores[entry["id"]], "importance_by": BY_MODEL}
            for entry in fresh
            if entry["importance_by"] == BY_RULE
        }
    )


class Scoring:
    """Lets a model score new journal entries."""

    def __init__(
        self, who: Identity, background: Background, clock: Clock, now: Callable[[], datetime]
    ) -> None:
        self._who, self._background, self._clock, self._now = who, background, clock, now

    @inlineCallbacks
    def score_new(self, journal: Journal) -> Steps[int]:
        """Let a model score the journal entries that only the rule has scored.

        Each call holds the entries of one audience (P9), the newest first. An entry without a score
        in the reply keeps that of the rule, and this process does not ask about it again.

        Fires with how many entries the model scored; a provider's error only ends the scoring.
        Fails with TurnAborted and StoreUnavailable.
        """
        if not self._background.has_model:
            return 0
        groups = self._unscored(journal)[:CALLS_A_PASS]
        asked: Asked[int] = yield self._background.ask_each(
            groups, partial(self._score_group, journal)
        )
        return sum(asked.results)

    def _unscored(self, journal: Journal) -> list[list[Record]]:
        """Return the new entries of each audience, at most `AT_ONCE` for each."""
        now = self._now()
        groups: dict[Audience | None, list[Record]] = {}
        for entry in journal.newest(LOOKED_AT, everything=True):
            if entry["id"] not in journal.asked_about and is_unscored(entry, now, NEW_DAYS):
                audience = None if entry["audience"] is None else frozenset(entry["audience"])
                groups.setdefault(audience, []).append(entry)
        return [entries[-AT_ONCE:] for entries in groups.values()]

    @inlineCallbacks
    def _score_group(self, journal: Journal, entries: Sequence[Record]) -> Steps[int]:
        """Score one audience's entries. Fires with how many; fails with `ProviderError`."""
        wire = scoring_request(self._who.name, entries)
        most_tokens = TOKENS_A_SCORE * (len(entries) + 2)
        reply: BackgroundReply = yield self._background.ask(PURPOSE, wire, most_tokens, entries)
        journal.asked_about.update(entry["id"] for entry in entries)
        found = read_scores(reply.text, len(entries))
        scores = {entries[number - 1]["id"]: score for number, score in found.items()}
        return int((yield persist(self._clock, partial(store_scores, journal, scores))))

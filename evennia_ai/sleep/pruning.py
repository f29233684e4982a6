"""Move faded journal entries into an archive, from which they can be brought back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.policy.records.forgetting import (
    Fading,
    cited_by,
    is_faded,
    retention_of,
    select_to_forget,
)
from evennia_ai.ports import Journal, MindContext
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import Coroutine, map_in_slices, yield_to_reactor
from evennia_ai.turn.model_call import BackgroundWork

AT_ONCE = 8  # entries in one write
MOST_A_PASS = 500


# An entry's id, its retention if it faded, and the ids of the entries it cites that must stay.
Look = tuple[str, float | None, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Pruning:
    """Archives faded journal entries."""

    _mind: MindContext
    _background: BackgroundWork

    @inlineCallbacks
    def prune(self) -> Coroutine[dict[str, Any]]:
        """Archive faded journal entries.

        Recent recalls are stored first, since they decide what fades. An entry stays if it is
        pinned, written or scored by a builder or by code, written by a compaction, cited by
        something that still holds, or missing from a long-term memory in use. See
        `policy.records.forgetting`.

        Its figures are ``pruned``, ``kept`` (entries left), ``recalled`` (entries with new recalls)
        and ``expired`` (deleted from the archive).
        """
        journal, put = self._mind.character.journal, self._mind.slices.put
        archive = journal.archive
        yield journal.load(put)
        yield archive.load(put)
        recalled: int = yield self._background.write_in_pieces(
            list(journal.recalls), AT_ONCE, journal.store_recalls
        )
        over = archive.over(self._mind.now(), self._mind.config.archive_days)[:MOST_A_PASS]
        yield self._background.write_in_pieces(over, AT_ONCE, lambda piece: archive.remove(*piece))
        faded: list[str] = yield self._find_faded()
        pruned: int = yield self._background.write_in_pieces(
            faded, AT_ONCE, partial(self._put_away, journal)
        )
        kept = len(journal.ids())
        done = {"pruned": pruned, "recalled": recalled, "expired": len(over)}
        if not any(done.values()):
            if not self._mind.config.prune_enabled:
                return skip("pruning disabled")
            least = self._mind.config.prune_keep_at_least
            return skip("nothing faded" if kept > least else f"no more than {least} entries")
        return {"success": True, **done, "kept": kept}

    def _fading(self) -> Fading:
        own = self._mind.config
        return Fading(
            own.prune_retention, own.prune_importance, own.prune_age_days, own.prune_keep_at_least
        )

    @inlineCallbacks
    def _find_faded(self) -> Coroutine[list[str]]:
        """Find the entries to archive. Fires with their ids, the most faded first."""
        journal, put = self._mind.character.journal, self._mind.slices.put
        ids, fading = journal.ids(), self._fading()
        if not self._mind.config.prune_enabled or len(ids) <= fading.floor:
            return []
        yield self._mind.character.ai_profiles.load(put)
        yield yield_to_reactor(put)
        in_use = self._mind.character.ai_profiles.live_sources()
        now = self._mind.now()
        needs_link = not self._mind.services.semantic.is_off

        def look(id: str) -> Look:
            entry = journal.get(id)
            if entry is None:
                return id, None, ()
            fades = is_faded(entry, now, fading) and (entry["consolidated"] or not needs_link)
            return id, retention_of(entry, now) if fades else None, tuple(cited_by(entry))

        looks: list[Look] = yield map_in_slices(put, ids, look)
        cited = {source for _id, _left, cites in looks for source in cites}
        faded = [(left, known) for known, left, _cites in looks if left is not None]
        return select_to_forget(faded, in_use | cited, len(ids), fading.floor)[:MOST_A_PASS]

    def _put_away(self, journal: Journal, ids: Sequence[str]) -> int:
        """Archive those of some entries that are still faded; return how many."""
        now, fading = self._mind.now(), self._fading()
        fresh = [entry for entry in map(journal.get, ids) if entry]
        still = [entry["id"] for entry in fresh if is_faded(entry, now, fading)]
        return journal.archive.put_away(journal, *still)


def prune_low_importance_entries(script: Any, character: Any) -> Deferred[dict[str, Any]]:
    """Archive faded journal entries; fires and fails as `Pruning.prune`.

    ``script`` is an `AssistantScript`, ``character`` its character.
    """
    result: Deferred[dict[str, Any]] = script.mind.pruning.prune()
    return result

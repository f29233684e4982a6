"""Move faded journal entries into an archive, from which they can be brought back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.records.forgetting import (
    Fading,
    cited_by,
    is_faded,
    retention_of,
    select_to_forget,
)
from evennia_ai.ports import Character, Journal, Script
from evennia_ai.scheduling import Steps, pause, spread
from evennia_ai.sleep.importance import score_new_entries
from evennia_ai.turn.background import skip, write_in_pieces

AT_ONCE = 8  # entries in one write
MOST_A_PASS = 500


# An entry's id, its retention if it faded, and the ids of the entries it cites that must stay.
Look = tuple[str, float | None, Sequence[str]]


@inlineCallbacks
def prune_low_importance_entries(script: Script, character: Character) -> Steps[dict[str, Any]]:
    """Archive faded journal entries.

    Recent recalls are stored and new entries are scored first, since both decide what fades. An
    entry stays if it is pinned, written or scored by a builder or by code, written by a compaction,
    cited by something that still holds, or missing from a long-term memory in use. See
    `policy.records.forgetting`.

    Fires with ``success``, ``pruned``, ``kept`` (entries left), ``scored``, ``recalled`` (entries
    with new recalls) and ``expired`` (deleted from the archive); or with ``skipped`` True and
    ``reason`` if there was nothing to do. Fails with TurnAborted and StoreUnavailable.
    """
    journal, put = character.journal, script.services.slices.put
    archive = journal.archive
    yield journal.load(put)
    yield archive.load(put)
    recalled: int = yield write_in_pieces(
        script, list(journal.recalls), AT_ONCE, journal.store_recalls
    )
    scored: int = yield score_new_entries(script, journal)
    over = archive.over(script.services.now(), script.config.archive_days)[:MOST_A_PASS]
    yield write_in_pieces(script, over, AT_ONCE, lambda piece: archive.remove(*piece))
    faded: list[str] = yield find_faded(script, character)
    pruned: int = yield write_in_pieces(script, faded, AT_ONCE, partial(put_away, script, journal))
    kept = len(journal.ids())
    done = {"pruned": pruned, "scored": scored, "recalled": recalled, "expired": len(over)}
    if not any(done.values()):
        return skip(reason_for_nothing(script, kept))
    return {"success": True, **done, "kept": kept}


def reason_for_nothing(script: Script, kept: int) -> str:
    """Return why nothing was archived."""
    config = script.config
    if not config.prune_enabled:
        return "pruning disabled"
    if kept <= config.prune_floor:
        return f"no more than {config.prune_floor} entries"
    return "nothing faded"


def fading_of(script: Script) -> Fading:
    """Return when entries of this assistant fade."""
    own = script.config
    return Fading(own.prune_retention, own.prune_importance, own.prune_age_days, own.prune_floor)


@inlineCallbacks
def find_faded(script: Script, character: Character) -> Steps[list[str]]:
    """Find the entries to archive. Fires with their ids, the most faded first."""
    journal, put = character.journal, script.services.slices.put
    ids, fading = journal.ids(), fading_of(script)
    if not script.config.prune_enabled or len(ids) <= fading.floor:
        return []
    yield character.ai_profiles.load(put)
    yield pause(put)
    in_use = character.ai_profiles.live_sources()
    now = script.services.now()
    needs_link = not script.services.semantic.is_off

    def look(id: str) -> Look:
        entry = journal.get(id)
        if entry is None:
            return id, None, ()
        fades = is_faded(entry, now, fading) and (entry["consolidated"] or not needs_link)
        return id, retention_of(entry, now) if fades else None, tuple(cited_by(entry))

    looks: list[Look] = yield spread(put, ids, look)
    cited = {source for _id, _left, cites in looks for source in cites}
    faded = [(left, known) for known, left, _cites in looks if left is not None]
    return select_to_forget(faded, in_use | cited, len(ids), fading.floor)[:MOST_A_PASS]


def put_away(script: Script, journal: Journal, ids: Sequence[str]) -> int:
    """Archive those of some entries that are still faded; return how many."""
    now, fading = script.services.now(), fading_of(script)
    fresh = [entry for entry in map(journal.get, ids) if entry]
    still = [entry["id"] for entry in fresh if is_faded(entry, now, fading)]
    return journal.archive.put_away(journal, *still)

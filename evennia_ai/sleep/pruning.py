"""Asleep, what hardly matters and was not looked up for long goes out of the journal, into an
archive from which it can be brought back."""

from __future__ import annotations

from collections.abc import Generator, Sequence
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
from evennia_ai.policy.records.provenance import Record
from evennia_ai.scheduling import pause, persist, spread
from evennia_ai.sleep.importance import score_new_entries

AT_ONCE = 8  # entries in one write
MOST_A_PASS = 500


@dataclass(frozen=True)
class Look:
    """What one look at an entry tells: its id, how much is left of it where it faded, else None,
    and the ids of what it was made of, where these must stay."""

    id: str
    left: float | None
    cites: tuple[str, ...]


@inlineCallbacks
def prune_low_importance_entries(
    script: Any, character: Any
) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Put faded journal entries away.

    Before that, what was looked up lately is counted, and a model scores what is new, since both
    decide what fades. What is pinned, written or weighed by a builder or by code, left by a
    compaction, or the source of something that still holds stays; so does what long-term memory
    does not have yet, where there is one. See `policy.records.forgetting`.

    Args:
        script: the assistant.
        character: its character, with ``journal``.

    Fires with ``success``, ``pruned``, ``kept`` (entries left), ``scored``, ``recalled`` (entries
    whose count of recalls grew) and ``expired`` (gone from the archive for good), or with
    ``skipped`` True and ``reason`` where there was nothing of any of it to do. Fails with
    TurnAborted and StoreUnavailable.
    """
    journal: Any = getattr(character, "journal", None)
    archive, put = getattr(journal, "archive", None), script.services.slices.put
    if archive is None:
        return {"skipped": True, "reason": "no journal"}
    yield journal.load(put)
    yield archive.load(put)
    recalled: int = yield store_recalls(script, journal)
    scored: int = yield score_new_entries(script, journal)
    expired: int = yield expire(script, archive)
    faded: list[str] = yield find_faded(script, character)
    pruned = 0
    for piece in pieces(faded):
        yield pause(put)
        pruned += yield persist(script.services.clock, partial(put_away, script, journal, piece))
    kept = len(journal.ids())
    done = {"pruned": pruned, "scored": scored, "recalled": recalled, "expired": expired}
    if not any(done.values()):
        return {"skipped": True, "reason": reason_for_nothing(script, kept)}
    return {"success": True, **done, "kept": kept}


def reason_for_nothing(script: Any, kept: int) -> str:
    """Why nothing was put away."""
    config = script.config
    if not config.prune_enabled:
        return "pruning disabled"
    if kept <= config.prune_floor:
        return f"no more than {config.prune_floor} entries"
    return "nothing faded"


def pieces(ids: Sequence[str]) -> list[Sequence[str]]:
    """Ids, as many as one write takes at a time."""
    return [ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)]


def fading_of(script: Any) -> Fading:
    """When entries of this assistant fade."""
    config = script.config
    return Fading(
        retention=config.prune_retention,
        importance=config.prune_importance,
        age_days=config.prune_age_days,
        floor=config.prune_floor,
    )


@inlineCallbacks
def find_faded(script: Any, character: Any) -> Generator[Deferred[Any], Any, list[str]]:
    """Fires with the ids of what is to be put away, the most faded first."""
    journal, put = character.journal, script.services.slices.put
    ids, fading = journal.ids(), fading_of(script)
    if not script.config.prune_enabled or len(ids) <= fading.floor:
        return []
    yield character.ai_profiles.load(put)
    yield pause(put)
    in_use = character.ai_profiles.live_sources()
    now = script.services.now()
    waits = waits_for_long_term(script)

    def look(id: str) -> Look:
        entry: Record | None = journal.get(id)
        if entry is None:
            return Look(id, None, ())
        fades = is_faded(entry, now, fading) and not (waits and not entry["consolidated"])
        return Look(id, retention_of(entry, now) if fades else None, tuple(cited_by(entry)))

    looks: list[Look] = yield spread(put, ids, look)
    cited = {source for found in looks for source in found.cites}
    faded = [(found.left, found.id) for found in looks if found.left is not None]
    return select_to_forget(faded, in_use | cited, len(ids), fading.floor)[:MOST_A_PASS]


def waits_for_long_term(script: Any) -> bool:
    """True where long-term memory is in use: what it does not have yet must stay."""
    semantic = getattr(script.services, "semantic", None)
    return semantic is not None and not semantic.is_off


def put_away(script: Any, journal: Any, ids: Sequence[str]) -> int:
    """Put some entries away that are still faded now; returns how many."""
    now, fading = script.services.now(), fading_of(script)
    fresh = [entry for entry in map(journal.get, ids) if entry]
    still = [entry["id"] for entry in fresh if is_faded(entry, now, fading)]
    return int(journal.archive.put_away(journal, *still))


@inlineCallbacks
def store_recalls(script: Any, journal: Any) -> Generator[Deferred[Any], Any, int]:
    """Write down how often entries were looked up since the last pass. Fires with how many."""
    stored = 0
    for piece in pieces(list(journal.recalls)):
        yield pause(script.services.slices.put)
        stored += yield persist(script.services.clock, partial(journal.store_recalls, piece))
    return stored


@inlineCallbacks
def expire(script: Any, archive: Any) -> Generator[Deferred[Any], Any, int]:
    """Remove from the archive what has been there long enough. Fires with how many."""
    over = archive.over(script.services.now(), script.config.archive_days)[:MOST_A_PASS]
    for piece in pieces(over):
        yield pause(script.services.slices.put)
        yield persist(script.services.clock, partial(archive.remove, *piece))
    return len(over)

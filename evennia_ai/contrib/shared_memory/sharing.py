"""Share memories learnt at first hand with a faction, a place, or the world."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.contrib.shared_memory.settings import SharedMemorySettings
from evennia_ai.contrib.shared_memory.telling import (
    MOST_TOLD,
    Rumours,
    SharedRecord,
    SharedTelling,
    make_tellings,
    may_be_told,
    read_scopes,
    select_scopes,
    select_taken_back,
    was_said_openly,
    worth_telling,
)
from evennia_ai.extension import SleepContext
from evennia_ai.policy.records.journal_entry import is_as_copied
from evennia_ai.policy.records.record import Record, people_in
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import Coroutine, map_in_slices, retry_write, yield_to_reactor

AT_ONCE = 8  # entries checked or told at a stretch: 5 ms (measured)


class Board(Protocol):
    """What assistants told each other (`entries`); writing raises StoreUnavailable."""

    def told_by(self, assistant_id: int) -> list[SharedRecord]: ...
    def open_among(self, assistant_id: int, seqs: Iterable[int]) -> frozenset[int]: ...
    def tell(
        self, assistant_id: int, teller: str, now: datetime, new: Sequence[SharedTelling]
    ) -> None: ...
    def take_back(self, ids: Sequence[int]) -> None: ...


@dataclass(frozen=True, eq=False)
class Sharing:
    """Shares memories with a faction, a place, or the world.

    ``heard`` returns a Deferred of all that others told the character.
    """

    _mind: SleepContext
    _board: Board
    _heard: Callable[[], Deferred[list[Record]]]

    @inlineCallbacks
    def share(self) -> Coroutine[dict[str, Any]]:
        """Tell a character's scopes what it learnt, and take back what it no longer tells.

        Each entry is told once, to the scopes that the character has at that time; they keep it
        when the character moves on. Private entries are never read; see
        `telling.may_be_told`. A character with whisper_policy "trusting" mixes
        whispered words into its entries, so it tells nothing new.

        Its figures are ``told`` (entries) and ``taken_back`` (an entry counts once for each scope).
        """
        mind, config = self._mind, self._mind.config
        chosen = read_scopes(config.part(SharedMemorySettings).share_memory)
        shared_entries = self._board.told_by(mind.who.id)
        if not chosen and not shared_entries:
            return skip("nothing is shared")
        known = frozenset(item.entry for item in shared_entries)
        tells_new = bool(chosen) and config.whisper_policy == "strict"
        standing: list[Record] = yield self._select_standing(known, tells_new=tells_new)
        gone = select_taken_back(
            shared_entries, frozenset(entry["id"] for entry in standing), chosen
        )
        scopes = select_scopes(chosen, mind.world.labels_of(mind.character))
        new = [entry for entry in standing if entry["id"] not in known] if scopes else []
        if not new and not gone:
            return skip("nothing new to tell")
        yield retry_write(mind.clock, partial(self._board.take_back, gone))
        tell = partial(self._write_tellings, scopes)
        count: int = yield mind.background.write_in_pieces(new, AT_ONCE, tell)
        return {"success": True, "told": count, "taken_back": len(gone)}

    def _write_tellings(self, scopes: Sequence[str], entries: Sequence[Record]) -> int:
        """Tell the entries that have not changed, in one transaction; return how many."""
        mind, now = self._mind, self._mind.now()
        delay_s = mind.config.part(SharedMemorySettings).share_delay
        still = [
            entry
            for entry in entries
            if is_as_copied(entry, mind.character.journal.get(entry["id"]))
        ]
        tellings = [
            telling
            for entry in still
            for telling in make_tellings(entry, scopes, now, delay_s, people_in(entry))
        ]
        self._board.tell(mind.who.id, mind.character.dbref, now, tellings)
        return len(still)

    @inlineCallbacks
    def _select_standing(
        self, known: frozenset[str], *, tells_new: bool
    ) -> Coroutine[list[Record]]:
        """Select the entries that may be told. Fires with the `MOST_TOLD` most important first.

        Entries in ``known`` were checked when they were told first; ``tells_new`` selects others,
        too.
        """
        journal, put = self._mind.character.journal, self._mind.slices.put
        least = self._mind.config.part(SharedMemorySettings).share_importance
        yield journal.load(put)

        def look(id: str) -> Record | None:
            entry = journal.get(id)
            return entry if entry and may_be_told(entry, least) else None

        looked: list[Record | None] = yield map_in_slices(put, journal.ids(), look)
        candidates = sorted((entry for entry in looked if entry), key=worth_telling, reverse=True)
        if not tells_new:
            candidates = [entry for entry in candidates if entry["id"] in known]
        fresh = any(entry["id"] not in known for entry in candidates[:MOST_TOLD])
        rumours: Rumours = (yield self._gather_rumours()) if fresh else Rumours()
        standing: list[Record] = []
        for start in range(0, len(candidates), AT_ONCE):
            if len(standing) >= MOST_TOLD:
                break
            yield yield_to_reactor(put)
            standing += self._select_first_hand(candidates[start : start + AT_ONCE], known, rumours)
        return standing[:MOST_TOLD]

    @inlineCallbacks
    def _gather_rumours(self) -> Coroutine[Rumours]:
        """Collect everything that others told the character. Fires with it."""
        world, character = self._mind.world, self._mind.character
        rumours, names = Rumours(), dict[str, str]()
        records: list[Record] = yield self._heard()

        def take_in(record: Record) -> None:
            teller = record["teller"]
            if teller not in names:
                names[teller] = world.name_of(character, teller)
            rumours.add(record, names[teller])

        yield map_in_slices(self._mind.slices.put, records, take_in)
        return rumours

    def _select_first_hand(
        self, entries: Sequence[Record], known: frozenset[str], rumours: Rumours
    ) -> list[Record]:
        """Return entries that others know, or of public words that are no rumour."""
        seqs = {
            seq for entry in entries if entry["id"] not in known for seq in entry["source_seqs"]
        }
        open_seqs = self._board.open_among(self._mind.who.id, seqs)
        return [
            entry
            for entry in entries
            if entry["id"] in known
            or (was_said_openly(entry, open_seqs) and not rumours.is_echo(entry))
        ]

"""Share memories learnt at first hand with a faction, a place, or the world."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.records.record import Record, people_in
from evennia_ai.policy.records.shared_memory import (
    MOST_TOLD,
    Rumours,
    is_as_told,
    make_tellings,
    may_be_told,
    read_scopes,
    select_scopes,
    select_taken_back,
    was_said_openly,
    worth_telling,
)
from evennia_ai.ports import Identity, Memories, Services, Settings
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import Coroutine, map_in_slices, retry_write, yield_to_reactor
from evennia_ai.turn.model_call import BackgroundCalls

AT_ONCE = 8  # entries checked or told at a stretch: 5 ms (measured)


@dataclass(frozen=True, eq=False)
class Sharing:
    """Shares memories with a faction, a place, or the world."""

    _who: Identity
    _settings: Settings
    _memories: Callable[[], Memories]
    _background: BackgroundCalls
    _services: Services

    @inlineCallbacks
    def share(self) -> Coroutine[dict[str, Any]]:
        """Tell a character's scopes what it learnt, and take back what it no longer tells.

        Each entry is told once, to the scopes that the character has at that time; they keep it
        when the character moves on. Private entries are never read; see
        `policy.records.shared_memory.may_be_told`. A character with whisper_policy "trusting" mixes
        whispered words into its entries, so it tells nothing new.

        Its figures are ``told`` (entries) and ``taken_back`` (an entry counts once for each scope).
        """
        shared = self._services.shared_memory
        chosen = read_scopes(self._settings.config.share_memory)
        shared_entries = shared.told_by(self._who.id)
        if not chosen and not shared_entries:
            return skip("nothing is shared")
        known = frozenset(item.entry for item in shared_entries)
        tells_new = bool(chosen) and self._settings.config.whisper_policy == "strict"
        standing: list[Record] = yield self._select_standing(known, tells_new=tells_new)
        gone = select_taken_back(
            shared_entries, frozenset(entry["id"] for entry in standing), chosen
        )
        scopes = select_scopes(chosen, self._services.world.labels_of(self._who.character))
        new = [entry for entry in standing if entry["id"] not in known] if scopes else []
        if not new and not gone:
            return skip("nothing new to tell")
        yield retry_write(self._services.clock, partial(shared.take_back, gone))
        tell = partial(self._write_tellings, scopes)
        count: int = yield self._background.write_in_pieces(new, AT_ONCE, tell)
        return {"success": True, "told": count, "taken_back": len(gone)}

    def _write_tellings(self, scopes: Sequence[str], entries: Sequence[Record]) -> int:
        """Tell the entries that have not changed, in one transaction; return how many."""
        now, delay_s = self._services.now(), self._settings.config.share_delay
        still = [
            entry
            for entry in entries
            if is_as_told(entry, self._who.character.journal.get(entry["id"]))
        ]
        tellings = [
            telling
            for entry in still
            for telling in make_tellings(entry, scopes, now, delay_s, people_in(entry))
        ]
        self._services.shared_memory.tell(self._who.id, self._who.character.dbref, now, tellings)
        return len(still)

    @inlineCallbacks
    def _select_standing(
        self, known: frozenset[str], *, tells_new: bool
    ) -> Coroutine[list[Record]]:
        """Select the entries that may be told. Fires with the `MOST_TOLD` most important first.

        Entries in ``known`` were checked when they were told first; ``tells_new`` selects others,
        too.
        """
        journal, put = self._who.character.journal, self._services.slices.put
        least: int = self._settings.config.share_importance
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
        rumours, names = Rumours(), dict[str, str]()
        memories: Any = self._memories()  # with ``records``, since the character shares
        yield memories.prepare(self._services, upto=0)  # its own lines are no rumours

        def take_in(record: Record) -> None:
            teller = record["teller"]
            if teller not in names:
                names[teller] = self._services.world.name_of(self._who.character, teller)
            rumours.add(record, names[teller])

        yield map_in_slices(self._services.slices.put, memories.records(), take_in)
        return rumours

    def _select_first_hand(
        self, entries: Sequence[Record], known: frozenset[str], rumours: Rumours
    ) -> list[Record]:
        """Return entries that others know, or of public words that are no rumour."""
        seqs = {
            seq for entry in entries if entry["id"] not in known for seq in entry["source_seqs"]
        }
        open_seqs = self._services.shared_memory.open_among(self._who.id, seqs)
        return [
            entry
            for entry in entries
            if entry["id"] in known
            or (was_said_openly(entry, open_seqs) and not rumours.is_echo(entry))
        ]

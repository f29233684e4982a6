"""Reading a character's memories for staff: pages, searches, and what a search withholds."""

from dataclasses import dataclass

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.restored_context import select_found
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, Reader
from evennia_ai.policy.recallable_lines import LINE
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.record import Record, is_known_to
from evennia_ai.ports import Conversation, Memories, MemoryMatch, MindContext, RecordStore, Services
from evennia_ai.scheduling import Coroutine, Enqueue, map_in_slices, yield_to_reactor
from evennia_ai.store.reports import RowPage

FOUND, FOUND_LINES = 8, 6
CANDIDATES = 24


@dataclass(frozen=True)
class SearchReport:
    """What a search finds for an audience, best first, as far as one reader may see it.

    ``withheld`` are near records that the audience may not know, empty for a reader who may not see
    private records; such a reader gets ``hidden``, the number of all of these.
    """

    found: list[MemoryMatch]
    withheld: list[Record]
    hidden: int


@inlineCallbacks
def readable_page(
    put: Enqueue, journal: RecordStore, number: int, size: int, reader: Reader
) -> Coroutine[tuple[RowPage, int]]:
    """Read a page of a journal or its archive, newest first; the last one for a high number.

    Fires with it, and how many entries are hidden from the reader; fails with StoreUnavailable.
    """
    yield journal.load(put)
    ids = journal.ids()

    def time_of(id: str) -> str | None:
        entry = journal.get(id)
        return str(entry["timestamp"]) if entry and may_read(reader, entry) else None

    moments = yield map_in_slices(put, ids, time_of, piece=200)
    times = sorted((at, place) for place, at in enumerate(moments) if at is not None)[::-1]
    pages = max(1, -(-len(times) // size))
    wanted_page, number = number, min(number, pages)
    wanted = times[(number - 1) * size : number * size]
    rows = [entry for _, place in wanted if (entry := journal.get(ids[place]))]
    page = RowPage(number, pages, rows, wanted_page, newest_first=True)
    return page, len(ids) - len(times)


@inlineCallbacks
def find_memories(
    memories: Memories,
    log: Conversation,
    services: Services,
    query: str,
    audience: Audience,
    upto: int | None = None,
    *,
    only_lines: bool = False,
) -> Coroutine[list[MemoryMatch]]:
    """Search the log, the journal, the profiles and hearsay for what an audience may know (P9).

    ``audience`` is the dbrefs of everybody who will hear the result; an empty one finds what is
    public. ``upto`` is the last message whose line is searched, None for all. Fires with the best
    results, best first; fails with StoreUnavailable and TurnAborted.
    """
    yield memories.prepare(services, [query], upto)
    keep = (lambda record: record.get("kind") == LINE) if only_lines else None
    now = services.now()
    hits = memories.search(query, CANDIDATES, audience, now, keep, upto=upto)
    by_id = {hit.record["id"]: hit for hit in hits}
    most = FOUND_LINES if only_lines else FOUND
    shown = select_found([hit.record for hit in hits], log.current.record, most)
    return [by_id[record["id"]] for record in shown]


@inlineCallbacks
def search_for_staff(
    around: MindContext, words: str, audience: Audience, reader: Reader
) -> Coroutine[SearchReport]:
    """Search as the tool `search_memory` would for an audience; fails as `find_memories`."""
    memories, services = around.memories(), around.services
    hits: list[MemoryMatch] = yield find_memories(memories, around.log, services, words, audience)
    yield yield_to_reactor(services.slices.put)
    hits = [hit for hit in hits if may_read(reader, hit.record)]
    withheld: list[Record] = []
    hidden = 0
    if reader.may(PRIVATE_MEMORIES):
        nearest = memories.search(words, FOUND, audience, services.now(), everything=True)
        withheld = [hit.record for hit in nearest if not is_known_to(hit.record, audience)]
    else:  # all that the reader may not see, whether or not it matches
        character = around.who.character
        records = [*character.journal.held(), *character.ai_profiles.held()]
        hidden = sum(not may_read(reader, record) for record in records)
    count_shown(reader, *withheld, *(hit.record for hit in hits))
    return SearchReport(hits, withheld, hidden)

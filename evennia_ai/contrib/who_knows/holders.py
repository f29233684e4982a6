"""Which characters know something: a search over every kind of memory of every mind."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Q
from twisted.internet.defer import inlineCallbacks

from evennia_ai import models
from evennia_ai.policy.context.projection import part_audience
from evennia_ai.policy.conversation.persona_and_lore import quests_of, render_persona, why_unknown
from evennia_ai.policy.facts.terms import sentences_of
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, Reader, memory_kind, words_kind
from evennia_ai.policy.recallable_lines import LINE, read_line
from evennia_ai.policy.records.memory_listing import named, whose_word
from evennia_ai.policy.records.record import Record, time_of
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import WORD, beginnings, find_words, language_of
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports.extension import memory_sources
from evennia_ai.scheduling import Coroutine, map_in_slices, yield_to_reactor
from evennia_ai.store.names import names_in
from evennia_ai.store.rows import pages
from evennia_ai.turn.recall import is_question, text_of

PIECE = 100  # lines or records looked at without a pause
MOST_TOLD = 20  # of one source of memories
COLUMNS = ("content", "tool_calls", "speaker_name")
RANKS = {"told": 0, "heard": 2, "said": 2}  # what is shown first; all else has 1


def matches(query: str, text: str) -> bool:
    """Return True if a text has all words of a query in any form."""
    words, language = set(WORD.findall(text.lower())), language_of(text) or ENGLISH
    wanted = find_words(query, (), language) or WORD.findall(query.lower())
    return bool(wanted) and words.union(find_words(text, (), language)).issuperset(wanted)


def candidate_lines(query: str) -> Any:
    """Return the rows of the log that may match, as a queryset: a superset."""
    starts = (start for part in query.split() for start in beginnings(part))
    wanted = Q()
    for word in filter(str.isascii, starts):  # the database tells Ä from ä
        wanted &= Q.create([(f"{column}__icontains", word) for column in COLUMNS], Q.OR)
    edited = models.Amendment.objects.exclude(text="").values("seq")
    return models.Message.objects.exclude(role="tool").filter(wanted | Q(id__in=edited))


@inlineCallbacks
def find_holders(
    services: Any, query: str, reader: Reader, may_edit: Callable[[Any], bool], minds: Iterable[Any]
) -> Coroutine[list[tuple[Any, list[Record]]]]:
    """Find what assistants hold of a query, as far as a reader may see it.

    Fires with each assistant that holds something, by name, and its records by `RANKS` and age,
    with ``way`` (how it came to the mind), ``from``, ``to`` (whom it may tell) and ``text``; no
    line that only asks. Who may read no private memories sees nothing of them, not even that they
    exist, and no records of a character that they may not edit. Fails with StoreUnavailable.
    """
    put, lines = services.slices.put, defaultdict[int, list[int]](list)
    for page in pages(candidate_lines(query), "assistant_id"):
        yield yield_to_reactor(put)
        for row in page:
            lines[row.assistant_id].append(row.id)
    holders: list[tuple[Any, list[Record]]] = []
    for script in minds:
        yield yield_to_reactor(put)
        records = [*waiting(script, query), *written(script, query)]
        for start in range(0, len(lines[script.id]), PIECE):
            yield yield_to_reactor(put)
            records += logged(script, query, lines[script.id][start : start + PIECE])
        if reader.may(PRIVATE_MEMORIES) or may_edit(script.character):
            records += yield recorded(script, query)
            records += yield from_others(script, query)
        seen = (record for record in records if is_seen(record, reader))
        shown = [described(script, record) for record in seen if not is_question(record)]
        reader.count(PRIVATE_MEMORIES, sum(record["audience"] is not None for record in shown))
        if shown:
            shown.sort(key=lambda row: (RANKS.get(row["way"], 1), str(row["since"] or "")))
            holders.append((script, shown))
    return holders


def is_seen(record: Record, reader: Reader) -> bool:
    private = record["audience"] is not None
    return reader.may(words_kind(private) if record.get("kind") == LINE else memory_kind(private))


def logged(script: Any, query: str, seqs: Iterable[int]) -> Iterator[Record]:
    """Yield lines of the log that a mind can recall."""
    for message in script.conversation.lines.read(seqs):
        record = read_line(message, script.mind.who.name)
        if record and matches(query, f"{record['speaker_name']} {record['words']}"):
            way = "said" if record["own"] else "heard"
            yield {**record, "way": way, "from": record["speaker_name"]}


def waiting(script: Any, query: str) -> Iterator[Record]:
    """Yield what a mind heard and has not taken up yet."""
    rows = models.Event.objects.filter(assistant_id=script.id, turn=None)
    for row in rows.filter(state__in=("waiting", "overheard")).order_by("id"):
        if matches(query, f"{row.speaker_name} {row.text}"):
            audience = row.audience if row.private and not row.repeatable else None
            origin = {"from": row.speaker_name, "timestamp": row.at.isoformat()}
            line = {"kind": LINE, "words": row.text}
            yield made("heard", "not read yet", row.text, audience, **origin, **line)


def written(script: Any, query: str) -> Iterator[Record]:
    """Yield the lore that a mind knows, if only for some listeners, its persona and its summary."""
    entries, labels = script.services.world.lore(script.character, frozenset())
    for entry in entries:
        quests = quests_of(entry)
        if matches(query, entry.searched) and not why_unknown(entry, labels.union(quests)):
            to = " and ".join(f"who has {quest}" for quest in quests)
            yield made("lore", f"lore:{entry.title}", entry.text, None, to=to)
    persona = render_persona(script.mind.who.persona)
    if matches(query, persona):
        fitting = [sentence for sentence in sentences_of(persona) if matches(query, sentence)]
        yield made("persona", "persona", " ".join(fitting) or persona, None)
    rows = models.Compaction.objects.filter(assistant_id=script.id, undone_at=None)
    row = rows.exclude(summary={}).order_by("-id").first()
    for key, text in row.summary.items() if row else ():
        if lines := [line for line in str(text).splitlines() if matches(query, line)]:
            at = {"timestamp": row.at.isoformat()}
            yield made("summary", f"summary:{row.id}", "; ".join(lines), part_audience(key), **at)


@inlineCallbacks
def recorded(script: Any, query: str) -> Coroutine[list[Record]]:
    """Find journal entries, current values, observations and goals."""
    records: list[Record] = []
    who, put = script.character, script.services.slices.put
    stores = {"noted": who.journal, "profile": who.ai_profiles, "goal": who.ai_goals}
    for way, store in stores.items():
        yield store.load(put)

        def look(id: str, store: Any = store) -> Record | None:
            record = store.get(id)
            is_past = record is None or record.get("valid_to")
            return None if is_past or not matches(query, words_of(record)) else record

        looked = yield map_in_slices(put, store.ids(), look, PIECE)
        for record in filter(None, looked):
            hidden = "nobody: a line behind it is hidden or edited" * store.withholds(record)
            records.append({**record, "way": way, "to": hidden})
    return records


@inlineCallbacks
def from_others(script: Any, query: str) -> Coroutine[list[Record]]:
    """Find what others told a mind, in the sources that extensions add."""
    records: list[Record] = []
    for source in memory_sources(script.mind.around):
        yield source.prepare([query])
        hits = source.search(query, MOST_TOLD, None, script.services.now())
        fitting = (hit.record for hit in hits if matches(query, hit.record["content"]))
        records += [{**record, "way": "told"} for record in fitting]
    return records


def described(script: Any, record: Record) -> Record:
    """Return a record with what staff read of it: ``from``, ``to``, ``since`` and ``text``."""
    audience, names = record["audience"], names_in(record)
    others = [who for who in audience or () if who != script.character.dbref]
    anybody = "anybody" if audience is None else f"only {named(others, names)}: told in private"
    label = str(record.get("label", "")).removeprefix(", ").removesuffix(" told you")
    source = label or record.get("from", whose_word(record, names).removeprefix("from "))
    is_dated = any(record.get(name) for name in ("said_at", "timestamp", "confirmed_at"))
    more = {"since": time_of(record) if is_dated else None, "text": one_line(words_of(record))}
    return {**record, "from": source, "to": record.get("to") or anybody, **more}


def made(way: str, id: str, text: str, audience: Iterable[str] | None, **more: str) -> Record:
    """Return what is no record as one."""
    known = None if audience is None else sorted(audience)
    origin = {"source_entity": "", "speakers": [], "source_type": "builder", "from": ""}
    return {"id": id, "way": way, "content": text, "audience": known, **origin, **more}


def words_of(record: Mapping[str, Any]) -> str:
    """Return the words of a record of any kind, "" for a relationship."""
    return text_of({"content": "", **record})

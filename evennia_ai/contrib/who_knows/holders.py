"""Which characters know something: a search over every kind of memory of every mind."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from twisted.internet.defer import inlineCallbacks

from evennia_ai import models
from evennia_ai.commands.common import all_assistants
from evennia_ai.policy.context.projection import part_audience
from evennia_ai.policy.conversation.persona_and_lore import quests_of, why_unknown
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, PRIVATE_WORDS, Reader
from evennia_ai.policy.recallable_lines import LINE, read_line
from evennia_ai.policy.records.memory_listing import named, whose_word
from evennia_ai.policy.records.record import Record, is_known_to, time_of
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import WORD, beginnings, find_words, language_of
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports.extension import memory_sources
from evennia_ai.scheduling import Coroutine, map_in_slices, yield_to_reactor
from evennia_ai.store.inbox import OVERHEARD, WAITING
from evennia_ai.store.names import names_in
from evennia_ai.store.rows import pages

MOST_NEAR, NEAR = 3, 0.5  # records of one mind that are near in meaning only, and how near
MOST_OF_SOURCE = 50
COLUMNS = ("content", "tool_calls", "speaker_name")


@dataclass(frozen=True)
class Holding:
    """One thing that a mind holds: where it stands, from whom it is, and whom it may tell."""

    id: str
    way: str  # heard, said, noted, profile, goal, summary, lore, persona, told
    source: str
    since: datetime | None
    may_tell: str
    text: str
    private: bool = False
    by_meaning: bool = False


@dataclass(frozen=True)
class WordMatch:
    """Whether a text has all words of a query, in any form; ``*`` stands for the rest of a word."""

    query: str

    def __call__(self, text: str) -> bool:
        parts = [part for part in self.query.lower().split() if "*" in part]
        plain = " ".join(part for part in self.query.split() if "*" not in part)
        words, language = set(WORD.findall(text.lower())), language_of(text) or ENGLISH
        wanted = find_words(plain, (), language) or WORD.findall(plain.lower())
        if not (parts or wanted) or not words.union(find_words(text, (), language)).issuperset(
            wanted
        ):
            return False
        return all(any(map(part_test(part), words)) for part in parts)

    @property
    def ascii_words(self) -> list[str]:
        """Return what a row must hold: the database compares other letters by their case."""
        starts = [part for part in self.query.replace("*", " * ").split() if part != "*"]
        return [word for start in starts for word in beginnings(start) if word.isascii()]


def part_test(part: str) -> Callable[[str], bool]:
    """Return a test of a word: ``hat*`` begins so, ``*hat`` or ``*hat*`` has it anywhere."""
    bare = part.strip("*")
    return (lambda word: bare in word) if part[0] == "*" else (lambda word: word.startswith(bare))


@inlineCallbacks
def find_holders(
    services: Any, query: str, reader: Reader, may_edit: Callable[[Any], bool]
) -> Coroutine[list[tuple[Any, list[Holding]]]]:
    """Find what every mind holds of a query, as far as a reader may see it.

    Fires with the assistants that hold something, by name, and what they hold, oldest first; by
    meaning, too, where there is an embedder. Whoever may read no private memories sees nothing of
    them, not even that they exist, and no journal of a character that they may not edit. Fails with
    StoreUnavailable.
    """
    matches, put = WordMatch(query), services.slices.put
    lines: dict[int, list[int]] = defaultdict(list)
    for page in pages(candidate_lines(matches), "assistant_id"):
        yield yield_to_reactor(put)
        for row in page:
            lines[row.assistant_id].append(row.id)
    holders: list[tuple[Any, list[Holding]]] = []
    for script in all_assistants():
        yield yield_to_reactor(put)
        search = MindSearch(services, script, matches, reader)
        is_open = reader.may(PRIVATE_MEMORIES) or may_edit(script.character)
        records: list[Record] = [*search.lines(lines[script.id]), *search.events()]
        records += [*search.summaries(), *search.lore()]
        if is_open:
            records += yield search.journal()
            records += yield search.of_sources()
        records = [record for record in records if search.may_see(record)]
        if is_open and services.embedder is not None:
            records += yield search.by_meaning({record["id"] for record in records})
        if records:
            records.sort(key=lambda record: str(record.get("timestamp") or ""))
            holders.append((script, [search.holding(record) for record in records]))
    return holders


def candidate_lines(matches: WordMatch) -> Any:
    """Return the rows of the log that may match, as a queryset: a superset."""
    rows = models.Message.objects.exclude(role="tool")
    wanted = Q()
    for word in matches.ascii_words:
        wanted &= Q.create([(f"{column}__icontains", word) for column in COLUMNS], Q.OR)
    edited = models.Amendment.objects.exclude(text="").values("seq")
    return rows.filter(wanted | Q(id__in=edited))


class MindSearch:
    """The search over one mind. Each record it makes says its ``way`` to the mind, too."""

    def __init__(self, services: Any, script: Any, matches: WordMatch, reader: Reader) -> None:
        self._services, self._script, self._matches = services, script, matches
        self._reader, self._mind = reader, script.mind
        self._character = script.character

    def may_see(self, record: Record) -> bool:
        kind = PRIVATE_WORDS if record.get("kind") == LINE else PRIVATE_MEMORIES
        return is_known_to(record, None) or self._reader.may(kind)

    def lines(self, seqs: Iterable[int]) -> Iterator[Record]:
        """Yield lines of the log that it can recall, as they are shown now."""
        name = self._mind.who.name
        for message in self._script.conversation.lines.read(seqs):
            record = read_line(message, name)
            if record and self._matches(f"{record['speaker_name']} {record['words']}"):
                way = "said" if record["own"] else "heard"
                yield {**record, "way": way, "from": record["speaker_name"]}

    def events(self) -> Iterator[Record]:
        """Yield what it heard and has not taken up yet."""
        rows = models.Event.objects.filter(
            assistant_id=self._script.id, state__in=(WAITING, OVERHEARD), turn=None
        )
        for row in rows.order_by("id"):
            if self._matches(f"{row.speaker_name} {row.text}"):
                audience = sorted(row.audience) if row.private and not row.repeatable else None
                yield made("heard", f"event:{row.id}", row.text, row.at, row.speaker_name, audience)

    def summaries(self) -> Iterator[Record]:
        rows = models.Compaction.objects.filter(assistant_id=self._script.id, undone_at=None)
        row = rows.exclude(summary={}).order_by("-id").first()
        for key, text in row.summary.items() if row else ():
            if lines := [line for line in str(text).splitlines() if self._matches(line)]:
                audience = part_audience(key)
                known = None if audience is None else sorted(audience)
                yield made("summary", f"summary:{row.id}", "; ".join(lines), row.at, "", known)

    def lore(self) -> Iterator[Record]:
        """Yield the lore that it knows, if only for some listeners, and its persona."""
        entries, labels = self._services.world.lore(self._character, frozenset())
        for entry in entries:
            quests = quests_of(entry)
            if self._matches(entry.searched) and not why_unknown(entry, labels.union(quests)):
                record = made("lore", f"lore:{entry.title}", entry.text, None, "builders", None)
                yield {**record, "to": " and ".join(f"who has {quest}" for quest in quests)}
        if self._matches(text := str(self._mind.who.persona)):
            yield made("persona", "persona", text, None, "builders", None)

    @inlineCallbacks
    def journal(self) -> Coroutine[list[Record]]:
        """Find journal entries, current values and observations, and goals."""
        found: list[Record] = []
        who, put = self._character, self._services.slices.put
        for way, store in (
            ("noted", who.journal),
            ("profile", who.ai_profiles),
            ("goal", who.ai_goals),
        ):
            yield store.load(put)

            def look(id: str, store: Any = store) -> Record | None:
                record = store.get(id)
                text = words_of(record) if record and not record.get("valid_to") else ""
                return record if text and self._matches(text) else None

            records = yield map_in_slices(put, store.ids(), look, piece=50)
            for record in filter(None, records):
                hidden = "nobody: a line behind it is hidden or edited" * store.withholds(record)
                found.append({**record, "way": way, "text": words_of(record), "to": hidden})
        return found

    @inlineCallbacks
    def of_sources(self) -> Coroutine[list[Record]]:
        """Find what others told it, in the sources that extensions add."""
        found: list[Record] = []
        for source in memory_sources(self._mind.around):
            yield source.prepare([self._matches.query])
            now = self._services.now()
            hits = source.search(self._matches.query, MOST_OF_SOURCE, None, now)
            for hit in hits:
                if self._matches(hit.record["content"]):
                    label = hit.record.get("label", "").removeprefix(", ").removesuffix(" told you")
                    found.append({**hit.record, "way": "told", "from": label})
        return found

    @inlineCallbacks
    def by_meaning(self, known: set[str]) -> Coroutine[list[Record]]:
        """Find the records that are nearest in meaning, without those found by words."""
        memories, query = self._mind.memories(), self._matches.query
        yield memories.prepare(self._services, [query])

        def keep(record: Record) -> bool:
            return record["id"] not in known and self.may_see(record)

        now = self._services.now()
        hits = memories.search(query, MOST_NEAR, None, now, keep, everything=True)
        return [
            {**hit.record, "near": True, "way": (hit.record.get("label") and "told") or "noted"}
            for hit in hits
            if NEAR <= hit.fit <= 1.0
        ]

    def holding(self, record: Record) -> Holding:
        audience, names = record["audience"], names_in(record)
        private = audience is not None
        me = self._character.dbref
        self._reader.count(PRIVATE_MEMORIES, private)
        only = named([who for who in audience or () if who != me], names)
        tell = record.get("to") or (f"only {only}: told in private" if private else "anybody")
        stamp = record.get("timestamp") or record.get("confirmed_at")
        return Holding(
            record["id"],
            record["way"],
            record["from"] if "from" in record else whose_word(record, names).removeprefix("from "),
            time_of(record) if stamp or record.get("said_at") else None,
            tell,
            one_line(record.get("words") or record.get("text") or words_of(record)),
            private,
            bool(record.get("near")),
        )


def made(
    way: str, id: str, text: str, at: datetime | None, source: str, audience: list[str] | None
) -> Record:
    """Return what is no record as one."""
    times = {"timestamp": at.isoformat()} if at else {}
    origin = {"source_entity": "", "speakers": [], "from": source}
    return {"id": id, "way": way, "text": text, "audience": audience, **origin, **times}


def words_of(record: Record) -> str:
    """Return the words of a record of any kind, "" for a relationship."""
    if "value" in record:
        return f"{record['attribute']}: {record['value']}"
    return str(record.get("content") or "")

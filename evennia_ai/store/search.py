"""Pages of an assistant's messages in the database, filtered, without loading an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any

from django.db.models import Exists, OuterRef, Q
from evennia.objects.models import ObjectDB

from evennia_ai import models
from evennia_ai.policy.audience import people_among
from evennia_ai.policy.explanation.call_record import lock_sentence, read_locks
from evennia_ai.policy.facts.terms import normal_words, words_of_calls
from evennia_ai.policy.log_lines import LogFilter
from evennia_ai.policy.records.memory_listing import Names, named
from evennia_ai.policy.records.provenance import Record, people_in
from evennia_ai.policy.retrieval.words import WORD, beginnings
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import numbers_of
from evennia_ai.store.erase import pages
from evennia_ai.store.inbox import DOUBTFUL, EXPIRED, OVERHEARD, WAITING
from evennia_ai.store.reports import Page, having, paged, rows_of
from evennia_ai.store.rows import message_from_row
from evennia_ai.store.usage import DAY, Use, uses_by

MOST_WORDS = 12
WORDS_IN = ("content", "tool_calls")  # columns of a message
UNLOGGED = (WAITING, DOUBTFUL, OVERHEARD, EXPIRED)
MOST_EVENTS = 100  # of a page
LEAST_WORDS, SAME_SHARE = 2, 0.5  # of a line that another one repeats
LINES_SEARCHED = 500
FIELDS = (
    *("at", "role", "content", "tool_calls", "speaker", "speaker_name"),
    *("audience", "private", "tokens", "turn_id"),
)


def message_page(
    assistant_id: int, wanted: LogFilter, player: str, with_private: bool, size: int
) -> Page:
    """Return a page of messages as dicts; ``player`` is the dbref of whom they must concern."""
    rows = matching(assistant_id, wanted, player, with_private).values()
    page = paged(rows, wanted.page, size)
    while page.rows and page.rows[0]["role"] == "tool":  # a result stands below its call
        earlier = rows.filter(id__lt=page.rows[0]["id"]).order_by("-id").first()
        if earlier is None:
            break
        page.rows.insert(0, earlier)
    return page


def all_messages(
    assistant_id: int, wanted: LogFilter, player: str, with_private: bool
) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages as dicts, oldest first, in steps of a few ms; some are empty."""
    for page in pages(matching(assistant_id, wanted, player, with_private), *FIELDS):
        yield [dict(zip(("id", *FIELDS), row, strict=True)) for row in page]


def matching(assistant_id: int, wanted: LogFilter, player: str, with_private: bool) -> Any:
    """Return the rows that a filter wants, as a queryset.

    Every word counts, and parts of words match. Common words are ignored if there are others. A
    filter by words or by a player finds no private messages unless ``with_private``: that they
    exist would tell something.
    """
    rows = in_time(rows_of(models.Message, assistant_id), wanted)
    if player:
        heard = ~Q(role="user") & Q(audience__icontains=f'"{player}"')
        rows = rows.filter(Q(speaker=player) | heard)
    if wanted.search:
        rows = rows_with(rows.exclude(role="tool"), wanted.search, *WORDS_IN)
    return rows if with_private or not (player or wanted.search) else rows.filter(private=False)


def repeats_of(assistant_id: int, seq: int, with_private: bool) -> list[int]:
    """Return the character's next lines that hold most words of a line; none for a short line."""
    rows = rows_of(models.Message, assistant_id)
    rows = rows if with_private else rows.filter(private=False)
    line = rows.filter(id=seq).first()
    wanted = frozenset(words_in(line)) if line else frozenset()
    if len(wanted) < LEAST_WORDS:
        return []
    later = rows.filter(role="assistant", id__gt=seq).order_by("id")[:LINES_SEARCHED]
    return [row.id for row in later if len(wanted & words_in(row)) >= SAME_SHARE * len(wanted)]


def words_in(row: models.Message) -> frozenset[str]:
    """Return the stems of what was said in a message, without who said it."""
    message = message_from_row(row)
    said = message["content"].removeprefix(f"{row.speaker_name} ")
    return frozenset(normal_words(" ".join([said, *words_of_calls(message)])))


def events_beside(
    page: Page, assistant_id: int, wanted: LogFilter, player: str, with_private: bool
) -> list[dict[str, Any]]:
    """Return the events from the time of a page of messages that are no messages, oldest first.

    They wait, were only overheard until now, or expired. At most the newest `MOST_EVENTS`.
    """
    logged = Q(turn__isnull=False, state__in=(OVERHEARD, EXPIRED))
    rows = rows_of(models.Event, assistant_id).filter(state__in=UNLOGGED).exclude(logged)
    rows = in_time(rows, wanted)
    if page.newer:
        rows = rows.filter(at__lt=page.newer["at"])
    if page.number < page.pages:
        rows = rows.filter(at__gte=page.rows[0]["at"])
    if player:
        rows = rows.filter(speaker=player)
    if wanted.search:
        rows = rows_with(rows, wanted.search, "text", "speaker_name")
    if not with_private and (player or wanted.search):
        rows = rows.filter(private=False)
    # By time: by id, SQLite would read all events of the assistant.
    return list(rows.order_by("-at").values()[:MOST_EVENTS])[::-1]


def in_time(rows: Any, wanted: LogFilter) -> Any:
    """Return the rows of a queryset from the time that a filter wants."""
    if wanted.since:
        rows = rows.filter(at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(at__lt=wanted.until)
    return rows


def rows_with(rows: Any, words: str, *columns: str) -> Any:
    """Return the rows of a queryset that hold each of some words in one of the columns."""
    wanted = beginnings(words)[:MOST_WORDS] or WORD.findall(words.lower())[:MOST_WORDS]
    for word in wanted:
        rows = rows.filter(Q.create([(f"{one}__icontains", word) for one in columns], Q.OR))
    return rows if wanted else rows.none()


def names_of(dbrefs: Iterable[str]) -> dict[str, str]:
    """Return the names of objects by dbref, without those that are deleted. One query."""
    rows = ObjectDB.objects.filter(id__in=numbers_of(people_among(dbrefs)))
    return {f"#{number}": key for number, key in rows.values_list("id", "db_key")}


def list_names(dbrefs: Sequence[str]) -> str:
    """Return the names of objects with commas; a deleted one keeps its number."""
    return named(dbrefs, names_of(dbrefs))


def locks_of(stored: str) -> list[str]:
    """Return the locks that a tool call asked, with their answers, as sentences. One query."""
    asked = read_locks(stored)
    names = names_of({who for one in asked for who in (one.of, *one.passed)})
    return [lock_sentence(one, names) for one in asked]


def names_in(*records: Record, besides: Iterable[str] = ()) -> Names:
    """Return the names of everybody in some records, by dbref. One query."""
    return names_of(frozenset(besides).union(*map(people_in, records)))


def dbrefs_named(name: str) -> list[str]:
    """Return the objects with a name, in upper or lower case, oldest first."""
    rows = ObjectDB.objects.filter(db_key__iexact=name).order_by("id")
    return [f"#{number}" for number in rows.values_list("id", flat=True)]


def speakers_named(name: str) -> frozenset[str]:
    """Return the dbrefs of all speakers with a name, in upper or lower case."""
    rows = models.Event.objects.filter(speaker_name__iexact=name).exclude(speaker="")
    return frozenset(rows.values_list("speaker", flat=True).distinct())


def speakers_among(dbrefs: Iterable[str]) -> frozenset[str]:
    """Return those of some dbrefs that have an event in the logs."""
    rows = models.Event.objects.filter(speaker__in=dbrefs)
    return frozenset(rows.values_list("speaker", flat=True).distinct())


def last_name_of(dbref: str) -> str:
    """Return the name in somebody's last event, empty if they have none."""
    names = models.Event.objects.filter(speaker=dbref).order_by("-id")
    return str(names.values_list("speaker_name", flat=True).first() or "")


RECENT_CALLS, NAME_CHARS, CHART_DAYS = 1_000, 60, 30
# A tool call is private unless the log of messages tells that it is public.
PUBLIC_RESULT = models.Message.objects.filter(
    turn_id=OuterRef("turn_id"), tool_call_id=OuterRef("call_id"), role="tool", private=False
)
PRIVATE_CALL = Q(turn__private=True) | ~Exists(PUBLIC_RESULT)
Row = dict[str, Any]


def assistant_rows(assistant: int | None = None) -> list[Row]:
    """Return all assistants by name, or the one with an id: id, name, dbref and place."""
    rows = having() if assistant is None else having().filter(id=assistant)
    columns = ("id", "db_obj_id", "db_obj__db_key", "db_obj__db_location__db_key")
    found = rows.order_by("db_obj__db_key", "id").values_list(*columns)
    return [
        {
            "id": id_,
            "dbref": f"#{number}",
            "name": clean_heard(name, NAME_CHARS),
            "place": clean_heard(place or "nowhere", NAME_CHARS),
        }
        for id_, number, name, place in found
    ]


def turns_wanted(
    assistant: int, with_private: bool, day: date | None, speakers: Sequence[str], words: str
) -> Any:
    """Return the turns of one assistant, as a queryset; an empty day, speakers or words select all.

    Without ``with_private``, private words decide nothing: a reader who may not see them must not
    find out by a filter who whispered what.
    """
    rows = rows_of(models.Turn, assistant)
    if day:
        ends = (datetime.combine(day, end, UTC) for end in (time.min, time.max))
        rows = rows.filter(at__range=tuple(ends))
    shown = {} if with_private else {"private": False}
    events = rows_of(models.Event, assistant).filter(turn__isnull=False, **shown)
    if speakers:
        rows = rows.filter(id__in=events.filter(speaker__in=speakers).values("turn_id"))
    if words:
        lines = rows_of(models.Message, assistant).filter(turn__isnull=False, **shown)
        said = rows_with(lines.exclude(role="tool"), words, "content", "tool_calls")
        heard = rows_with(events, words, "text")
        rows = rows.filter(Q(id__in=said.values("turn_id")) | Q(id__in=heard.values("turn_id")))
    return rows


def with_parts(turns: list[Row]) -> list[Row]:
    """Return turns with the rows of their events, model calls and tool calls. Three queries."""
    by_id: dict[int, Row] = {
        turn["id"]: {**turn, "events": [], "model_calls": [], "tool_calls": []} for turn in turns
    }
    tool_calls = models.ToolCall.objects.annotate(private=PRIVATE_CALL)
    parts = {"events": models.Event.objects, "model_calls": models.ModelCall.objects}
    for name, rows in {**parts, "tool_calls": tool_calls}.items():
        for row in rows.filter(turn_id__in=list(by_id)).order_by("id").values():
            by_id[row["turn_id"]][name].append(row)
    return list(by_id.values())


def lines_after(assistant: int, seq: int, most: int) -> list[Row]:
    """Return the newest messages after a number, oldest first. One query by an index."""
    rows = rows_of(models.Message, assistant).filter(id__gt=seq)
    return list(rows.order_by("-id").values()[:most])[::-1]


def use_by_day(today: date, **of: int) -> list[Row]:
    """Return turns, calls and tokens of each of the last `CHART_DAYS`, oldest first, by UTC days.

    They are those of all assistants, or of ``assistant_id``. A query for each day.
    """
    days = [today - timedelta(days=ago) for ago in reversed(range(CHART_DAYS))]
    uses, turns = uses_by(days[0], today, DAY, **of), models.Turn.objects.filter(**of)
    found = []
    for day in days:
        at, use = datetime.combine(day, time.min, UTC), uses.get((day,), Use())
        number = turns.filter(at__gte=at, at__lt=at + timedelta(days=1)).count()
        row = {"day": day.isoformat(), "turns": number, "calls": use.calls, "tokens": use.tokens}
        found.append(row)
    return found


def latencies() -> dict[int, int]:
    """Return the median milliseconds of the game's last model calls, by the assistant's id."""
    rows = models.ModelCall.objects.filter(error="").order_by("-id")
    found: defaultdict[int, list[int]] = defaultdict(list)
    for assistant, duration in rows.values_list("assistant_id", "duration_ms")[:RECENT_CALLS]:
        found[assistant].append(duration)
    return {assistant: round(median(times)) for assistant, times in found.items()}

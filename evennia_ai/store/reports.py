"""Reading and searching the logs for staff, and figures of all assistants."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q

from evennia_ai import models
from evennia_ai.messages import EXCUSE
from evennia_ai.policy.compaction.summary import prefix_hash
from evennia_ai.policy.recallable_lines import LogFilter, amend
from evennia_ai.policy.retrieval.words import UNSPACED, WORD, beginnings
from evennia_ai.policy.sleep_schedule import ASLEEP
from evennia_ai.store.attributes import assistants
from evennia_ai.store.inbox import CLAIMED, DOUBTFUL, EXPIRED, OVERHEARD, WAITING
from evennia_ai.store.lines import amended_at
from evennia_ai.store.rows import message_from_row, pages, rows_of

ANSWER = "tick_event"  # the context of a turn that answers somebody
# A tool call is private unless the log of messages tells that it is public.
PUBLIC_RESULT = models.Message.objects.filter(
    turn_id=OuterRef("turn_id"), tool_call_id=OuterRef("call_id"), role="tool", private=False
)
PRIVATE_CALL = Q(turn__private=True) | ~Exists(PUBLIC_RESULT)
Row = dict[str, Any]


@dataclass(frozen=True)
class RowPage:
    """One page of rows; page 1 has the newest rows. ``newer`` is the next row."""

    number: int
    pages: int
    rows: list[Any]
    asked: int = 0  # the page that was wanted, if that is older than the last
    newer: Any = None
    newest_first: bool = False  # the order of the rows in the page


def paged(rows: Any, number: int, size: int) -> RowPage:
    """Return one page of a queryset, oldest first; the last page if the number is too high."""
    rows = rows.order_by("-id")
    pages = max(1, -(-rows.count() // size))
    wanted_page, number = number, min(max(1, number), pages)
    start = (number - 1) * size
    page_rows = list(rows[max(0, start - 1) : start + size])[::-1]
    newer = page_rows[-1] if start else None
    return RowPage(number, pages, page_rows[: len(page_rows) - bool(start)], wanted_page, newer)


def log_page(table: str, assistant_id: int, number: int, size: int) -> RowPage:
    """Return a page of an assistant's rows in the table of a model, such as Message, as dicts."""
    return paged(rows_of(getattr(models, table), assistant_id).values(), number, size)


def messages_by_seq(assistant_id: int, seqs: Iterable[int], most: int) -> list[dict[str, Any]]:
    """Return the first ``most`` messages with these numbers as dicts, oldest first."""
    rows = rows_of(models.Message, assistant_id).filter(id__in=sorted(seqs)[:most])
    return list(rows.order_by("id").values())


def turns_of_messages(assistant_id: int, seqs: Iterable[int]) -> dict[int, int | None]:
    """Return the turn of each message by its number, without deleted messages."""
    rows = rows_of(models.Message, assistant_id).filter(id__in=list(seqs))
    return dict(rows.values_list("id", "turn_id"))


def turn_page(assistant_id: int, number: int, size: int, only: int | None = None) -> RowPage:
    """Return turns, or ``only`` the one of a number, with their events and calls."""
    rows = rows_of(models.Turn, assistant_id).filter(**({"id": only} if only else {}))
    return paged(rows.prefetch_related("events", "model_calls", "tool_calls"), number, size)


def is_whispered(turn_id: int | None) -> bool:
    """Return True if the answer of a turn was whispered, also if its tool is ``say``."""
    return bool(models.Turn.objects.filter(id=turn_id, private=True).exists())


def is_erased(context: str, audience: Sequence[str]) -> bool:
    """Return True for an answer whose player was forgotten: any other has an audience."""
    return context == ANSWER and not audience


def public_calls(turn_ids: Iterable[int]) -> frozenset[tuple[int, str]]:
    """Return the tool calls of some turns that are logged as public, as (turn, id of the call)."""
    rows = models.Message.objects.filter(turn_id__in=list(turn_ids), role="tool", private=False)
    return frozenset(rows.values_list("turn_id", "tool_call_id"))


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


def find_row(table: str, assistant_id: int, number: int) -> dict[str, Any] | None:
    """Return one row of an assistant as a dict, None if it does not exist; as for `log_page`."""
    rows = rows_of(getattr(models, table), assistant_id).filter(id=number)
    return next(iter(rows.values()), None)


def is_log_unchanged(compaction: Mapping[str, Any]) -> bool | None:
    """Return True if a compaction's messages are unchanged, None if it has no hash of them."""
    if not compaction["prefix_hash"]:
        return None
    rows = rows_of(models.Message, compaction["assistant_id"]).filter(
        id__gte=compaction["from_seq"], id__lte=compaction["upto_seq"]
    )
    stored = (message_from_row(row) for row in rows.exclude(role=EXCUSE).order_by("id"))
    shown = amend(stored, amended_at(compaction["assistant_id"], compaction["at"]))
    current = ((m["metadata"]["seq"], m["role"], m["content"]) for m in shown)
    return prefix_hash(current) == str(compaction["prefix_hash"])


def waiting_events(assistant_id: int) -> list[dict[str, Any]]:
    """Return the unanswered events as dicts, oldest first."""
    rows = rows_of(models.Event, assistant_id).filter(state__in=(WAITING, DOUBTFUL))
    return list(rows.order_by("id").values())


def unanswered(**of: Any) -> Any:
    """Return the events of all assistants, or of some, that expired, as a queryset."""
    return models.Event.objects.filter(state=EXPIRED, **of)


def unanswered_since(start: datetime) -> tuple[int, models.Event | None]:
    """Return how many events expired since a time, and the newest; none that an answer followed."""
    of_same = {"assistant": OuterRef("assistant"), "speaker": OuterRef("speaker")}
    later = models.Event.objects.filter(**of_same, state="answered", id__gt=OuterRef("id"))
    rows = unanswered(at__gte=start).exclude(Exists(later)).order_by("at")
    return rows.count(), rows.last()


def queue_lengths() -> dict[int, int]:
    """Return the number of unanswered events by assistant id."""
    rows = models.Event.objects.filter(state__in=(WAITING, CLAIMED, DOUBTFUL))
    return dict(rows.values_list("assistant_id").annotate(Count("id")))


def ids_by_mode(all_stopped: bool) -> dict[str, frozenset[int]]:
    """Return who is stopped and who sleeps, by Attributes, which `aistop all` leaves alone."""
    of = assistants() if all_stopped else assistants(stopped=True)
    stopped = frozenset(of.values_list("id", flat=True))
    asleep = frozenset(assistants(operating_mode=ASLEEP).values_list("id", flat=True))
    return {"stopped": stopped, "asleep": asleep - stopped}


def count_by_mode(all_stopped: bool) -> dict[str, int]:
    """Return how many assistants are awake, asleep and stopped."""
    counts = {mode: len(ids) for mode, ids in ids_by_mode(all_stopped).items()}
    return {"awake": assistants().count() - sum(counts.values()), **counts}


def last_passes() -> dict[int, dict[str, Any]]:
    """Return each assistant's last sleep pass as a dict, by the assistant's id."""
    return {row["assistant_id"]: row for row in newest_rows(models.SleepPass).values()}


def newest_rows(model: Any) -> Any:
    """Return the newest row of each assistant in one table, as a queryset."""
    newest = model.objects.values("assistant_id").annotate(newest=Max("id"))
    return model.objects.filter(id__in=[row["newest"] for row in newest])


def last_prompt_tokens() -> dict[int, int]:
    """Return the tokens of each assistant's last prompt: reported if any, else estimated."""
    columns = ("assistant_id", "prompt_tokens", "estimated_tokens")
    rows = newest_rows(models.ModelCall).values_list(*columns)
    return {row[0]: row[1] or row[2] for row in rows}


def last_error() -> dict[int, tuple[str, str]]:
    """Return the kind and text of the error of each assistant's last model call, if that failed."""
    rows = newest_rows(models.ModelCall).exclude(error="")
    return {row.assistant_id: (row.error_kind, row.error) for row in rows}


def seconds_between(start: datetime, end: datetime | None) -> float:
    """Return the seconds from one time to another, 0 while there is no end."""
    return (end - start).total_seconds() if end else 0.0


MOST_WORDS = 12
PARTS = re.compile(r"\*([^\W_]+)\*?")  # "*hat" also finds "what"
WORDS_IN = ("content", "tool_calls")  # columns of a message
UNLOGGED = (WAITING, DOUBTFUL, OVERHEARD, EXPIRED)
MOST_EVENTS = 100  # of a page
FIELDS = (
    *("at", "role", "content", "tool_calls", "speaker", "speaker_name"),
    *("audience", "private", "tokens", "turn_id"),
)


def message_page(
    assistant_id: int, wanted: LogFilter, player: str, with_private: bool, size: int
) -> RowPage:
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

    Every word counts, with other endings; common ones are ignored if there are others. By
    words or a player it finds private messages only ``with_private``: that they exist tells a lot.
    """
    rows = in_time(rows_of(models.Message, assistant_id), wanted)
    if player:
        is_heard = ~Q(role="user") & Q(audience__icontains=f'"{player}"')
        rows = rows.filter(Q(speaker=player) | is_heard)
    if wanted.search:
        rows = rows_with(rows.exclude(role="tool"), wanted.search, *WORDS_IN)
    return rows if with_private or not (player or wanted.search) else rows.filter(private=False)


def events_beside(
    page: RowPage, assistant_id: int, wanted: LogFilter, player: str, with_private: bool
) -> list[dict[str, Any]]:
    """Return the newest events from the time of a page that are no messages, oldest first."""
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
    if wanted.since:
        rows = rows.filter(at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(at__lt=wanted.until)
    return rows


def rows_with(rows: Any, words: str, *columns: str) -> Any:
    """Return the rows of a queryset that hold each of some words in one of the columns.

    A word may have other endings. ``*`` before it finds it within words, too.
    """
    wanted = [(part, True) for part in PARTS.findall(words.lower())]
    whole = PARTS.sub(" ", words)
    wanted += [(part, False) for part in beginnings(whole) or WORD.findall(whole.lower())]
    for word, is_part in wanted[:MOST_WORDS]:
        rows = rows.filter(Q.create([(f"{column}__icontains", word) for column in columns], Q.OR))
        if not (is_part or UNSPACED.search(word)):
            # In JSON, a letter behind a backslash is a mark, such as a new line's.
            begins = rf"(^|\W|\\[nrt]){re.escape(word)}"
            any_column = [(f"{column}__iregex", begins) for column in columns]
            rows = rows.filter(Q.create(any_column, Q.OR))
    return rows if wanted else rows.none()

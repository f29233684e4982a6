"""Pages of an assistant's messages in the database, filtered, without loading an index."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from evennia_ai import models
from evennia_ai.policy.log_lines import LogFilter
from evennia_ai.policy.retrieval.words import WORD, beginnings
from evennia_ai.store.forget_words import pages
from evennia_ai.store.inbox import DOUBTFUL, EXPIRED, OVERHEARD, WAITING
from evennia_ai.store.reports import Page, paged
from evennia_ai.store.rows import rows_of

MOST_WORDS = 12
WORDS_IN = ("content", "tool_calls")  # columns of a message
UNLOGGED = (WAITING, DOUBTFUL, OVERHEARD, EXPIRED)
MOST_EVENTS = 100  # of a page
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

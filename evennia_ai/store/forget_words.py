"""The words of the people to forget, read from the tables in steps."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Max, Min, Q
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.messages import Audience
from evennia_ai.policy.facts.origin import SpokenWords
from evennia_ai.store.attributes import numbers_of
from evennia_ai.store.inbox import OVERHEARD, WAITING
from evennia_ai.store.rows import rows_of

PAGE = 100  # texts a step: 10 ms (measured)
WINDOW = 5_000  # ids a step, whether or not their rows are wanted: SQLite reads each
# Attributes with texts of builders, and of players about their own characters.
DESCRIBING = ("desc", "ai_persona", "ai_lore")


def pages(rows: Any, *fields: str) -> Iterator[list[Any]]:
    """Yield rows in pages by ascending id, as named tuples of the id and some fields.

    A page may be empty: a step looks at no more than `WINDOW` ids, however few rows are wanted.
    """
    last, by_id = 0, rows.order_by("id").values_list("id", *fields, named=True)
    while last < (rows.model.objects.aggregate(id=Max("id"))["id"] or 0):
        page = list(by_id.filter(id__gt=last, id__lte=last + WINDOW)[:PAGE])
        yield page
        last = page[-1].id if len(page) == PAGE else last + WINDOW


def learn_words(
    words: SpokenWords, people: Audience, characters: Iterable[str], assistant: int | None
) -> Iterator[int]:
    """Learn what people said to one or all assistants, without what others say as well.

    Yields 0 after each page. Others are the other players, builders with their texts and names, and
    the characters before they heard these people for the first time.
    """
    for rows, *fields in own_texts(people, assistant):
        for page in pages(rows, *fields):
            for _id, text, *name in page:
                words.add(without_name(str(text), *name))
            yield 0
    for rows, *fields in texts_of_others(people, [*people, *characters]):
        for page in pages(rows, *fields):
            for _id, *texts in page:
                words.take_out(" ".join(map(str, texts)))
            yield 0


def own_texts(people: Audience, assistant: int | None) -> Iterator[tuple[Any, ...]]:
    """Yield querysets, each with the field of a text of these people, and of the speaker's name."""
    theirs = Q(speaker__in=people)
    yield rows_of(models.Event, assistant).filter(theirs), "text"
    yield rows_of(models.Message, assistant).filter(theirs), "content", "speaker_name"
    yield describing().filter(objectdb__id__in=numbers_of(people)), "db_value"


def texts_of_others(people: Audience, not_others: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield querysets, each with the fields of texts of others."""
    theirs = models.Message.objects.filter(speaker__in=people)
    first = theirs.aggregate(id=Min("id"))["id"] or 0
    of_others = Q(role="user") & ~Q(speaker__in=not_others)
    yield models.Message.objects.filter(of_others | Q(id__lt=first)), "content"
    unlogged = models.Event.objects.filter(state__in=(WAITING, OVERHEARD))
    yield unlogged.exclude(speaker__in=not_others), "text"
    yield models.Event.objects.all(), "speaker_name"
    yield describing().exclude(objectdb__id__in=numbers_of(people)), "db_value"
    yield ObjectDB._base_manager.all(), "db_key"
    yield models.Lore.objects.all(), "title", "text"
    yield models.SharedPersona.objects.all(), "name", "fields"


def without_name(line: str, name: str = "") -> str:
    """Return a heard line without the speaker's name before it."""
    head, colon, said = line.partition(": ")
    return said if colon and name and head.startswith(name) else line


def describing() -> Any:
    """Return the describing Attributes of all objects, as a queryset."""
    return Attribute.objects.filter(db_key__in=DESCRIBING, db_model="objectdb")

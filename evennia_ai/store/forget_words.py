"""The words of the people to forget, read from the tables in steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Min, Q
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.messages import Audience
from evennia_ai.policy.facts.quotes import SpokenWords
from evennia_ai.store.attributes import SCRIPT_KEY

PAGE = 200
# Attributes with texts of builders, and of players about their own characters.
DESCRIBING = ("desc", "ai_persona", "ai_lore")


def pages(rows: Any, *fields: str) -> Iterator[list[Any]]:
    """Yield rows in pages by ascending id, as tuples of the id and some fields."""
    last = 0
    while page := list(rows.filter(id__gt=last).order_by("id").values_list("id", *fields)[:PAGE]):
        yield page
        last = page[-1][0]


def characters_by_assistant() -> dict[int, str]:
    """Return the dbref of each assistant's character."""
    rows = ScriptDB.objects.filter(db_key=SCRIPT_KEY).exclude(db_obj=None)
    return {id_: f"#{owner}" for id_, owner in rows.values_list("id", "db_obj_id")}


def learn_words(words: SpokenWords, people: Audience, characters: Iterable[str]) -> Iterator[None]:
    """Learn what people said, without what others say as well; a step for each page.

    Others are the other players, builders with their texts and names, and the characters before
    they heard these people for the first time.
    """
    theirs = Q(speaker__in=people)
    owners = [int(dbref.lstrip("#")) for dbref in people]
    for page in pages(models.Event.objects.filter(theirs), "text"):
        yield learn(words.add, page)
    for page in pages(models.Message.objects.filter(theirs), "content", "speaker_name"):
        yield learn(words.add, [(id_, without_name(line, name)) for id_, line, name in page])
    own = frozenset(describing().filter(id__in=attributes_of(owners)).values_list("id", flat=True))
    for page in pages(describing().filter(id__in=own), "db_value"):
        yield learn(words.add, page)
    first = models.Message.objects.filter(theirs).aggregate(id=Min("id"))["id"] or 0
    of_others = Q(role="user") & ~Q(speaker__in=[*people, *characters])
    for page in pages(models.Message.objects.filter(of_others | Q(id__lt=first)), "content"):
        yield learn(words.take_out, page)
    unlogged = models.Event.objects.exclude(speaker__in=[*people, *characters])
    for page in pages(unlogged, "text", "speaker_name"):
        yield learn(words.take_out, page)
    for page in pages(describing().exclude(id__in=own), "db_value"):
        yield learn(words.take_out, page)
    for page in pages(ObjectDB.objects.all(), "db_key"):
        yield learn(words.take_out, page)
    for rows, fields in (
        (models.Lore.objects.all(), ("title", "text")),
        (models.SharedPersona.objects.all(), ("name", "fields")),
    ):
        for page in pages(rows, *fields):
            yield learn(words.take_out, page)


def learn(take: Any, page: Iterable[tuple[Any, ...]]) -> None:
    """Pass every text of a page on, without the ids."""
    for _id, *texts in page:
        for text in texts:
            take(str(text))


def without_name(line: str, name: str) -> str:
    """Return a heard line without the speaker's name before it."""
    head, colon, said = line.partition(": ")
    return said if colon and name and head.startswith(name) else line


def describing() -> Any:
    """Return the describing Attributes of all objects, as a queryset."""
    return Attribute.objects.filter(db_key__in=DESCRIBING, db_model="objectdb")


def attributes_of(owners: Iterable[int]) -> Any:
    """Return the ids of all Attributes of some objects, as a queryset."""
    return ObjectDB.objects.filter(id__in=owners).values("db_attributes")

"""What the characters know of some people: counted, and in words for these people themselves.

Shown are what they said, what they were told, and public or own notes about them. What others told
in confidence, and what a builder wrote by hand, is only counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, Sum
from evennia.objects.models import ObjectDB

from evennia_ai import models
from evennia_ai.messages import NOOP, Audience
from evennia_ai.policy.compaction.summary import transcript_lines
from evennia_ai.policy.context.projection import PUBLIC, part_audience
from evennia_ai.policy.records.forgetting import is_builders
from evennia_ai.policy.records.provenance import Record, people_in, read_segment
from evennia_ai.store.attributes import assistants, attributes_of
from evennia_ai.store.names import names_of, own_name
from evennia_ai.store.rows import message_from_row
from evennia_ai.store.who_knows import KNOWLEDGE, PLACES, assistants_who_know

# The kinds of what is known, in the order in which they are shown.
KINDS = (
    "said", "answered", "memory", "profile", "goal", "plan", "summary", "shared", "built",
    "confided",
)  # fmt: skip
SAID, ANSWERED, _MEMORY, _PROFILE, _GOAL, _PLAN, SUMMARY, SHARED, BUILT, CONFIDED = KINDS

# A kind, and the text to show, "" for something that is only counted.
Items = Iterator[tuple[str, str]]


@dataclass
class KnownBy:
    """What one character knows: how much of each kind, and the texts that may be shown."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, items: Items) -> None:
        """Count items, and keep their texts."""
        for kind, text in items:
            self.counts[kind] += 1
            if text:
                self.texts.setdefault(kind, []).append(text)


def scripts_who_know(people: Audience) -> Any:
    """Return the assistants who know some people, as a queryset ordered by their characters."""
    ids = sorted({id_ for dbref in people for id_ in assistants_who_know(dbref)})
    return assistants().filter(id__in=ids).order_by("db_obj_id")


def known_of(people: Audience, assistant: int | None = None) -> Iterator[KnownBy]:
    """Yield what one or each character knows of some people, one character at a time."""
    scripts = scripts_who_know(people)
    for script in scripts if assistant is None else scripts.filter(id=assistant):
        known = KnownBy(own_name(script.db_obj))
        for place in PLACES:
            if place.shown:
                known.add(READERS[place.model](script.id, own_name(script.db_obj), people))
        for store in KNOWLEDGE:
            known.add(records(store, script.db_obj, people))
        yield known


def talk(assistant: int, name: str, people: Audience) -> Items:
    """Yield what they said near a character and what it answered."""
    turns = models.Turn.objects.filter(events__speaker__in=people).values("id")
    answers = Q(turn__in=turns) & ~Q(role="user")
    rows = models.Message.objects.filter(assistant_id=assistant).order_by("id")
    for row in rows.filter(Q(speaker__in=people) | answers):
        lines = transcript_lines([message_from_row(row)], name, with_results=False)
        told = "; ".join(line for line in lines if f" uses {NOOP} " not in line)
        kind = SAID if row.speaker in people else ANSWERED
        yield kind, f"{row.at:%Y-%m-%d %H:%M} {told}" if told else ""


def summaries(assistant: int, _name: str, people: Audience) -> Items:
    """Yield the parts of summaries with their words: their own, and public lines naming them."""
    names = [one.lower() for one in names_of(people).values()]
    rows = models.Compaction.objects.filter(assistant_id=assistant, undone_at=None)
    for row in rows.order_by("id"):
        for key, speakers in row.speakers.items():
            text = str(row.summary.get(key, ""))
            if people.isdisjoint(speakers):
                continue
            if key == PUBLIC:
                lines = (s for s in text.splitlines() if any(one in s.lower() for one in names))
                yield SUMMARY, "\n".join(lines)
            elif people.isdisjoint(part_audience(key) or ()):
                yield CONFIDED, ""
            else:
                yield SUMMARY, text


def told(assistant: int, _name: str, people: Audience) -> Items:
    """Yield what a character told others of them."""
    for row in models.SharedEntry.objects.filter(assistant_id=assistant).order_by("id"):
        if not people.isdisjoint(row.people.split()):
            yield SHARED, row.text


READERS: Mapping[Any, Callable[[int, str, Audience], Items]] = {
    models.Message: talk,
    models.Compaction: summaries,
    models.SharedEntry: told,
}


def records(store: Any, character: ObjectDB, people: Audience) -> Items:
    """Yield what a character wrote down in one kind of records, as far as it may be shown."""
    about = Q(pk__in=[])
    for dbref in people:
        about |= Q(db_strvalue__contains=f" {dbref} ")
    rows = attributes_of(character, store.kind).filter(about, db_key__regex=r"^\d+$")
    for key, value in rows.order_by("db_key").values_list("db_key", "db_value"):
        segment, _whole = read_segment(value, int(key), store.of(character).read)
        for record in segment.records.values():
            if people.isdisjoint(people_in(record)):
                continue
            if is_builders(record):
                yield BUILT, ""
            elif record["audience"] is not None and people.isdisjoint(record["audience"]):
                yield CONFIDED, ""
            else:
                yield KNOWLEDGE[store], words_of(record)


def words_of(record: Record) -> str:
    if "value" in record:
        return f"{record['attribute']}: {record['value']}"
    if "contacts" in record:
        return (
            f"conversations: {record['contacts']}, familiarity {record['familiarity']:.0%}, "
            f"liking {record['sentiment']:+.1f}"
        )
    return str(record["content"])


def tokens_used(people: Iterable[str]) -> tuple[int, int]:
    """Return on how many days answers to some people were counted, and their tokens."""
    rows = models.SpeakerUse.objects.filter(speaker__in=list(people), tokens__gt=0)
    sums = rows.aggregate(tokens=Sum("tokens"))
    return rows.values("day").distinct().count(), sums["tokens"] or 0

"""What the characters know of some people: counted, and in words for these people themselves.

Shown are what they said, what they were told, and public or own notes about them. What others told
in confidence, and what a builder wrote by hand, is only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, Sum
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB

from evennia_ai import models
from evennia_ai.messages import NOOP, Audience
from evennia_ai.policy.compaction.summary import transcript_lines
from evennia_ai.policy.context.projection import PUBLIC, part_audience
from evennia_ai.policy.records.forget_me import is_builders
from evennia_ai.policy.records.provenance import Record, people_in
from evennia_ai.policy.records.segments import read_segment
from evennia_ai.store.attributes import attributes_of, numbers_of
from evennia_ai.store.rows import message_from_row
from evennia_ai.store.who_knows import KNOWLEDGE, assistants_who_know

# The kinds of what is known, in the order in which they are shown.
KINDS = (
    "said", "answered", "memory", "profile", "goal", "plan", "summary", "shared", "built",
    "confided",
)  # fmt: skip
SAID, ANSWERED, WRITTEN, PROFILE, GOAL, PLAN, SUMMARY, SHARED, BUILT, CONFIDED = KINDS
KIND_OF = {"ai_profiles": PROFILE, "ai_goals": GOAL, "ai_plan": PLAN}


@dataclass
class KnownBy:
    """What one character knows: how much of each kind, and the texts that may be shown."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, text: str = "") -> None:
        """Add one item of a kind; without a text it is only counted."""
        self.counts[kind] += 1
        if text:
            self.texts.setdefault(kind, []).append(text)


def scripts_who_know(people: Audience) -> Any:
    """Return the assistants who know some people, as a queryset ordered by their characters."""
    ids = sorted({id_ for dbref in people for id_ in assistants_who_know(dbref)})
    return ScriptDB.objects.filter(id__in=ids).exclude(db_obj=None).order_by("db_obj_id")


def known_of(people: Audience, assistant: int | None = None) -> Iterator[KnownBy]:
    """Yield what one or each character knows of some people, one character at a time."""
    scripts = scripts_who_know(people)
    for script in scripts if assistant is None else scripts.filter(id=assistant):
        known = KnownBy(script.db_obj.key)
        add_talk(known, script.id, people)
        add_records(known, script.db_obj, people)
        add_summaries(known, script.id, people)
        add_shared(known, script.id, people)
        yield known


def add_talk(known: KnownBy, assistant_id: int, people: Audience) -> None:
    """Add what they said near a character and what it answered."""
    turns = models.Turn.objects.filter(events__speaker__in=people).values("id")
    answers = Q(turn__in=turns) & ~Q(role="user")
    rows = models.Message.objects.filter(assistant_id=assistant_id).order_by("id")
    for row in rows.filter(Q(speaker__in=people) | answers):
        lines = transcript_lines([message_from_row(row)], known.name, with_results=False)
        told = "; ".join(line for line in lines if f" uses {NOOP} " not in line)
        shown = f"{row.at:%Y-%m-%d %H:%M} {told}" if told else ""
        known.add(SAID if row.speaker in people else ANSWERED, shown)


def add_records(known: KnownBy, character: ObjectDB, people: Audience) -> None:
    """Add what a character wrote down."""
    for store in KNOWLEDGE:
        rows = attributes_of(character, store.kind).filter(about(people)).order_by("db_key")
        for key, value in rows.filter(db_key__regex=r"^\d+$").values_list("db_key", "db_value"):
            segment, _whole = read_segment(value, int(key), store.of(character).read)
            for record in segment.records.values():
                if not people.isdisjoint(people_in(record)):
                    add_record(known, KIND_OF.get(store.kind, WRITTEN), record, people)


def about(people: Iterable[str]) -> Q:
    """Return the condition for Attributes that concern some people."""
    found = Q(pk=None)
    for dbref in people:
        found |= Q(db_strvalue__contains=f" {dbref} ")
    return found


def add_record(known: KnownBy, kind: str, record: Record, people: Audience) -> None:
    """Add one record, as far as it may be shown."""
    if is_builders(record):
        known.add(BUILT)
    elif record["audience"] is not None and people.isdisjoint(record["audience"]):
        known.add(CONFIDED)
    else:
        known.add(kind, words_of(record))


def words_of(record: Record) -> str:
    """Return a record in words."""
    if "value" in record:
        return f"{record['attribute']}: {record['value']}"
    if "contacts" in record:
        return (
            f"conversations: {record['contacts']}, familiarity {record['familiarity']:.0%}, "
            f"liking {record['sentiment']:+.1f}"
        )
    return str(record["content"])


def add_summaries(known: KnownBy, assistant_id: int, people: Audience) -> None:
    """Add the parts of summaries with their words: their own ones, and public lines naming them."""
    named = ObjectDB.objects.filter(id__in=numbers_of(people))
    names = [name.lower() for name in named.values_list("db_key", flat=True)]
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, undone_at=None)
    for row in rows.order_by("id"):
        for key, speakers in row.speakers.items():
            if people.isdisjoint(speakers):
                continue
            text = str(row.summary.get(key, ""))
            if key != PUBLIC and people.isdisjoint(part_audience(key) or ()):
                known.add(CONFIDED)
                continue
            if key == PUBLIC:
                lines = text.splitlines()
                text = "\n".join(s for s in lines if any(name in s.lower() for name in names))
            known.add(SUMMARY, text)


def add_shared(known: KnownBy, assistant_id: int, people: Audience) -> None:
    """Add what a character told others of them."""
    for row in models.SharedEntry.objects.filter(assistant_id=assistant_id).order_by("id"):
        if any(f" {dbref} " in row.people for dbref in people):
            known.add(SHARED, row.text)


def tokens_used(people: Iterable[str]) -> tuple[int, int]:
    """Return on how many days answers to some people were counted, and their tokens."""
    rows = models.SpeakerUse.objects.filter(speaker__in=list(people), tokens__gt=0)
    sums = rows.aggregate(tokens=Sum("tokens"))
    return rows.values("day").distinct().count(), sums["tokens"] or 0

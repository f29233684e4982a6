"""Where the words of a person can stand, which characters know somebody, and what they know.

"Forget me", ``aboutme``, erasing an assistant and uninstalling the package walk `PLACES` and
`KNOWLEDGE`. A test compares them with the columns of all tables and the fields of all records.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery, Sum
from evennia.objects.models import ObjectDB

from evennia_ai import models
from evennia_ai.messages import NOOP, Audience, heard_line
from evennia_ai.policy.audience import audience_of, visible
from evennia_ai.policy.compaction.summary import transcript_lines
from evennia_ai.policy.context.projection import PUBLIC, part_audience
from evennia_ai.policy.facts.terms import whispered_to
from evennia_ai.policy.records.forgetting import FORGOTTEN, ToForget, is_builders
from evennia_ai.policy.records.record import Record, people_in, read_segment
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports.goal_records import DayPlan, Goals
from evennia_ai.ports.journal import Journal, JournalArchive
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.store.attributes import assistants, attributes_of, rows_about, stored_columns
from evennia_ai.store.names import names_of, own_name
from evennia_ai.store.rows import message_from_row, rows_of

# The records of a character. The journal comes before what is made of it. "Forget me" searches
# every text of a record (`policy.records.forgetting`), and ``aboutme`` shows it as this kind.
KNOWLEDGE = {
    Journal: "memory",
    JournalArchive: "memory",
    EntityProfiles: "profile",
    Goals: "goal",
    DayPlan: "plan",
}
STORES = {store.kind: store for store in KNOWLEDGE}

DBREF = re.compile(r"#\d+")


class ErasureRule(Enum):
    """What "forget me" does with a row of theirs."""

    FOLLOWED = "found with what answers and repeats it, and deleted in a safe order"  # forget_rows
    REWRITTEN = "written anew from the lines that are left"  # forget
    DELETED = "deleted"
    EMPTIED = "its columns are emptied"
    CUT = "they are taken out of the people whom a column names"
    CUT_LAST = "the same, once all that is found by the column is gone"
    STAYS = "nothing"


@dataclass(frozen=True)
class PersonalColumn:
    """Columns of a table that belong together, and the law for them.

    A row is theirs if a column of ``named`` names them (a dbref, a list, or text with dbrefs), if
    one of ``words`` repeats their words, if its ``turn`` answers them, or, where ``turn`` is
    "assistant_id", if the assistant heard them.
    """

    model: Any
    law: ErasureRule
    named: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    turn: str = ""
    also: tuple[str, ...] = ()  # emptied or deleted with them, but not searched
    by_one: bool = True  # False: only if all characters forget them
    alone: bool = False  # True: a row that names others, too, is not theirs
    shown: bool = False  # to whom it names, by ``aboutme``

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that tell whether a row is theirs, besides its id."""
        turn = () if self.turn in ("", "id") else (self.turn,)
        return (*self.named, *self.words, *turn)

    @property
    def emptied(self) -> dict[str, Any]:
        """What `ErasureRule.EMPTIED` stores, by column."""
        return {name: self.empty(name) for name in (*self.named, *self.words, *self.also)}

    def suspects(self, people: Iterable[str], assistant: int | None) -> Any:
        """Return the rows that may be theirs, as a queryset: a superset, found by a query."""
        rows = rows_of(self.model, assistant)
        if self.model is models.CallRecord:
            turns = models.ModelCall.objects.filter(id=OuterRef("id")).values("turn_id")
            rows = rows.annotate(turn_of=Subquery(turns))
        wanted = Q(pk__in=[])
        for name in self.named:
            for dbref in people:
                wanted |= Q(**{f"{name}__icontains": dbref})
        for name in (*self.words, *self.also):
            wanted |= ~Q(**{name: self.empty(name)})
        return rows.filter(wanted)

    def empty(self, name: str) -> Any:
        return self.model._meta.get_field(name).get_default()


# Each table stands before those that it refers to, so that an assistant's rows can be erased in
# this order. The columns that are not named here hold no words; the test lists them.
PLACES = (
    PersonalColumn(
        models.CallRecord, ErasureRule.EMPTIED, ("people",), (), "turn_of", also=("packed",)
    ),
    PersonalColumn(
        models.Message,
        ErasureRule.FOLLOWED,
        ("speaker",),
        ("content", "tool_calls"),
        also=("speaker_name", "consulted"),
        shown=True,
    ),
    PersonalColumn(models.Message, ErasureRule.CUT, ("authors",)),
    PersonalColumn(models.ToolCall, ErasureRule.FOLLOWED, (), ("arguments", "result"), "turn_id"),
    PersonalColumn(models.ToolCall, ErasureRule.EMPTIED, ("locks",)),
    PersonalColumn(models.ModelCall, ErasureRule.EMPTIED, (), ("error",), "turn_id"),
    PersonalColumn(
        models.Event, ErasureRule.FOLLOWED, ("speaker",), ("text",), also=("speaker_name",)
    ),
    PersonalColumn(models.Event, ErasureRule.CUT, ("authors",)),
    PersonalColumn(models.Event, ErasureRule.EMPTIED, (), ("reason",)),
    PersonalColumn(models.Turn, ErasureRule.CUT, ("audience",), (), "id"),
    PersonalColumn(models.Turn, ErasureRule.CUT_LAST, ("askers",)),
    PersonalColumn(models.Turn, ErasureRule.EMPTIED, (), ("detail", "comment"), "id"),
    PersonalColumn(
        models.Compaction, ErasureRule.REWRITTEN, ("speakers",), ("summary",), shown=True
    ),
    PersonalColumn(models.SleepPass, ErasureRule.EMPTIED, (), ("errors",), "assistant_id"),
    PersonalColumn(models.DailyUse, ErasureRule.STAYS),
    PersonalColumn(
        models.PendingAct, ErasureRule.DELETED, ("speakers",), ("arguments", "result"), alone=True
    ),
    PersonalColumn(models.PendingAct, ErasureRule.CUT, ("speakers",)),
    PersonalColumn(models.PendingAct, ErasureRule.CUT, ("authors",)),
    PersonalColumn(models.SharedEntry, ErasureRule.DELETED, ("source",), ("text",), shown=True),
    PersonalColumn(models.SharedEntry, ErasureRule.DELETED, ("people",), alone=True),
    PersonalColumn(models.SharedEntry, ErasureRule.CUT, ("people",)),
    PersonalColumn(models.SharedEntry, ErasureRule.CUT, ("speakers",)),
    PersonalColumn(
        models.Report,
        ErasureRule.DELETED,
        ("reporter",),
        ("reason",),
        also=("reporter_name",),
        by_one=False,
    ),
    # A builder's, with its message.
    PersonalColumn(models.Amendment, ErasureRule.STAYS, also=("text", "authors")),
    PersonalColumn(models.SpeakerUse, ErasureRule.STAYS, ("speaker",)),
    PersonalColumn(models.Lore, ErasureRule.STAYS, also=("title", "text", "keys", "authors")),
    PersonalColumn(models.SharedPersona, ErasureRule.STAYS, also=("name", "fields", "authors")),
    # Rules, personas and tools.
    PersonalColumn(models.PromptText, ErasureRule.STAYS, also=("text",)),
)
# Those that extensions of a game declared for their own tables.
ADDED: list[PersonalColumn] = []


def declare_columns(columns: Iterable[PersonalColumn]) -> None:
    """Let "forget me" and ``aboutme`` reach columns of an extension's tables, too."""
    for column in columns:
        has_assistant = any(item.name == "assistant" for item in column.model._meta.fields)
        known = column if has_assistant else replace(column, by_one=False)
        if known not in ADDED:
            ADDED.append(known)


# The tables with rows of one assistant, in that order.
LOGS = tuple(dict.fromkeys(place.model for place in PLACES if hasattr(place.model, "assistant")))


def asked_by(people: Audience) -> Q:
    """Return the condition of turns that answer some people."""
    turns = Q(pk__in=[])
    for dbref in people:
        turns |= Q(askers__contains=f" {dbref} ")
    return turns


def answered(people: Audience, assistant: int | None = None) -> Any:
    """Return the turns that answer some people, by one or all assistants, as a queryset."""
    others_lines = (
        models.Event.objects.filter(speaker__in=people).exclude(turn=None).values("turn_id")
    )
    logged = models.Message.objects.filter(speaker__in=people).exclude(turn=None).values("turn_id")
    turns = rows_of(models.Turn, assistant).filter(id__in=others_lines.union(logged))
    return turns.filter(asked_by(people))  # these few: a search in all turns would take long


def may_read(people: Audience, audience: Audience | None) -> bool:
    """Return True if one of some people may be shown a row with an audience, None for public."""
    return any(visible(audience, frozenset({dbref})) for dbref in people)


def is_about_only(named: object, people: Audience) -> bool:
    """Return True if a column names some people and nobody else."""
    numbers = frozenset(DBREF.findall(str(named))) - {FORGOTTEN}
    return bool(numbers) and numbers <= people


def count_traces(dbref: str, assistant: int | None = None) -> int:
    """Return how many messages of somebody, and answers to them, one or all logs have."""
    rows = rows_of(models.Message, assistant)
    # Two queries: for an OR of both, PostgreSQL reads the whole table.
    answers = (
        rows.filter(turn__in=answered(frozenset({dbref}), assistant).values("id"))
        .exclude(role="user")
        .exclude(speaker=dbref)
    )
    return int(rows.filter(speaker=dbref).count() + answers.count())


def assistants_who_know(dbref: str) -> list[int]:
    """Return the ids of the assistants whose logs or records concern somebody."""
    rows = models.Event.objects.filter(speaker=dbref).values_list("assistant_id", flat=True)
    who_know = ObjectDB._base_manager.filter(db_attributes__in=rows_about(dbref, STORES))
    knowing = assistants().filter(db_obj__in=who_know).values_list("id", flat=True)
    return sorted({*rows.distinct(), *knowing})


def is_known(dbref: str, assistant: int | None = None) -> bool:
    """Return True if the tables or the characters, or one of these, hold anything of somebody."""
    knowing = assistants_who_know(dbref)
    if assistant is not None:
        return assistant in knowing
    shared = models.SharedEntry.objects.filter(people__contains=f" {dbref} ")
    added = any(is_named for _column, is_named in added_rows(frozenset({dbref})))
    return bool(knowing or count_traces(dbref) or shared.exists() or reports_of([dbref]) or added)


def reports_of(people: Iterable[str]) -> list[int]:
    """Return the numbers of the reports that some people wrote."""
    rows = models.Report.objects.filter(reporter__in=list(people)).order_by("id")
    return list(rows.values_list("id", flat=True))


# For ``aboutme``. Shown are what they said, what they were told, and public or own notes about
# them. What others told in confidence, and what a builder wrote by hand, is only counted.
# The kinds of what is known, in the order in which they are shown:
KINDS = (
    "said", "answered", "memory", "profile", "goal", "plan", "summary", "shared", "built",
    "confided", "added",
)  # fmt: skip
SAID, ANSWERED, *_, SUMMARY, SHARED, BUILT, CONFIDED, OTHERS = KINDS

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
        lines = models.Message.objects.filter(assistant=script.id, speaker__in=people)
        own = frozenset(lines.values_list("id", flat=True))
        for store in KNOWLEDGE:
            known.add(records(store, script.db_obj, people, own))
        yield known
    others = KnownBy("The game")
    others.add((OTHERS, text) for column, text in added_rows(people) if column.shown)
    if others.counts and assistant is None:
        yield others


def added_rows(people: Audience) -> Iterator[tuple[PersonalColumn, str]]:
    """Yield the rows of extensions' tables that name some people: the column, and its words."""
    for column in ADDED:
        for row in column.suspects(people, None).order_by("id") if column.named else ():
            if not people.isdisjoint(DBREF.findall(str([getattr(row, n) for n in column.named]))):
                words = (str(getattr(row, name)) for name in column.words)
                yield column, "; ".join(words) or str(row)


def talk(assistant: int, name: str, people: Audience) -> Items:
    """Yield what they said near a character and what it answered, also what it did not take up."""
    answers = Q(turn__in=answered(people, assistant).values("id")) & ~Q(role="user")
    rows = models.Message.objects.filter(assistant_id=assistant).order_by("id")
    dated_lines: list[tuple[Any, str, str]] = []  # when, its kind, and the line
    for row in rows.filter(Q(speaker__in=people) | answers):
        message = message_from_row(row)
        if row.speaker not in people and not may_read(people, audience_of(message)):
            continue
        lines = transcript_lines([message], name, with_results=False)
        line = "; ".join(line for line in lines if f" uses {NOOP} " not in line)
        dated_lines.append((row.at, SAID if row.speaker in people else ANSWERED, line))
    logged = models.Message.objects.filter(event=OuterRef("pk"))
    events = models.Event.objects.filter(assistant_id=assistant, speaker__in=people)
    for event in events.filter(~Exists(logged)):
        line = heard_line(event.kind, event.speaker_name, one_line(event.text), event.evidence)
        dated_lines.append((event.at, SAID, line))
    # Those of one moment stay as logged.
    for at, kind, line in sorted(dated_lines, key=lambda dated: dated[0]):
        yield kind, f"{at:%Y-%m-%d %H:%M} {whispered_to(line, name)}" if line else ""


def summaries(assistant: int, _name: str, people: Audience) -> Items:
    """Yield the parts of summaries with their words: their own, and public lines naming them."""
    names = [name.lower() for name in names_of(people).values()]
    rows = models.Compaction.objects.filter(assistant_id=assistant, undone_at=None)
    for row in rows.order_by("id"):
        for key, speakers in row.speakers.items():
            text = str(row.summary.get(key, ""))
            if people.isdisjoint(speakers):
                continue
            if key == PUBLIC:
                lines = (s for s in text.splitlines() if any(name in s.lower() for name in names))
                yield SUMMARY, "\n".join(lines)
            elif may_read(people, part_audience(key)):
                yield SUMMARY, text
            else:
                yield CONFIDED, ""


def told(assistant: int, _name: str, people: Audience) -> Items:
    """Yield what a character told others of them."""
    for row in models.SharedEntry.objects.filter(assistant_id=assistant).order_by("id"):
        if row.source in people or is_about_only(row.people, people):
            yield SHARED, row.text


READERS: Mapping[Any, Callable[[int, str, Audience], Items]] = {
    models.Message: talk,
    models.Compaction: summaries,
    models.SharedEntry: told,
}


def records(store: Any, character: ObjectDB, people: Audience, own: Collection[int]) -> Items:
    """Yield what a character wrote down in one kind of records, as far as it may be shown.

    ``own`` are the messages of these people. What others caused is neither shown nor counted.
    """
    law = ToForget(people, own, lambda _text: False)
    about = Q(pk__in=[])
    for dbref in people:
        about |= Q(db_strvalue__contains=f" {dbref} ")
    rows = attributes_of(character, store.kind).filter(about, db_key__regex=r"^\d+$")
    columns = "db_key", "column", "db_strvalue"
    for key, column, text in stored_columns(rows).order_by("db_key").values_list(*columns):
        segment, _whole = read_segment(column, int(key), store.of(character).read, text)
        for record in segment.records.values():
            if people.isdisjoint(people_in(record)):
                continue
            audience = record["audience"]
            if is_builders(record):
                yield BUILT, ""
            elif not may_read(people, None if audience is None else frozenset(audience)):
                yield CONFIDED, ""
            elif law.is_theirs(record) or law.comes_from(record, ()):
                yield KNOWLEDGE[store], words_of(record)


def words_of(record: Record) -> str:
    if "value" in record:
        return f"{record['attribute']}: {record['value']}"
    if "contacts" in record:
        met, known, liked = (record[name] for name in ("contacts", "familiarity", "sentiment"))
        return f"conversations: {met}, familiarity {known:.0%}, liking {liked:+.1f}"
    return str(record["content"])


def tokens_used(people: Iterable[str]) -> tuple[int, int]:
    """Return on how many days answers to some people were counted, and their tokens."""
    rows = models.SpeakerUse.objects.filter(speaker__in=list(people), tokens__gt=0)
    sums = rows.aggregate(tokens=Sum("tokens"))
    return rows.values("day").distinct().count(), sums["tokens"] or 0

"""Which rows of the logs hold somebody's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q

from evennia_ai import models
from evennia_ai.messages import Audience
from evennia_ai.policy.facts.quotes import SpokenWords, without_json
from evennia_ai.policy.retrieval.words import WORD
from evennia_ai.store.backlog import PAUSES_S
from evennia_ai.store.forget_words import characters_by_assistant, learn_words, pages, rows_of

TURNS_AT_ONCE = 5
COPIED_SHARE = 0.8  # of the words of a copy stand in the answer
# A turn may be over before its last line is stored with those who overheard it.
STORED_WITHIN = timedelta(seconds=sum(PAUSES_S))

Pair = tuple[int | None, str]  # the turn and the call id of one tool call
Levels = dict[int, int]
# When rows go: what only its words give away first, own words last, and answers from the last that
# quotes another to the first.
BY_WORDS, OWN = 1_000_000, -1


@dataclass
class Traces:
    """The rows that hold the words of some people, by id, found in the steps of `find`.

    With an ``assistant`` only its rows are looked at, and only what it heard of them counts.

    ``turns`` are those that answer them, or that answer nothing but such an answer; ``copies`` are
    the events in which another character heard such an answer. ``named`` are messages that stay,
    but have these people among their authors.

    Turns and rows have a level: 0 for an answer to these people, 1 for an answer to that alone, and
    so on. Rows of a level are found by those below: if a run is broken off that deletes the highest
    level first, the next one finds what it left.
    """

    people: Audience
    assistant: int | None = None
    words: SpokenWords = field(default_factory=SpokenWords)
    characters: Mapping[int, str] = field(default_factory=characters_by_assistant)
    turns: Levels = field(default_factory=dict)
    copies: Levels = field(default_factory=dict)
    events: Levels = field(default_factory=dict)
    calls: Levels = field(default_factory=dict)
    messages: Levels = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    assistants: set[int] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)

    def rows(self, model: Any) -> Any:
        """Return the rows of a table that are looked at, as a queryset."""
        return rows_of(model, self.assistant)

    def find(self) -> Iterator[None]:
        """Find all rows; a step takes a few ms."""
        yield from learn_words(self.words, self.people, self.characters.values(), self.assistant)
        yield from self.find_own()
        yield from self.follow_answers()
        yield from self.find_calls()
        yield from self.find_messages()
        yield from self.find_events()
        self.complete_pairs()
        yield

    def find_own(self) -> Iterator[None]:
        """Find what they said, and the turns that answer it."""
        theirs = Q(speaker__in=self.people)
        for page in pages(self.rows(models.Event).filter(theirs), "assistant_id", "turn_id"):
            yield
            self.events |= {row[0]: OWN for row in page}
            self.assistants.update(row[1] for row in page)
            self.turns |= {row[2]: 0 for row in page if row[2]}
        for page in pages(self.rows(models.Message).filter(theirs), "assistant_id"):
            yield
            self.messages |= {row[0]: OWN for row in page}
            self.assistants.update(row[1] for row in page)

    def follow_answers(self) -> Iterator[None]:
        """Find who else heard the answers, and the turns that answered nothing but those."""
        waiting = sorted(self.turns)
        while waiting:
            some, waiting = waiting[:TURNS_AT_ONCE], waiting[TURNS_AT_ONCE:]
            yield
            rows = models.Turn.objects.filter(id__in=some)
            for turn in rows.values_list("id", "assistant_id", "at", "ended_at"):
                level = self.turns[turn[0]]
                heard = self.copies_of(*turn) - self.copies.keys()
                self.copies |= dict.fromkeys(heard, level)
                new = self.turns_on(heard) - self.turns.keys()
                self.turns |= dict.fromkeys(new, level + 1)
                waiting += sorted(new)

    def copies_of(
        self, turn_id: int, assistant_id: int, at: datetime, ended_at: datetime | None
    ) -> set[int]:
        """Return the events in which other characters heard what was said in a turn."""
        speaker = self.characters.get(assistant_id)
        if speaker is None:  # the character is gone
            return set()
        until = ended_at or datetime.now(UTC)
        heard = self.rows(models.Event).filter(
            speaker=speaker, at__gte=at, at__lte=until + STORED_WITHIN
        )
        found = list(heard.exclude(assistant_id=assistant_id).values_list("id", "text", "at"))
        if not found:
            return set()
        acts = models.ToolCall.objects.filter(turn_id=turn_id).values_list("arguments", flat=True)
        said = {word for text in acts for word in words_of(text)}
        return {
            id_
            for id_, text, stored_at in found
            if (share_in(words_of(text), said) if said else stored_at <= until)
        }

    def turns_on(self, heard: Iterable[int]) -> set[int]:
        """Return the turns that answered some events and no words of other players."""
        rows = models.Event.objects.filter(id__in=list(heard)).exclude(turn=None)
        turns = set(rows.values_list("turn_id", flat=True))
        own = [*self.people, *self.characters.values()]
        others = models.Event.objects.filter(turn__in=turns).exclude(speaker__in=own)
        return turns - set(others.values_list("turn_id", flat=True))

    def find_calls(self) -> Iterator[None]:
        """Find the tool calls of these turns, and those of others that hold their words."""
        for page in pages(self.rows(models.ToolCall), "turn_id", "call_id", "arguments", "result"):
            yield
            for id_, turn_id, call_id, arguments, result in page:
                if turn_id in self.turns:
                    self.calls[id_] = self.turns[turn_id]
                elif self.words.is_in(arguments) or self.words.is_in(result):
                    self.calls[id_] = BY_WORDS
                    self.pairs.add((turn_id, call_id))

    def find_messages(self) -> Iterator[None]:
        """Find the characters' lines, calls and results that hold their words."""
        rows = self.rows(models.Message).filter(
            ~Q(role="user") | Q(speaker__in=self.characters.values()) | Q(speaker="")
        )
        fields = (
            "assistant_id", "turn_id", "event_id", "speaker", "role", "content", "tool_calls",
            "tool_call_id", "audience", "private", "authors",
        )  # fmt: skip
        for page in pages(rows, *fields):
            yield
            for values in page:
                self.look_at(dict(zip(("id", *fields), values, strict=True)))

    def look_at(self, row: Mapping[str, Any]) -> None:
        """Note a message that goes, or that names these people as authors."""
        level = self.level_of(row)
        if level is not None:
            self.messages[row["id"]] = level
            self.assistants.add(row["assistant_id"])
            if row["event_id"] and row["role"] == "user":
                self.events[row["event_id"]] = level
            self.pairs.update((row["turn_id"], call_id) for call_id in call_ids(row))
        elif not self.people.isdisjoint(row["authors"].split()):
            self.named.add(row["id"])

    def level_of(self, row: Mapping[str, Any]) -> int | None:
        """Return the level of a message that goes, None for one that stays.

        It goes if it answers these people, is for them, or holds their words. If its authors are
        known and these people are not among them, it is not searched.
        """
        if row["event_id"] in self.copies:
            return self.copies[row["event_id"]]
        if row["role"] != "user" and row["turn_id"] in self.turns:
            return self.turns[row["turn_id"]]
        if row["private"] and not self.people.isdisjoint(row["audience"]):
            return BY_WORDS
        authors = row["authors"].split()
        if authors and row["role"] != "user" and self.people.isdisjoint(authors):
            return None
        texts = [row["content"], *(call["function"]["arguments"] for call in row["tool_calls"])]
        return BY_WORDS if any(map(self.words.is_in, texts)) else None

    def find_events(self) -> Iterator[None]:
        """Find what characters heard from each other that holds their words."""
        self.events = self.copies | self.events
        rows = self.rows(models.Event).filter(speaker__in=self.characters.values())
        for page in pages(rows, "text", "assistant_id"):
            yield
            for id_, text, assistant_id in page:
                if id_ in self.copies or self.words.is_in(text):
                    self.events.setdefault(id_, BY_WORDS)
                    self.assistants.add(assistant_id)

    def complete_pairs(self) -> None:
        """Add the other half of each tool call: the call, its result, and its row."""
        turns = [turn_id for turn_id, _call in self.pairs]
        rows = models.Message.objects.filter(turn_id__in=turns).exclude(role="user")
        for row in rows.values("id", "turn_id", "tool_calls", "tool_call_id"):
            if any((row["turn_id"], call_id) in self.pairs for call_id in call_ids(row)):
                self.messages.setdefault(row["id"], BY_WORDS)
        calls = models.ToolCall.objects.filter(turn_id__in=turns)
        for id_, *pair in calls.values_list("id", "turn_id", "call_id"):
            if tuple(pair) in self.pairs:
                self.calls.setdefault(id_, BY_WORDS)

    def by_level(self) -> Iterator[tuple[Any, list[int]]]:
        """Yield tables with the ids of rows that go, in the order in which they must go."""
        # A message leads to the event that it came from, this to the turn on it, and a call of that
        # turn to its copies.
        found = (
            (models.Message, self.messages),
            (models.Event, self.events),
            (models.ToolCall, self.calls),
        )
        levels = {level for _model, rows in found for level in rows.values()}
        for level in sorted(levels, reverse=True):
            for model, rows in found:
                yield model, [id_ for id_, at in rows.items() if at == level]


def call_ids(row: Mapping[str, Any]) -> list[str]:
    """Return the ids of the tool calls that a message makes or answers."""
    made = [str(call["id"]) for call in row["tool_calls"]]
    return [*made, row["tool_call_id"]] if row["tool_call_id"] else made


def words_of(text: str) -> list[str]:
    """Return the words of a text, or of the strings of a JSON text, in lower case."""
    return list(WORD.findall(without_json(text).lower()))


def share_in(words: list[str], said: set[str]) -> bool:
    """Return True if most of some words stand among others."""
    return sum(word in said for word in words) >= COPIED_SHARE * len(words)

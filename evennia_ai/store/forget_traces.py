"""Which rows of the talk hold somebody's words, or follow from them, and when each may go."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import Min, Q
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.messages import Audience
from evennia_ai.policy.facts.origin import SpokenWords, without_json
from evennia_ai.policy.records.forgetting import FORGOTTEN
from evennia_ai.policy.retrieval.words import WORD
from evennia_ai.store.attributes import assistants, numbers_of
from evennia_ai.store.inbox import OVERHEARD, WAITING
from evennia_ai.store.inbox_queue import PAUSES_S
from evennia_ai.store.personal_data import asked_by
from evennia_ai.store.rows import chunks, pages, rows_of

TURNS_AT_ONCE = 5
COPIED_SHARE = 0.8  # of the words of a copy stand in the answer
# A turn may be over before its last line is stored with those who overheard it.
STORED_WITHIN = timedelta(seconds=sum(PAUSES_S))
# When rows go: what only its words give away first, own words last, and answers from the last that
# quotes another to the first.
FOR_THEM, BY_WORDS, OWN = 1_000_001, 1_000_000, -1
# What decides on each kind of row.
CALL = ("call_id", "arguments", "result")
NOBODY: Audience = frozenset()
LINE = (
    "event_id", "role", "content", "tool_calls", "tool_call_id", "audience", "private", "authors",
)  # fmt: skip
EVENT = ("text", "audience", "private", "authors")


class PersonalTraces:
    """The rows that hold the words of some people, by id, found in the steps of `find`.

    With an ``assistant`` only its rows are looked at, and only what it heard of them counts.

    ``turns`` are those that answer them, or that answer nothing but such an answer; ``copies`` are
    the events in which another character heard such an answer. Turns and rows have a level: 0 for
    an answer to these people, 1 for an answer to that alone, and so on. Rows of a level are found
    by those below: if a run is broken off that deletes the highest level first, the next one finds
    what it left.
    """

    def __init__(self, people: Audience, assistant: int | None = None) -> None:
        self.people = people
        self.assistant = assistant
        # The dbref of each assistant's character.
        owners = assistants().values_list("id", "db_obj_id")
        self.characters = {id_: f"#{owner}" for id_, owner in owners}
        self.words = SpokenWords()
        self.assistants: set[int] = set()
        self.turns: dict[int, int] = {}
        self.copies: dict[int, int] = {}
        self.messages: dict[int, int] = {}
        self.calls: dict[int, int] = {}
        self.levels: dict[Any, dict[int, int]] = {
            models.Message: self.messages,
            models.Event: {},
            models.ToolCall: self.calls,
        }
        # What stays of rows that hold their words and are not theirs: columns with new values.
        self.hidden: dict[Any, dict[int, dict[str, Any]]] = {model: {} for model in self.levels}
        self._pairs: set[tuple[int | None, str]] = set()  # the turn and the id of a tool call
        self._authors: dict[tuple[int | None, str], Audience] = {}  # of tool calls

    def find(self) -> Iterator[int]:
        """Find all rows; yields 0 after each few ms. A second run adds what came meanwhile."""
        yield from learn_words(self.words, self.people, self.characters.values(), self.assistant)
        yield from self._find_own()
        yield from self._follow_answers()
        yield from self._search()
        self._complete_pairs()
        yield 0

    def rows(self, model: Any) -> Any:
        """Return the rows of a table that are looked at, as a queryset."""
        return rows_of(model, self.assistant)

    def by_level(self) -> Iterator[tuple[int, Any, list[int]]]:
        """Yield levels and tables with the ids of rows, in the order in which they must go."""
        # A message leads to the event that it came from, this to the turn on it, and a call of that
        # turn to its copies.
        levels = {level for rows in self.levels.values() for level in rows.values()}
        for level in sorted(levels, reverse=True):
            for model, rows in self.levels.items():
                yield level, model, [id_ for id_, at in rows.items() if at == level]

    def _find_own(self) -> Iterator[int]:
        """Find what they said, the turns that answer it, and those it set off unasked."""
        by_people = Q(speaker__in=self.people)
        for model in (models.Event, models.Message):
            for page in pages(self.rows(model).filter(by_people), "assistant_id", "turn_id"):
                yield 0
                self.levels[model].update({row.id: OWN for row in page})
                self.assistants.update(row.assistant_id for row in page)
        for page in pages(self.rows(models.Turn).filter(asked_by(self.people))):
            yield 0
            self.turns.update({row.id: 0 for row in page})
        for ids in chunks(self.levels[models.Event]):
            yield 0
            self.turns.update(dict.fromkeys(self._turns_on(ids, self.people), 0))

    def _follow_answers(self) -> Iterator[int]:
        """Find who else heard the answers, and the turns that answered nothing but those."""
        waiting = sorted(self.turns)
        while waiting:
            some, waiting = waiting[:TURNS_AT_ONCE], waiting[TURNS_AT_ONCE:]
            yield 0
            rows = models.Turn.objects.filter(id__in=some)
            for turn in rows.values_list("id", "assistant_id", "at", "ended_at"):
                level = self.turns[turn[0]]
                copies = self.copies_of(*turn) - self.copies.keys()
                self.copies |= dict.fromkeys(copies, level)
                own = self.people.union(self.characters.values())
                new = self._turns_on(copies, own) - self.turns.keys()
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
        events = self.rows(models.Event).filter(
            speaker=speaker, at__gte=at, at__lte=until + STORED_WITHIN
        )
        candidates = list(events.exclude(assistant_id=assistant_id).values_list("id", "text", "at"))
        if not candidates:
            return set()
        acts = models.ToolCall.objects.filter(turn_id=turn_id).values_list("arguments", flat=True)
        spoken_words = {word for text in acts for word in words_of(text)}
        return {
            id_
            for id_, text, stored_at in candidates
            if (share_in(words_of(text), spoken_words) if spoken_words else stored_at <= until)
        }

    def _turns_on(self, event_ids: Iterable[int], own: Audience) -> set[int]:
        """Return the turns that took up some events, and answer nobody but ``own`` people.

        A turn that nobody asked for is theirs if it took up words of nobody else.
        """
        rows = models.Event.objects.filter(id__in=list(event_ids)).exclude(turn=None)
        turns = models.Turn.objects.filter(id__in=rows.values("turn_id"))
        askers_of_turn = {id_: askers.split() for id_, askers in turns.values_list("id", "askers")}
        unasked = [id_ for id_, askers in askers_of_turn.items() if not askers]
        others = models.Event.objects.filter(turn__in=unasked).exclude(speaker__in=own)
        kept = set(others.values_list("turn_id", flat=True))
        return {id_ for id_, askers in askers_of_turn.items() if own.issuperset(askers)} - kept

    def _search(self) -> Iterator[int]:
        """Find the characters' calls, lines and events that answer them or hold their words."""
        no_player = Q(speaker__in=self.characters.values()) | Q(speaker="")
        lines = self.rows(models.Message).filter(~Q(role="user") | no_player)
        for rows, fields, level_of in (
            (lines, LINE, self._level_of_line),
            (self.rows(models.ToolCall), CALL, self._level_of_call),
            (self.rows(models.Event).filter(no_player), EVENT, self._level_of_event),
        ):
            for page in pages(rows, "assistant_id", "turn_id", *fields):
                yield 0
                of_others = self._turns_of_others(row.turn_id for row in page)
                for row in page:
                    level = level_of(row)
                    if level is None or (level == BY_WORDS and row.turn_id in of_others):
                        self._hide_in(rows.model, row)
                        continue
                    self._note(rows.model, row.id, level)
                    self.assistants.add(row.assistant_id)
                    if level >= BY_WORDS:
                        self._pairs.update((row.turn_id, call_id) for call_id in call_ids(row))

    def _turns_of_others(self, turns: Iterable[int | None]) -> set[int]:
        """Return those of some turns that answer another player."""
        own = {*self.people, *self.characters.values(), FORGOTTEN}
        rows = models.Turn.objects.filter(id__in={*turns} - {None}).values_list("id", "askers")
        return {id_ for id_, askers in rows if not own.issuperset(askers.split())}

    def _hide_in(self, model: Any, row: Any) -> None:
        """Note what a row is to hold instead, if it holds words of these people."""
        authors = self._authors_of(row)
        is_of_theirs = not self.people.isdisjoint(authors)
        hide = partial(self.words.without, and_names=is_of_theirs)
        hide_in_quotes = partial(self.words.without_in_quotes, and_names=is_of_theirs)
        new: dict[str, Any]
        if model is models.ToolCall:
            new = {"arguments": hide(row.arguments), "result": hide_in_quotes(row.result)}
        elif model is models.Event:
            new = {"text": hide(row.text)}
        else:
            calls = [
                {**self._without_sent(row, call), "function": {**made, "arguments": hidden}}
                for call in row.tool_calls
                for made in [call["function"]]
                for hidden in [hide(made["arguments"])]
            ]
            content = hide_in_quotes(row.content) if row.role == "tool" else hide(row.content)
            new = {"content": content, "tool_calls": calls}
        changed = {name: value for name, value in new.items() if value != getattr(row, name)}
        values = [getattr(row, name) for name in changed]
        if changed and self._may_come_from_them(row, authors, values):
            self.hidden[model][row.id] = changed
            self.assistants.add(row.assistant_id)

    def _without_sent(self, row: Any, call: dict[str, Any]) -> dict[str, Any]:
        """Return a call without the model's reasoning beside it, if that may tell of them."""
        authors = row.authors.split()
        is_theirs = not self.people.isdisjoint(authors) or self.words.is_in(str(call.get("sent")))
        return {name: call[name] for name in call if name != "sent" or not is_theirs}

    def _authors_of(self, row: Any) -> Audience:
        """Return the authors of a row, also as far as the lines of its calls name them."""
        pairs = [(row.turn_id, call_id) for call_id in call_ids(row)]
        known = [self._authors.get(pair, NOBODY) for pair in pairs]
        authors = frozenset(getattr(row, "authors", "").split()).union(*known)
        self._authors.update(dict.fromkeys(pairs, authors))
        return authors

    def _may_come_from_them(self, row: Any, authors: Audience, values: Iterable[Any]) -> bool:
        """Return True if these people are among a row's authors, or the words leave no doubt."""
        whole = "\n".join(map(str, values))
        if not authors:
            return row.assistant_id in self.assistants or self.words.is_in(whole)
        if not self.people.isdisjoint(authors) or self.words.names(whole):
            return True
        return bool(call_ids(row)) and self.words.is_in(whole)

    def _note(self, model: Any, id_: int, level: int) -> None:
        """Note the level of a row; one of their own goes last even if it repeats them."""
        if self.levels[model].get(id_) != OWN:
            self.levels[model][id_] = level

    def _level_of_call(self, row: Any) -> int | None:
        if row.turn_id in self.turns:
            return self.turns[row.turn_id]
        return self._by_words(row.arguments, row.result)

    def _level_of_line(self, row: Any) -> int | None:
        if row.event_id in self.copies:
            return self.copies[row.event_id]
        if row.role != "user" and row.turn_id in self.turns:
            return self.turns[row.turn_id]
        if self._is_for_them(row):
            return FOR_THEM
        authors = row.authors.split()
        if authors and row.role != "user" and self.people.isdisjoint(authors):
            return None  # its authors are known, and these people are not among them
        arguments = [call["function"]["arguments"] for call in row.tool_calls]
        return self._by_words(row.content, *arguments)

    def _level_of_event(self, row: Any) -> int | None:
        if row.id in self.copies:
            return self.copies[row.id]
        return FOR_THEM if self._is_for_them(row) else self._by_words(row.text)

    def _is_for_them(self, row: Any) -> bool:
        """Return True if a row is private to them."""
        if not row.private or self.people.isdisjoint(row.audience):
            return False
        return self.people.union(self.characters.values()).issuperset(row.audience)

    def _by_words(self, *texts: str) -> int | None:
        return BY_WORDS if any(map(self.words.is_in, texts)) else None

    def _complete_pairs(self) -> None:
        """Add the other half of each tool call: the call, its result, and its row."""
        turns = [turn_id for turn_id, _call in self._pairs]
        rows = models.Message.objects.filter(turn_id__in=turns).exclude(role="user")
        for row in rows.only("turn_id", "tool_calls", "tool_call_id"):
            if any((row.turn_id, call_id) in self._pairs for call_id in call_ids(row)):
                self.messages.setdefault(row.id, BY_WORDS)
        calls = models.ToolCall.objects.filter(turn_id__in=turns)
        for id_, *pair in calls.values_list("id", "turn_id", "call_id"):
            if tuple(pair) in self._pairs:
                self.calls.setdefault(id_, BY_WORDS)


def call_ids(row: Any) -> list[str]:
    """Return the ids of the tool calls that a line makes or answers, or that a row is of."""
    made = [str(call["id"]) for call in getattr(row, "tool_calls", ())]
    own = getattr(row, "tool_call_id", "") or getattr(row, "call_id", "")
    return [*made, own] if own else made


def words_of(text: str) -> list[str]:
    """Return the words of a text, or of the strings of a JSON text, in lower case."""
    return list(WORD.findall(without_json(text).lower()))


def share_in(words: list[str], spoken_words: set[str]) -> bool:
    """Return True if most of some words stand among others."""
    return sum(word in spoken_words for word in words) >= COPIED_SHARE * len(words)


# Attributes with texts of builders, and of players about their own characters.
DESCRIBING = ("desc", "ai_persona", "ai_lore")


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
                words.add_name(*name or [""])
            yield 0
    for rows, *fields in texts_of_others(people, [*people, *characters]):
        for page in pages(rows, *fields):
            for _id, *texts in page:
                words.take_out(" ".join(map(str, texts)))
            yield 0


def own_texts(people: Audience, assistant: int | None) -> Iterator[tuple[Any, ...]]:
    """Yield querysets, each with the field of a text of these people, and of the speaker's name."""
    by_people = Q(speaker__in=people)
    yield rows_of(models.Event, assistant).filter(by_people), "text"
    yield rows_of(models.Message, assistant).filter(by_people), "content", "speaker_name"
    yield describing().filter(objectdb__id__in=numbers_of(people)), "db_value"


def texts_of_others(people: Audience, not_others: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield querysets, each with the fields of texts of others."""
    by_people = models.Message.objects.filter(speaker__in=people)
    first = by_people.aggregate(id=Min("id"))["id"] or 0
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
    head, colon, words = line.partition(": ")
    return words if colon and name and head.startswith(name) else line


def describing() -> Any:
    """Return the describing Attributes of all objects, as a queryset."""
    return Attribute.objects.filter(db_key__in=DESCRIBING, db_model="objectdb")

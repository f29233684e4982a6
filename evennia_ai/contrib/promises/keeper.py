"""Keeps promises without a model: walks to appointments, waits, and tells what came of them.

What is to be done follows from the records, the world's time and where everybody is, so that a
restart goes on from there. What is told, and that it was told, is one transaction.
"""

import math
from functools import partial
from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.contrib.promises.promise_records import (
    ASKED,
    CANCELLED,
    FAILED,
    KEPT,
    LETTER,
    MISSED,
    OPEN,
    REMINDED,
    THEIRS,
    Promises,
)
from evennia_ai.contrib.promises.ways import place_of, ways_from
from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import display_name, find_object, listening_objects
from evennia_ai.game.texts import text
from evennia_ai.messages import PUPPETED, SAY, WHISPER, Authors, IncomingEvent
from evennia_ai.policy.audience import of_record
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import ToolContext
from evennia_ai.signals import deed_done
from evennia_ai.store.attributes import write_attribute
from evennia_ai.store.names import list_names
from evennia_ai.store.transactions import brief_transaction, store_errors
from evennia_ai.tools.registry import note_circumstances
from evennia_ai.tools.speech import speak

FOLLOWING = "ai_following"
STEP_S = 2.0  # between two exits
LOOK_S = 30.0  # at most, while something is due: the world's clock may have been set
EARLY_S, AHEAD_S = 300.0, 60.0  # of the world, and of real time for thirty exits
LINES = {KEPT: "promise_here", CANCELLED: "promise_failed"}
DEEDS = {KEPT: "promise kept", MISSED: "promise broken"}  # of the other


class PromiseKeeper:
    """Looks at the promises of each character with some, by the timer of all assistants."""

    def __init__(self, services: Any) -> None:
        self._services = services
        self._waited: set[tuple[int, str]] = set()  # at which appointments, in this process

    def begin(self) -> None:
        """Look for what earlier processes left to do."""
        self._services.timer.keep(Promises.kind, 0.0, self._begin)

    def _begin(self) -> None:
        with store_errors():
            rows = ObjectDB.objects.filter(db_attributes__db_attrtype=Promises.kind)
            for character in rows.distinct():
                self.attend(character)

    def attend(self, character: Any) -> None:
        """Look at a character soon, and from then on while something is to do or to tell."""
        work = partial(self._attend, character)
        self._services.timer.keep((Promises.kind, character.id), 0.0, work)

    def is_attending(self, character: Any) -> bool:
        return (Promises.kind, character.id) in self._services.timer.entries

    def _attend(self, character: Any) -> float | None:
        """Do what a character must do now; returns the seconds until the next look."""
        if not character.pk or not getattr(character, "ai_mind", None):
            return None
        with store_errors():
            wait_s = LOOK_S
            if character.ai_mind.services.accepting:
                self._close(character)
                self._meet(character)
                wait_s = self._go(character)
            return wait_s if Promises.of(character).active() else None

    def _close(self, character: Any) -> None:
        """End the appointments to which nobody came, or the character did not."""
        for record in appointments_of(character):
            if self._now() > record["until"]:
                was_there = (character.id, record["id"]) in self._waited
                state, reason = (MISSED, "") if was_there else (FAILED, record["reason"])
                self._tell_deed(character, record, state)
                reason = reason or ("" if was_there else "held_up")
                Promises.of(character).update(record["id"], state=state, reason=reason)

    def _meet(self, character: Any) -> None:
        """Tell those who are with a character what it has to tell them, each thing once."""
        if not may_act(character) or character.ai_mind.sleep.is_asleep:
            return
        people = {person.dbref: person for person in listening_objects(character)}
        for record in Promises.of(character).active():
            person = people.get(record["entity"])
            end = self._state_when_told(character, record) if person else None
            if end and character.dbref not in getattr(person, "muted_assistants", ()):
                self._tell_deed(character, record, end)
                self._tell(character, person, record, end)

    def _state_when_told(self, character: Any, record: Record) -> str | None:
        """Return the state of a record once the other, who is here, is told of it; None if not
        due.
        """
        now = self._now()
        if record["state"] != OPEN:
            return None if record["told"] else str(record["state"])
        if record["kind"] == LETTER:
            return KEPT
        if record["place"]:
            is_time = self._begins(record) <= now <= record["until"]
            return KEPT if is_time and character.location is place_of(record) else None
        if now < record["due"]:
            return None
        return ASKED if record["kind"] == THEIRS else REMINDED

    def _tell(self, character: Any, person: Any, record: Record, end: str) -> None:
        store, words = Promises.of(character), words_for(record, end, character, person)
        is_private = record["audience"] is not None
        try:
            # The client gets the words when the reactor goes on: not before they are stored.
            with brief_transaction(characters=[character.id]):
                store.update(record["id"], state=end, told=True)
                speak_to(character, person, words, is_private, of_record(record))
        except BaseException as error:
            store.unload()
            if not isinstance(error, NothingDone):  # by which a hook of the game forbids it
                raise

    def _tell_deed(self, character: Any, record: Record, state: str) -> None:
        """Tell other extensions, before it is noted, whether the other came to an appointment.

        Its key counts once, so that a process that dies meanwhile loses nothing.
        """
        kind = DEEDS.get(state) if record["place"] and record["state"] == OPEN else None
        if kind:
            did = "came" if state == KEPT else "did not come"
            deed_done.send_robust(
                character.assistant,
                character=character,
                person=record["entity"],
                kind=kind,
                reason=f"{did} where you had agreed to meet",
                key=f"promise {record['id']}",
                audience=None if record["audience"] is None else frozenset(record["audience"]),
            )

    def _go(self, character: Any) -> float:
        """Go a step to where the character must be now; returns the seconds until the next look.

        That is the place of the next appointment that is not late, else of the last that it can
        still wait for, else the place from which it came.
        """
        now, store, open_ones = self._now(), Promises.of(character), appointments_of(character)
        begun = [record for record in open_ones if self._begins(record) <= now]
        record = next((item for item in begun if now < item["due"]), begun[-1] if begun else None)
        left = next((item for item in store.active() if item["back"]), None)
        if record:
            goal = place_of(record)
        elif left is None:
            return self._wait_s(min(map(self._begins, open_ones), default=math.inf))
        elif self._is_met(character, left):
            return LOOK_S
        else:
            goal = find_object(left["back"])
        path = ways_from(character).get(goal)
        wake(character)
        if record and path == []:  # somebody may come unnoticed, as by a builder's command
            self._waited.add((character.id, record["id"]))
            return self._wait_s(record["until"] + self._pace)
        if left and not (record or path):
            store.update(left["id"], back="")
            return STEP_S
        if not may_act(character) or character.ai_mind.ticker.is_ticking:
            return STEP_S
        if record and path and left is None:
            store.update(record["id"], back=character.location.dbref)
        if path and walk(character, path[0]):
            return STEP_S
        if record:
            store.update(record["id"], reason="no_way")
        return LOOK_S

    def _is_met(self, character: Any, record: Record) -> bool:
        """Return True while a character is at an appointment with the other."""
        is_with = any(who.dbref == record["entity"] for who in listening_objects(character))
        return is_with and record["state"] == KEPT and self._now() < record["until"]

    def _begins(self, record: Record) -> float:
        """Return when a character sets out for an appointment, in the world's seconds."""
        ahead = EARLY_S + AHEAD_S * self._pace
        return float(record["due"] - min(ahead, record["lead"] / 2))

    @property
    def _pace(self) -> float:
        return float(self._services.world_clock.pace) or 1.0

    def _now(self) -> float:
        return float(self._services.world_clock.seconds())

    def _wait_s(self, at: float) -> float:
        """Return the seconds until a time of the world, or until the clock may have been set."""
        return min(max((at - self._now()) / self._pace, 0.5), LOOK_S)


def appointments_of(character: Any) -> list[Record]:
    """Return the open appointments of a character, the next one first."""
    active = Promises.of(character).active()
    return [record for record in active if record["state"] == OPEN and record["place"]]


def may_act(character: Any) -> bool:
    """Return True if code may act for a character now: it is on, and nobody puppets it."""
    return bool(character.ai_mind.status.may_think())


def wake(character: Any) -> None:
    if may_act(character) and character.ai_mind.sleep.is_asleep:
        character.ai_mind.sleep.wake_up("it has an appointment")


def walk(character: Any, way: Any) -> bool:
    """Go through an exit, and follow nobody any more; returns False if that fails."""
    start = character.location
    if character.attributes.has(FOLLOWING):
        write_attribute(character, FOLLOWING, None)
    way.at_traverse(character, way.destination)
    return character.location is not start


def words_for(record: Record, state: str, character: Any, person: Any) -> str:
    """Return what somebody is told of a record that comes to a state."""
    values = {"name": display_name(person, character), "what": f'"{record["content"]}"'}
    if record["kind"] == LETTER:
        return text("letter_told", sender=list_names([record["source_entity"]]), **values)
    if state in (FAILED, CANCELLED):
        values["reason"] = text(f"promise_{record['reason']}")
    return text(LINES.get(state, f"promise_{state}"), **values)


def speak_to(character: Any, person: Any, words: str, is_private: bool, authors: Authors) -> None:
    """Let a character speak to somebody, in a whisper if it is private; raises NothingDone."""
    mind, heard_by = character.ai_mind, frozenset({person.dbref})
    context = ToolContext(
        assistant=mind.tool_executor.tools,
        character=character,
        audience=heard_by if is_private else mind.services.world.listeners(character),
        private=is_private,
        speakers=frozenset(),
        authors=authors,
        waiting=heard_by,
    )
    note_circumstances(context)
    character.ndb.ai_acting = True
    try:
        speak(context, words, **({"receivers": [person], "whisper": True} if is_private else {}))
    finally:
        character.ndb.ai_acting = False
        character.ndb.ai_confidants = character.ndb.ai_authors = None
    own = IncomingEvent(
        kind=WHISPER if is_private else SAY,
        speaker=character.dbref,
        speaker_name=mind.who.name,
        text=words,
        audience=context.audience,
        private=is_private,
        reason=PUPPETED,
        evidence=PUPPETED,
        authors=context.all_authors,
    )
    mind.services.inbox_queue.put(mind.hearing, own)

"""Keeps promises without a model: walks to appointments, waits, and tells what came of them.

What is to be done follows from the records, the world's time and where everybody is, so that a
restart goes on from there. What is told, and that it was told, is one transaction.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.logger import Logger

from evennia_ai.contrib.promises.promise_records import (
    ASKED,
    FAILED,
    KEPT,
    LETTER,
    MISSED,
    OPEN,
    REMINDED,
    THEIRS,
    Promises,
)
from evennia_ai.contrib.promises.promise_words import speak_to, words_for
from evennia_ai.contrib.promises.ways import place_of, ways_from
from evennia_ai.errors import NothingDone, StoreUnavailable
from evennia_ai.game.perception import find_object, listening_objects
from evennia_ai.policy.audience import of_record
from evennia_ai.policy.records.record import Record
from evennia_ai.signals import deed_done
from evennia_ai.store.attributes import write_attribute
from evennia_ai.store.transactions import brief_transaction, store_errors

log = Logger()

FOLLOWING = "ai_following"
STEP_S = 2.0  # between two exits
LOOK_S = 30.0  # at most, while something is due: the world's clock may have been set
EARLY_S = 300.0  # of the world, before an appointment; less for one that is soon
AHEAD_S = 60.0  # for thirty exits
NEVER = float("inf")
DEEDS = {KEPT: "promise kept", MISSED: "promise broken"}  # of the other


class PromiseKeeper:
    """The one keeper of a server: it wakes when the next thing of any character is due.

    ``due`` has, in the world's seconds, when each character with something to do or to tell must
    do it next; `NEVER` for one that only has something to tell.
    """

    def __init__(self, services: Any) -> None:
        self._services = services
        self.due: dict[Any, float] = {}
        self._call: Any = None
        self._waited: set[tuple[int, str]] = set()  # at which appointments, in this process

    def begin(self) -> None:
        """Look for what earlier processes left to do."""
        try:
            with store_errors():
                rows = ObjectDB.objects.filter(db_attributes__db_attrtype=Promises.kind)
                for character in rows.distinct():
                    self._services.slices.put(self.attend, character)
        except StoreUnavailable:
            self._services.clock.callLater(LOOK_S, self.begin)

    def attend(self, character: Any) -> None:
        """Do what a character must do now, and plan when to look at it next."""
        if not character.pk or not getattr(character, "ai_mind", None):
            self.due.pop(character, None)
            return
        self.due[character] = self._later(LOOK_S)
        try:
            with store_errors():
                if character.ai_mind.services.accepting:
                    self.due[character] = self._attend(character)
                if not Promises.of(character).active():
                    del self.due[character]
        except StoreUnavailable as error:
            log.info("{name}: a promise waits: {error}", name=character.key, error=error)
        except Exception:  # noqa: BLE001  # hooks of the game may raise anything
            log.failure("{name}: a promise cannot be kept now", name=character.key)
        self._plan()

    def _attend(self, character: Any) -> float:
        """Return when the character must do something next, in the world's seconds."""
        store = Promises.of(character)
        for record in store.active():
            if record["state"] == OPEN and record["place"] and self._now() > record["until"]:
                was_there = (character.id, record["id"]) in self._waited
                reason = "" if was_there else record["reason"] or "held_up"
                store.update(record["id"], state=MISSED if was_there else FAILED, reason=reason)
                tell_deed(character, record, MISSED if was_there else FAILED)
        self._meet(character)
        appointments = [item for item in store.active() if item["place"]]
        times = [self._keep(character, item, appointments) for item in appointments]
        return min(times, default=NEVER)

    def _meet(self, character: Any) -> None:
        """Tell those who are with a character what it has to tell them, each thing once."""
        if not may_act(character) or character.ai_mind.sleep.is_asleep:
            return
        people = {person.dbref: person for person in listening_objects(character)}
        for record in Promises.of(character).active():
            person = people.get(record["entity"])
            end = state_when_told(record, self._now(), character) if person else None
            if end and character.dbref not in getattr(person, "muted_assistants", ()):
                self._tell(character, person, record, end)

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
        else:
            tell_deed(character, record, end)

    def _keep(self, character: Any, record: Record, others: list[Record]) -> float:
        """Do what an appointment asks for now; returns when to look at it next."""
        if record["state"] != OPEN:
            return self._go_back(character, record, others) if record["back"] else NEVER
        now, ahead = self._now(), record["due"] - ahead_of(record, self._pace)
        if now < ahead:
            return float(ahead)
        path = ways_from(character).get(place_of(record))
        leave = record["due"] - early_of(record) - len(path or ()) * STEP_S * self._pace
        if now < leave:
            return float(leave)
        wake(character)
        if path == []:  # somebody may come unnoticed, as by a builder's command
            self._waited.add((character.id, record["id"]))
            return float(min(max(now, record["until"]) + self._pace, self._later(LOOK_S)))
        if chosen(others, now, self._pace) is not record:
            return self._later(LOOK_S)
        return self._step(character, path, record, others)

    def _go_back(self, character: Any, record: Record, others: list[Record]) -> float:
        """Return to where the character came from, once it has nothing to do at the place."""
        path = ways_from(character).get(find_object(record["back"]))
        another = chosen(others, self._now(), self._pace)
        if not path or (another and another["back"]):  # it is there, or the other one brings it
            Promises.of(character).update(record["id"], back="")
            return NEVER
        is_with = any(who.dbref == record["entity"] for who in listening_objects(character))
        stays = is_with and record["state"] == KEPT and self._now() < record["until"]
        if another or stays:
            return self._later(LOOK_S)
        return self._step(character, path, record, others)

    def _step(
        self, character: Any, path: list[Any] | None, record: Record, others: list[Record]
    ) -> float:
        """Go through the first exit of a path, unless the character thinks; returns when next."""
        if not may_act(character) or character.ai_mind.ticker.is_ticking:
            return self._later(STEP_S)
        wake(character)
        store, here = Promises.of(character), character.location
        if path and not record["back"]:
            home = next((item["back"] for item in others if item["back"]), here.dbref)
            store.update(record["id"], back=home)
        if path and walk(character, path[0]):
            return self._later(STEP_S)
        if record["state"] == OPEN:
            store.update(record["id"], reason="no_way")
        return self._later(LOOK_S)

    @property
    def _pace(self) -> float:
        return float(self._services.world_clock.pace) or 1.0

    def _now(self) -> float:
        return float(self._services.world_clock.seconds())

    def _later(self, seconds: float) -> float:
        return self._now() + seconds * self._pace

    def _plan(self) -> None:
        """Wake when the earliest thing is due; without one, never."""
        if self._call and self._call.active():
            self._call.cancel()
        first = min(self.due.values(), default=NEVER)
        if first < NEVER:
            wait_s = min(max((first - self._now()) / self._pace, 0.5), LOOK_S)
            self._call = self._services.clock.callLater(wait_s, self._wake)

    def _wake(self) -> None:
        for character in [item for item, at in self.due.items() if at <= self._later(0.1)]:
            self._services.slices.put(partial(self.attend, character))
            self.due[character] = self._later(LOOK_S)
        self._plan()


def tell_deed(character: Any, record: Record, state: str) -> None:
    """Tell other extensions whether the other came to an appointment."""
    if kind := DEEDS.get(state) if record["place"] else None:
        known_to = None if record["audience"] is None else frozenset(record["audience"])
        deed_done.send_robust(
            character.assistant,
            character=character,
            person=record["entity"],
            kind=kind,
            reason=f"{'came' if state == KEPT else 'did not come'} where you had agreed to meet",
            key=f"promise {record['id']}",
            audience=known_to,
        )


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


def early_of(record: Record) -> float:
    """Return how long before an appointment the character is there, in the world's seconds."""
    return float(min(EARLY_S, record["lead"] / 4))


def ahead_of(record: Record, pace: float) -> float:
    """Return how long before an appointment the way is looked for, in the world's seconds."""
    return float(min(record["lead"], 4 * early_of(record) + AHEAD_S * pace))


def chosen(appointments: Iterable[Record], now: float, pace: float) -> Record | None:
    """Return the appointment that a character keeps now: the next one that is not late, else the
    last that it can still wait for.
    """
    live = [
        item
        for item in appointments
        if item["state"] == OPEN and item["due"] - ahead_of(item, pace) <= now <= item["until"]
    ]
    return next((item for item in live if now < item["due"]), live[-1] if live else None)


def state_when_told(record: Record, now: float, character: Any) -> str | None:
    """Return the state of a record once the other, who is here, is told of it; None if not due."""
    if record["state"] != OPEN:
        return None if record["told"] else str(record["state"])
    if record["kind"] == LETTER:
        return KEPT
    if record["place"]:
        is_time = record["due"] - early_of(record) <= now <= record["until"]
        return KEPT if is_time and character.location is place_of(record) else None
    if now < record["due"]:
        return None
    return ASKED if record["kind"] == THEIRS else REMINDED

"""Letters as records on the character that carries them, and how each is told, once.

That a letter is told, and that it was, is one transaction. What is left to tell follows from the
records and from who is here, so that a restart goes on from there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds
from evennia_ai.game.perception import display_name, listening_objects
from evennia_ai.game.texts import text
from evennia_ai.policy.records.record import BaseRecord, Dbref, Record, Time, Words, make_record
from evennia_ai.ports import RecordStore
from evennia_ai.ports.records import anew
from evennia_ai.store.names import list_names
from evennia_ai.store.personal_data import STORES
from evennia_ai.tools.speech import LOOK_S, keep_looking, look_at_all, tell_once

FORMER = "ai_promises"  # where the extension `promises` kept letters before this one was
OPEN, KEPT = "open", "kept"  # kept: told, or sent by mail
MOST_OVER = 60  # that a character keeps


@dataclass(frozen=True)
class LetterSettings:
    """How many letters a character takes, and how they reach players."""

    person_letters: int = setting(
        20,
        "Maximum untold messages that one person's words may leave with it. 0 allows none.",
        Bounds(0, 100),
    )
    letters_by_mail: bool = setting(
        False,
        "Send messages for players at once by Evennia's contrib `mail`, instead of telling them at "
        "the next meeting. Your game must have the contrib's command for characters.",
    )


class Letter(BaseRecord):
    """What ``source_entity`` leaves for ``entity``: nobody else may know it."""

    content: Words
    entity: Dbref
    made: Time
    state: Literal["open", "kept", "cancelled"] = "open"


class Letters(RecordStore):
    """Letters as plain dicts with the fields of `Letter`."""

    kind = "ai_letters"
    prefix = "l"
    model = Letter

    @anew
    def add(self, content: str, **fields: Any) -> str:
        """Store a letter, unless it is stored already; returns its id. Raises BadRecord.

        Of those that are over, the newest `MOST_OVER` stay.
        """
        named = {**fields, "id": self.next_id, "content": content}
        new = make_record(Letter, {"made": self.now(), **named})
        parts = ("entity", "source_entity", "content")
        for item in self.open():
            if all(item[part] == new[part] for part in parts):
                return str(item["id"])
        over = [item["id"] for item in self.every() if item["state"] != OPEN]
        self.change(dict.fromkeys(over[:-MOST_OVER]), new)
        return str(new["id"])

    def open(self) -> Iterator[Record]:
        return (item for item in self.every() if item["state"] == OPEN)


def begin(services: Any) -> None:
    """Look for what earlier processes left to tell."""

    def attend_first(character: Any) -> None:
        services.timer.keep((FORMER, character.id), 0.0, partial(take_over, character))

    look_at_all(services, (Letters.kind, FORMER), attend_first)


def take_over(character: Any) -> None:
    """Move the letters that `promises` kept; nothing else reads them there."""
    if FORMER in STORES:
        former = STORES[FORMER].of(character)
        for item in [item for item in former.all() if item["kind"] == "letter"]:
            fields = {name: item[name] for name in Letter.model_fields if name != "id"}
            Letters.of(character).add(**fields)
            former.remove(item["id"])  # after a death in between, `add` finds it again
    attend(character)


def attend(character: Any) -> None:
    """Look soon whom a character can tell a letter, and from then on while it has some."""
    keep_looking(character, Letters.kind, deliver)


def deliver(character: Any) -> float | None:
    """Tell the letters for those who are here; returns the seconds until the next look."""
    store, mind = Letters.of(character), character.ai_mind
    if mind.status.may_think() and not mind.sleep.is_asleep:
        people = {person.dbref: person for person in listening_objects(character)}
        for letter in [*store.open()]:
            person = people.get(letter["entity"])
            if person and character.dbref not in getattr(person, "muted_assistants", ()):
                tell(character, person, letter)
    return LOOK_S if any(store.open()) else None


def tell(character: Any, person: Any, letter: Record) -> None:
    values = {"name": display_name(person, character), "what": f'"{letter["content"]}"'}
    words = text("letter_told", sender=list_names([letter["source_entity"]]), **values)
    tell_once(Letters.of(character), letter, words, person, state=KEPT)

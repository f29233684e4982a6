"""Tools to note an appointment or a promise, and to take a message for somebody."""

from typing import Any, Literal

from django.db.models import Q
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter
from evennia.utils import create
from pydantic import BaseModel, Field
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.contrib.promises.promise_records import (
    KEPT,
    LETTER,
    OWN,
    THEIRS,
    Promises,
    PromiseSettings,
    due_words,
)
from evennia_ai.contrib.promises.ways import place_in
from evennia_ai.contrib.promises.when import FORMS, find_time
from evennia_ai.errors import NothingDone
from evennia_ai.extension import tool
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import (
    all_named,
    asked_for,
    find_named,
    find_objects,
    listening_objects,
)
from evennia_ai.policy.limits.people import is_reached
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import own_name
from evennia_ai.store.transactions import brief_transaction
from evennia_ai.tools.memory_sources import content_of, heard, sources_of, store_record

BAD_TIME = f"That is no time to come. Give 'when' in one of these forms: {FORMS}."
MOST_CHARS = 400
LATEST = 4  # messages


class PromiseArguments(BaseModel):
    """What is promised."""

    what: str = Field(description="such as: bring the rope")
    when: str = Field(description=f"such as: {FORMS}")
    where: str = Field("", description="of an appointment: here, or the name of a place")
    by: Literal["me", "them"] = "me"
    to: str = Field("", description="the other one; empty for whom you answer")


class MessageArguments(BaseModel):
    """A message, and for whom it is."""

    to: str
    text: str


def hears_of_time(context: ToolContext) -> bool:
    """Return True if one of the latest lines names a time to come."""
    clock, latest = context.assistant.world_clock, context.assistant.log.view()[-LATEST:]
    return any(m["role"] == "user" and find_time(m["content"][:MOST_CHARS], clock) for m in latest)


@tool("promise", world=False, safe_to_retry=True, needed=hears_of_time)
@inlineCallbacks
def promise(context: ToolContext, arguments: PromiseArguments) -> Coroutine[str]:
    """Note an appointment or promise that was agreed. You go to an appointment by yourself."""
    clock, place = context.assistant.world_clock, None
    moment = find_time(arguments.when, clock)
    if moment is None or not moment.is_all:
        raise NothingDone(BAD_TIME)
    if arguments.where:
        place, _said = place_in(arguments.where, context.character)
        if place is None:
            raise NothingDone(f"You know no way to {asked_for(arguments.where)}.")
    other, kind = partner_of(context, arguments.to), THEIRS if arguments.by == "them" else OWN
    record = yield add_promise(context, arguments.what, kind, other, moment.at, place)
    by_itself = " You will be there in time, by yourself." if record["place"] else ""
    return f"Noted as {record['id']}: {due_words(record, clock)}.{by_itself}"


@tool("leave_message", world=False, safe_to_retry=True, rare=True)
@inlineCallbacks
def leave_message(context: ToolContext, arguments: MessageArguments) -> Coroutine[str]:
    """Take a message for somebody who is not here. You tell it when you meet, to them alone."""
    record = yield add_letter(context, arguments.text, find_receiver(context, arguments.to))
    return "It was sent." if record["state"] == KEPT else "Noted. Tell nobody else."


def add_promise(
    context: ToolContext, what: str, kind: str, other: Any, at: float, place: Any
) -> Deferred[Record]:
    """Store a promise, due in the world's seconds; fires with its record, fails with NothingDone.

    Only one of the character's own that has a place is an appointment.
    """
    clock, part = context.assistant.world_clock, context.assistant.config.part(PromiseSettings)
    return add(
        context,
        what,
        kind=kind,
        entity=other.dbref,
        place=place.dbref if place and kind == OWN else "",
        where=own_name(place) if place else "",
        due=at,
        lead=at - clock.seconds(),
        until=at + part.appointment_wait * clock.units["minute"],
    )


@inlineCallbacks
def add_letter(context: ToolContext, words: str, receiver: Any) -> Coroutine[Record]:
    """Store a message, or send it by mail if the game wants that; fires with its record.

    Only its sender and its receiver know it.
    """
    sender = partner_of(context, "")
    whose = {"entity": receiver.dbref, "source_entity": sender.dbref}
    record: Record = yield add(context, words, kind=LETTER, audience=[*whose.values()], **whose)
    by_mail = context.assistant.config.part(PromiseSettings).letters_by_mail
    if by_mail and not getattr(receiver, "assistant", None):
        store, header = Promises.of(context.character), f"From {own_name(sender)}"
        with brief_transaction(characters=[context.character.id]):
            record = store.update(record["id"], state=KEPT, told=True)
            letter = clean_output(record["content"])
            mail = create.create_message(context.character, letter, receiver, header=header)
            mail.tags.add("new", category="mail")
    return record


@inlineCallbacks
def add(context: ToolContext, content: str, **fields: Any) -> Coroutine[Record]:
    """Store a record with its sources, unless one person caused enough; tell the keeper."""
    character, services = context.character, context.assistant.services
    store, most = Promises.of(character), context.assistant.config.part(PromiseSettings)
    content = content_of(context, content, MOST_CHARS)
    yield store.load(services.slices.put)
    if is_reached(store.open(), context.causes, most.person_promises):
        raise NothingDone("You have enough open promises for their sake.")
    whose = {**sources_of(context), **fields}
    number: str = yield store_record(context, lambda: store.add(content, **whose))
    for extension in services.extensions:
        if hasattr(extension, "keeper"):
            extension.keeper.attend(character)
    return store.require(number)


def partner_of(context: ToolContext, name: str) -> Any:
    """Return the one person whom a promise concerns, by default who is answered, or NothingDone."""
    people = find_objects(sorted(context.askers))
    if name:
        people = [find_named(name, listening_objects(context.character), context.character)]
    if len(people) != 1 or people[0] is None:
        raise NothingDone("Say in 'to' who of those here it concerns.")
    if context.private and people[0].dbref not in context.audience:
        raise NothingDone("What was told you in confidence is not for that person.")
    return people[0]


def find_receiver(context: ToolContext, name: str, absent: bool = True) -> Any:
    """Return the one character with a name or alias; raises NothingDone, for several too."""
    character, name = context.character, name.strip()
    if absent and all_named(name, listening_objects(character), character):
        raise NothingDone("They are here: speak to them.")
    named = any(name.lower() in m["content"].lower() for m in heard(context))
    if context.private and not (named or context.source_seqs):  # those of a line that names them
        raise NothingDone("Nobody asked you to tell them that: it was said in confidence.")
    alias = Q(db_tags__db_key=name.lower(), db_tags__db_tagtype="alias")
    rows = ObjectDB.objects.filter(Q(db_key__iexact=name) | alias).exclude(id=character.id)
    people = [item for item in rows.distinct() if isinstance(item, DefaultCharacter)]
    if len(people) != 1:
        many = "Several are" if people else "Nobody is"
        raise NothingDone(f"{many} called {asked_for(name)}: ask for whom it is.")
    return people[0]

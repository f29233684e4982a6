"""How a promise is made: by the tool, or by a line and the answer to it.

Of a line, first comes structure: a time to come. Then the embedder compares the text, without its
names, places and times, with examples; without one, nothing is read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evennia.objects.objects import DefaultCharacter
from pydantic import BaseModel, Field
from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.promises.keeper import attend, place_in
from evennia_ai.contrib.promises.promise_records import (
    OWN,
    THEIRS,
    Promises,
    PromiseSettings,
    due_words,
)
from evennia_ai.contrib.promises.when import FORMS, MARK, find_time
from evennia_ai.errors import NothingDone
from evennia_ai.extension import tool
from evennia_ai.game.perception import asked_for, find_objects, objects_named_in
from evennia_ai.game.texts import text
from evennia_ai.memory.remote_vectors import kinds_in
from evennia_ai.policy.conversation.requested_acts import ANSWERS, grants
from evennia_ai.policy.facts.terms import without_names
from evennia_ai.policy.limits.people import is_reached
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import own_name
from evennia_ai.tools.memory_sources import content_of, sources_of, store_record

BAD_TIME = f"That is no time to come. Give 'when' in one of these forms: {FORMS}."
MOST_CHARS, LATEST = 400, 4  # of a line, and messages
MEETING, MESSAGE, OTHER = "meeting", "message", "other"
EXAMPLES = Path(__file__).with_name("examples.toml")
PLACE, TIME = "gate", "noon"  # of the examples
UNSURE, UNPLACED = 0.15, 0.25  # how much surer it must be of a text, of one without a place
WORTH_TELLING = 0.4  # of ten lines that are none, none is told as misunderstood (at 0.2, five)
# Why nothing came of a line, for `aiwhy`.
LATE = "not read as a promise: the embedder was late"
NO_PROMISE = "not understood as a promise"
NOT_GRANTED = "no promise: the reply does not agree"


class PromiseArguments(BaseModel):
    """What is promised."""

    what: str = Field(description="such as: bring the rope")
    when: str = Field(description=f"such as: {FORMS}")
    where: str = Field("", description="of an appointment: here, or the name of a place")
    by: Literal["me", "them"] = "me"


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
    kind = THEIRS if arguments.by == "them" else OWN
    record = yield add_promise(context, arguments.what, kind, moment.at, place)
    by_itself = " You will be there in time, by yourself." if record["place"] else ""
    return f"Noted as {record['id']}: {due_words(record, clock)}.{by_itself}"


@inlineCallbacks
def add_promise(  # what a promise consists of
    context: ToolContext, what: str, kind: str, at: float, place: Any
) -> Coroutine[Record]:
    """Store a promise, due in the world's seconds, with its sources; fires with its record.

    Only one of the character's own that has a place is an appointment. Fails with NothingDone.
    """
    character, mind, other = context.character, context.assistant, partner_of(context)
    store, settings = Promises.of(character), mind.config.part(PromiseSettings)
    content, clock = content_of(context, what, MOST_CHARS), mind.world_clock
    yield store.load(mind.services.slices.put)
    if is_reached(store.open(), context.causes, settings.person_promises):
        raise NothingDone("You have enough open promises for their sake.")
    fields = {
        **sources_of(context),
        "kind": kind,
        "entity": other.dbref,
        "place": place.dbref if place and kind == OWN else "",
        "where": own_name(place) if place else "",
        "due": at,
        "lead": at - clock.seconds(),
        "until": at + settings.appointment_wait * clock.units["minute"],
    }
    number: str = yield store_record(context, lambda: store.add(content, **fields))
    attend(character)
    return store.require(number)


def partner_of(context: ToolContext) -> Any:
    """Return the one person whom a promise concerns: who is answered. Raises NothingDone."""
    people = find_objects(sorted(context.askers))
    if len(people) != 1:
        raise NothingDone("Several people ask you. Answer one of them first.")
    return people[0]


# --- what a line and its answer agree on, without the tool ----------------------------------------


class Reading(NamedTuple):
    """What a text may agree on by its structure; ``compared`` is it without names and times."""

    text: str
    is_own: bool  # the character's own words
    compared: str
    at: float  # in the world's seconds
    place: Any


def read_structure(words: str, is_own: bool, character: Any) -> Reading | None:
    """Return what a text names, None if it names no time to come."""
    clock = character.ai_mind.services.world_clock
    if not find_time(words, clock):
        return None
    place, named = place_in(words, character)
    moment = find_time(words.replace(named, PLACE) if named else words, clock)  # "deck 3"
    if not moment:
        return None
    people = objects_named_in(words).items()
    names = [name for obj, name in people if isinstance(obj, DefaultCharacter)]
    compared = without_names(moment.rest.replace(MARK, TIME), names)
    return Reading(words, is_own, compared, moment.at, place)


@inlineCallbacks
def agree(context: ToolContext, lines: Sequence[str], reply: str) -> Coroutine[str]:
    """Store the first promise in lines or the reply to them; fires with how the stand-in says it.

    The stand-in, whose replies agree to nothing, agrees, but knows no place without a way.
    Fails with NothingDone.
    """
    services: Any = context.assistant.services
    has_model, cosines = context.assistant.profile.has_model, services.nearness.cosines
    texts = [(line, False) for line in lines]
    texts += [(part.strip(), True) for part in sentences(reply) if has_model]
    structures = (read_structure(words, is_own, context.character) for words, is_own in texts)
    readings, why_not = [*filter(None, structures)], ""
    kinds = kinds_in(EXAMPLES, services.nearness)
    if not readings:
        return ""
    can_tell = yield kinds.prepare(services, [item.compared for item in readings])
    yield services.nearness.prepare(services, [reply, *ANSWERS])
    if not can_tell:
        if services.embedder and not has_model and any(item.place for item in readings):
            return text("fallback").splitlines()[0]  # or the stand-in says that it will remember
        raise NothingDone(LATE * bool(services.embedder))
    is_granted = has_model and grants(cosines(reply, ANSWERS))
    for item in readings:
        scores = kinds.scores(item.compared, cosines)
        agreements = {name: max(scores[name], 0.0) for name in (MEETING, THEIRS, OWN)}
        kind, likely = max(agreements, key=lambda name: scores[name]), sum(agreements.values())
        if likely < max(scores[OTHER], scores[MESSAGE]) + (UNSURE if item.place else UNPLACED):
            why_not = why_not or NO_PROMISE * (scores[kind] >= WORTH_TELLING)
            continue
        if kind == MEETING and not (has_model or item.place):
            return text("promise_nowhere", name=own_name(partner_of(context)))
        is_theirs = kind == THEIRS and not item.is_own
        if item.is_own or is_theirs or is_granted or not has_model:
            place = item.place if kind != THEIRS or is_theirs else None
            promised = THEIRS if is_theirs else OWN
            record = yield add_promise(context, item.text, promised, item.at, place)
            return agreed_words(context, record)
        why_not = why_not or NOT_GRANTED
    raise NothingDone(why_not)


def agreed_words(context: ToolContext, record: Record) -> str:
    """Return how the stand-in says what was noted, "" for a model, which has said it."""
    due = due_words(record, context.assistant.world_clock)
    what = f"{due}." if record["place"] else f'"{record["content"]}"'
    agreed = text("promise_agreed", name=own_name(partner_of(context)), what=what)
    return "" if context.assistant.profile.has_model else agreed

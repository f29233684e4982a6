"""How a promise is made: by the tool, or by a line and the answer to it.

Of a line, first comes structure: a time to come. Then the embedder compares the text, without its
names, places and times, with examples; without one, nothing is read.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evennia.objects.objects import DefaultCharacter
from pydantic import BaseModel, Field
from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.promises.keeper import attend, place_in, ways_from
from evennia_ai.contrib.promises.promise_records import OWN, THEIRS, Promises, PromiseSettings
from evennia_ai.contrib.promises.when import FORMS, MARK, due_words, find_time
from evennia_ai.errors import NothingDone
from evennia_ai.extension import tool
from evennia_ai.game.perception import asked_for, known_names, objects_named_in
from evennia_ai.game.texts import text
from evennia_ai.memory.remote_vectors import kinds_in
from evennia_ai.policy.conversation.requested_acts import ANSWERS, grants
from evennia_ai.policy.facts.terms import without_names
from evennia_ai.policy.limits.people import is_reached
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.retrieval.words import is_english
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import own_name
from evennia_ai.tools.memory_sources import content_of, only_asker, sources_of, store_record

MOST_CHARS, LATEST, MOST_WORDS = 400, 4, 12  # of a line, messages, and words in a language
MEETING, CHANGE, MESSAGE, OTHER = "meeting", "change", "message", "other"
EXAMPLES = Path(__file__).with_name("examples.toml")
PLACE, TIME = "gate", "noon"  # of the examples
THEN = "~"  # between what was agreed and what may change it
UNSURE, UNPLACED = 0.15, 0.25  # how much surer it must be of a text, of one without a place
CHANGED = 0.33  # how like a change a text must be that comes soon after what was agreed
WORTH_TELLING = 0.4  # of ten lines that are none, none is told as misunderstood (at 0.2, five)
MEANT = 0.64  # how near words mean a place
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
        raise NothingDone(f"That is no time to come. Give 'when' in one of these forms: {FORMS}.")
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
    context: ToolContext, what: str, kind: str, at: float, place: Any, former: Record | None = None
) -> Coroutine[Record]:
    """Store a promise, due in the world's seconds, with its sources; fires with its record.

    Only one of its own that has a place is an appointment. A ``former`` one is changed to it.
    Fails with NothingDone.
    """
    character, mind, other = context.character, context.assistant, only_asker(context)
    store, settings = Promises.of(character), mind.config.part(PromiseSettings)
    words = f"{former['content']} {what}" if former else what
    content, clock = content_of(context, words, MOST_CHARS), mind.world_clock
    yield store.load(mind.services.slices.put)
    if not former and is_reached(store.open(), context.causes, settings.person_promises):
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
    if former:
        for name in ("source_seqs", "speakers"):
            fields[name] = sorted({*former[name], *fields[name]})
        fields |= {name: former[name] for name in ("place", "where") if not place}
        fields["audience"] = fields["audience"] or former["audience"]
        change = partial(store.update, former["id"], content=content, **fields)
        record: Record = yield store_record(context, change)
    else:
        number: str = yield store_record(context, lambda: store.add(content, **fields))
        record = store.require(number)
    attend(character)
    return record


# --- what a line and its answer agree on, without the tool ----------------------------------------


class Reading(NamedTuple):
    """What a text may agree on by its structure; ``compared`` is it without names and times."""

    text: str
    is_own: bool  # the character's own words
    compared: str
    at: float  # in the world's seconds
    place: Any
    former: Record | None  # what it may change


def read_structure(
    words: str, is_own: bool, character: Any, meant: Any = None, former: Record | None = None
) -> Reading | None:
    """Return what a text names, None if it names no time to come, and changes no ``former``.

    ``meant``: the place that it names in another language, and how.
    """
    clock, before = character.ai_mind.services.world_clock, ""
    if former:
        due = clock.date(former["due"])
        before = f"{clock.weekdays[due.weekday]} {due.hour:02d}:{due.minute:02d} {THEN} "
    elif not find_time(words, clock):
        return None
    place, named = meant or place_in(words, character)
    left = words.replace(named, PLACE) if named else words  # "deck 3"
    moment = find_time(f"{before}{left}", clock)
    rest = moment.rest[moment.rest.find(THEN) + 1 if before else 0 :] if moment else ""
    if not moment or (former and not (place or MARK in rest)):
        return None
    people = objects_named_in(words).items()
    names = [name for obj, name in people if isinstance(obj, DefaultCharacter)]
    compared = without_names(rest.replace(MARK, TIME), names)
    return Reading(words, is_own, compared, moment.at, place, former)


@inlineCallbacks
def place_meant(services: Any, words: str, character: Any) -> Coroutine[tuple[Any, str] | None]:
    """Fire with the place that a text in another language means, and how; None for none."""
    has_time = find_time(words, services.world_clock)
    if is_english(words) or not has_time or place_in(words, character)[0]:
        return None
    names = {name: it for it in ways_from(character) for name in known_names(it, character)}
    parts = [*re.finditer(r"\w{4,}", words)][:MOST_WORDS]
    runs = {words[a.start() : b.end()] for n, a in enumerate(parts) for b in parts[n : n + 3]}
    yield services.nearness.prepare(services, [*map(str.lower, runs), *names])
    cosines = services.nearness.cosines
    nears = (zip(cosines(run.lower(), [*names]), repeat(run), names, strict=False) for run in runs)
    _near, run, name = max(chain([(MEANT, "", "")], *nears))
    return (names[name], run) if run else None


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
    readings, why_not = list[Reading](), ""
    for words, is_own in texts:
        meant = yield place_meant(services, words, context.character)
        for former in just_agreed(context):
            reading = read_structure(words, is_own, context.character, meant, former)
            readings += [reading] if reading else []
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
        kind = kind_of(item, scores)
        if not kind:
            likeliest = max(scores[name] for name in (MEETING, THEIRS, OWN))
            why_not = why_not or NO_PROMISE * (likeliest >= WORTH_TELLING)
            continue
        if kind == MEETING and not (has_model or item.place):
            return text("promise_nowhere", name=own_name(only_asker(context)))
        is_theirs = kind == THEIRS and bool(item.former or not item.is_own)
        if item.is_own or is_theirs or is_granted or not has_model:
            place = item.place if kind != THEIRS or is_theirs else None
            promised = THEIRS if is_theirs else OWN
            record = yield add_promise(context, item.text, promised, item.at, place, item.former)
            return agreed_words(context, record)
        why_not = why_not or NOT_GRANTED
    raise NothingDone(why_not)


def just_agreed(context: ToolContext) -> list[Record | None]:
    """Return the open promise that the latest lines made with who is answered, if any, and None."""
    other, latest = only_asker(context).dbref, context.assistant.log.view()[-2 * LATEST :]
    seqs = {message["metadata"]["seq"] for message in latest}
    open_ones = [item for item in Promises.of(context.character).open() if item["entity"] == other]
    return [*[item for item in open_ones if not seqs.isdisjoint(item["source_seqs"])][-1:], None]


def kind_of(item: Reading, scores: Mapping[str, float]) -> str:
    """Return what kind of promise a text makes or changes, "" for none."""
    names = (MEETING, THEIRS, OWN, *[CHANGE] * bool(item.former or item.place))
    kind, likely = max(names, key=lambda it: scores[it]), sum(max(scores[it], 0.0) for it in names)
    if likely < max(scores[OTHER], scores[MESSAGE]) + (UNSURE if item.place else UNPLACED):
        return ""
    if item.former:
        return str(item.former["kind"]) * (kind == CHANGE or scores[CHANGE] >= CHANGED)
    return MEETING if kind == CHANGE else kind


def agreed_words(context: ToolContext, record: Record) -> str:
    """Return how the stand-in says what was noted, "" for a model, which has said it."""
    due = due_words(record, context.assistant.world_clock)
    what = f"{due}." if record["place"] else f'"{record["content"]}"'
    agreed = text("promise_agreed", name=own_name(only_asker(context)), what=what)
    return "" if context.assistant.profile.has_model else agreed

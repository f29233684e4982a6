"""What a turn agreed on without a tool: appointments, promises and messages.

First comes structure: a line that calls nobody else, and a time to come, or the name of somebody
elsewhere. Then the embedder compares the text, without its names, places and times, with examples;
without one, nothing is read.
"""

import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from evennia.objects.objects import DefaultCharacter
from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai import models
from evennia_ai.contrib.promises import promise_tools
from evennia_ai.contrib.promises.promise_records import LETTER, OWN, THEIRS, Promises, due_words
from evennia_ai.contrib.promises.ways import place_in
from evennia_ai.contrib.promises.when import MARK, NamedTime, find_time
from evennia_ai.errors import NothingDone, StoreUnavailable
from evennia_ai.game.perception import find_object, listening_objects, objects_named_in
from evennia_ai.game.texts import text
from evennia_ai.memory.remote_vectors import LearnedKinds
from evennia_ai.messages import CLAIMED, ChatMessage, is_offline, is_puppeted
from evennia_ai.policy.conversation.addressing import NamedEntity, Names, name_parts
from evennia_ai.policy.conversation.requested_acts import ANSWERS, grants
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.terms import heard_words, own_utterances, without_names
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.store.names import own_name
from evennia_ai.store.transactions import brief_transaction
from evennia_ai.tools.memory_sources import heard

log = Logger()

MEETING, OTHER = "meeting", "other"
EXAMPLES_OF: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("examples.toml").read_text(encoding="utf-8")
)
EXAMPLES = [text for texts in EXAMPLES_OF.values() for text in texts]
PLACE, TIME = "gate", "noon"  # of the examples
# Of each of these examples told by all others, 266 of 303 are read rightly, and 15 of the 191 other
# ones wrongly (MiniLM). Of the lines of a stranger that were read unseen, 31 of 40 appointments and
# 39 of 40 messages were right in all, and 2 of 40 others were read as promises.
SHARPNESS, RIDGE, SHARED_WORDS, UNSURE = 2.0, 0.3, 1.0, 0.05
WORTH_TELLING = 0.4  # of ten lines that are none, none is told as misunderstood (at 0.2, five)
MOST_TEXTS = 8  # of a turn
LATEST = 16  # messages of the last turns
TOOLS = frozenset({"promise", "leave_message"})
# Why nothing came of a line, for `aiwhy`.
LATE = "not read as a promise: the embedder was late"
NO_MESSAGE, NO_PROMISE = "not understood as a message", "not understood as a promise"
NOT_GRANTED = "no promise: the reply does not agree"


@lru_cache(maxsize=1)
def kinds_by(_nearness: Any) -> LearnedKinds:
    """Return the kinds of texts as an embedder tells them."""
    return LearnedKinds(EXAMPLES_OF, SHARPNESS, RIDGE, SHARED_WORDS)


class Reading(NamedTuple):
    """What a text may agree on by its structure; ``compared`` is it without names and times."""

    text: str
    is_own: bool  # the character's own words
    compared: str
    moment: NamedTime | None
    place: Any
    receiver: Any  # somebody who is named, and not here
    called: str

    @property
    def message(self) -> str:
        """Return what somebody is to be told: behind a colon, or behind their name."""
        rest = self.text.partition(self.called)[2]
        words = (rest.partition(": ")[2] or rest).strip(" ,:;")
        return words if len(words.split()) > 1 else self.text

    def kind(self, scores: Mapping[str, float]) -> str:
        """Return the likeliest kind that is possible, `OTHER` if that is not sure."""
        best = self.likeliest(scores)
        return best if scores[best] >= scores[OTHER] + UNSURE else OTHER

    def likeliest(self, scores: Mapping[str, float]) -> str:
        able = {MEETING: self.moment, THEIRS: self.moment, OWN: self.moment, LETTER: self.receiver}
        return max((kind for kind in able if able[kind]), key=lambda kind: scores[kind])

    def why_not(self, scores: Mapping[str, float]) -> str:
        """Return why nothing came of the text, "" if it is not like what is read."""
        likeliest = self.likeliest(scores)
        if self.kind(scores) != OTHER:
            return NOT_GRANTED
        likely = scores[likeliest] >= WORTH_TELLING
        return (NO_MESSAGE if likeliest == LETTER else NO_PROMISE) * likely


def read_structure(
    words: str, is_own: bool, character: Any, others: Sequence[Any], now: float
) -> Reading | None:
    """Return what a text names, None if it names no time to come and nobody but ``others``."""
    clock = character.ai_mind.services.world_clock
    place, named, moment = None, "", find_time(words, clock, now)
    if moment:  # without the place's name: "deck 3"
        place, named = place_in(words, character)
        moment = find_time(words.replace(named, PLACE) if named else words, clock, now)
    people = {} if is_own else objects_named_in(words)
    absent = [obj for obj in people if isinstance(obj, DefaultCharacter) and obj not in others]
    receiver = absent[0] if absent else None
    if not (moment or receiver):
        return None
    masked = moment.rest.replace(MARK, TIME) if moment else words
    called = people.get(receiver, "")
    compared = without_names(masked, [called] if called else [])
    return Reading(words, is_own, compared, moment, place, receiver, called)


def read_last_turns(mind: Any, turns: int, late: bool = False) -> None:
    """Store what the last turns agreed on without a tool.

    ``late``: it was said before this process, and whom a message is for may have come meanwhile.
    What the stand-in answers is read by `answer_instead`, before it is said.
    """
    by_turn: dict[int | None, list[ChatMessage]] = {}
    for message in mind.log.view()[-LATEST:]:
        by_turn.setdefault(message["metadata"].get("turn_id"), []).append(message)
    for messages in list(by_turn.values())[-turns:]:
        calls = (call for message in messages for call in message.get("tool_calls") or ())
        used = {call["function"]["name"] for call in calls}
        if used.isdisjoint(TOOLS) and mind.tool_executor.tools.profile.has_model:
            read_turn(mind, messages, late)


@inlineCallbacks
def read_turn(mind: Any, messages: Sequence[ChatMessage], late: bool) -> Coroutine[None]:
    """Store what the messages of a turn with one person agree on, once; never fails."""
    character, name = mind.who.character, mind.who.name
    lines = lines_said(messages, character)
    person = frozenset(m["metadata"]["speaker"] for m in lines)
    if len(person) != 1 or not character.location:
        return
    own = [m for m in messages if m["role"] == "assistant"]
    own = [m for m in own if not (is_offline(m) or is_puppeted(m))]
    replies = [words for m in own for _source, words in own_utterances(m, name)]
    private = any(m["metadata"].get("private") for m in (*lines, *own))
    context = ToolContext(
        assistant=mind.tool_executor.tools,
        character=character,
        audience=person if private else mind.services.world.listeners(character) | person,
        private=private,
        speakers=person,
        askers=person,
    )
    store, seqs = Promises.of(character), {m["metadata"]["seq"] for m in lines}
    yield store.load(mind.services.slices.put)
    if not any(seqs.intersection(record["source_seqs"]) for record in store.every()):
        yield read_lines(context, lines, replies, late)


@inlineCallbacks
def answer_instead(context: ToolContext) -> Coroutine[str]:
    """Store what the open turn agrees on. Fires with what the stand-in says to it, or ""."""
    if context.assistant.profile.has_model or len(context.askers) != 1:
        return ""
    lines = lines_said(heard(context)[::-1], context.character)
    lines = [m for m in lines if m["metadata"]["speaker"] in context.askers]
    known, kept = tuple(m["metadata"]["seq"] for m in lines), context.character.ndb.ai_agreed
    if kept and kept[0] == known:  # asked again, with the reason
        return str(kept[1])
    answer: str = yield read_lines(replace(context, speakers=context.askers), lines, ())
    context.character.ndb.ai_agreed = (known, answer)
    return answer


def lines_said(messages: Sequence[ChatMessage], character: Any) -> list[ChatMessage]:
    """Return what others said, without what calls somebody else by name."""
    own = (None, "", character.dbref)
    lines = [m for m in messages if m["role"] == "user" and m["metadata"].get("speaker") not in own]
    lines = [m for m in lines if m["metadata"].get("evidence") == CLAIMED]
    return [m for m in lines if not calls_another(heard_words(m["content"]), character)]


def calls_another(words: str, character: Any) -> bool:
    """Return True for a line that calls others of the game by name, and not the character."""
    people = [obj for obj in objects_named_in(words) if isinstance(obj, DefaultCharacter)]
    named = [NamedEntity(obj.dbref, (obj.key,)) for obj in people if obj is not character]
    own = NamedEntity(character.dbref, (character.key,), name_parts(character.key))
    called = Names([*named, own]).calls(words) if named else []
    return bool(called) and not any(character.dbref in ids for ids in called)


@inlineCallbacks
def read_lines(
    context: ToolContext, lines: Sequence[ChatMessage], replies: Sequence[str], late: bool = False
) -> Coroutine[str]:
    """Store what lines and the replies to them agree on. Fires with the answer; never fails."""
    mind, character, speaker = (
        context.assistant,
        context.character,
        find_object(min(context.askers)),
    )
    if not (lines and speaker and mind.services.embedder):
        return ""
    services: Any = mind.services
    said_at, clock, nearness = lines[-1]["metadata"]["at"], mind.world_clock, services.nearness
    sources = tuple(m["metadata"]["seq"] for m in lines)
    context = replace(context, source_seqs=sources, said_at=said_at)
    now = clock.seconds() - (clock.passed(datetime.fromisoformat(said_at)) if late else 0.0)
    others = [character, speaker, *(() if late else listening_objects(character))]
    spoken = [(without_address(heard_words(m["content"]), mind.name), False) for m in lines]
    texts = [
        (part.strip(), is_own)
        for words, is_own in (*spoken, *((reply, True) for reply in replies))
        for part in (words, *sentences(words))
    ]
    readings = [
        reading
        for words, is_own in [*dict.fromkeys(texts)][:MOST_TEXTS]
        if (reading := read_structure(words, is_own, character, others, now))
    ]
    if not readings:
        return ""
    compared, reply = [reading.compared for reading in readings], " ".join(replies)
    kinds = kinds_by(nearness)
    yield nearness.prepare(services, [*compared, reply, *ANSWERS, *kinds.examples])
    if not nearness.cosines(compared[0], kinds.examples):
        tell_why_not(lines, LATE)
        return ""
    for _step in kinds.learn_steps(nearness.cosines):
        yield yield_to_reactor(services.slices.put)
    try:
        for reading in readings:
            answer: str = yield agree(context, reading, speaker, reply)
            if answer:
                return answer
    except (NothingDone, StoreUnavailable) as error:
        log.info("{name}: nothing was promised: {error}", name=mind.name, error=error)
        tell_why_not(lines, f"not noted: {error}")
        return ""
    whys = (item.why_not(kinds.scores(item.compared, nearness.cosines)) for item in readings)
    tell_why_not(lines, next(filter(None, whys), ""))
    return ""


def tell_why_not(lines: Sequence[ChatMessage], why: str) -> None:
    """Store why nothing was noted of lines with their events, if there is a reason."""
    ids = [id_ for line in lines if (id_ := line["metadata"].get("event_id"))] if why else []
    if not ids:
        return
    with suppress(StoreUnavailable), brief_transaction():
        for event in models.Event.objects.filter(id__in=ids).exclude(reason__contains=why):
            event.reason = f"{event.reason}; {why}" if event.reason else why
            event.save(update_fields=["reason"])


@inlineCallbacks
def agree(context: ToolContext, reading: Reading, speaker: Any, reply: str) -> Coroutine[str]:
    """Store what a text agrees on, if it is the character's own, or its reply grants it.

    Fires with the answer of the stand-in, whose replies agree to nothing: it agrees to meet, says
    what was noted, and does not know a place without a way; "" for none.
    """
    mind: Any = context.assistant
    nearness, moment = mind.services.nearness, reading.moment
    scores = kinds_by(nearness).scores(reading.compared, nearness.cosines)
    kind, without_model = reading.kind(scores), not mind.profile.has_model
    if kind == LETTER:
        receiver = promise_tools.find_receiver(context, reading.receiver.key, absent=False)
        yield promise_tools.add_letter(context, reading.message, receiver)
        return text("letter_agreed", name=own_name(receiver))
    if kind == MEETING and without_model and not reading.place:
        return text("promise_nowhere", name=own_name(speaker))
    is_theirs = kind == THEIRS and not reading.is_own
    agrees = reading.is_own or is_theirs or (without_model and reading.place)
    cosines = [] if agrees or without_model else nearness.cosines(reply, ANSWERS)
    if moment is None or kind == OTHER or not (agrees or (cosines and grants(cosines))):
        return ""
    promised = THEIRS if is_theirs else OWN
    place = reading.place if kind != THEIRS or is_theirs else None
    record = yield promise_tools.add_promise(
        context, reading.text, promised, speaker, moment.at, place
    )
    due = due_words(record, mind.world_clock)
    what = f"{due}." if record["place"] else f'"{reading.text}"'
    return text("promise_agreed", name=own_name(speaker), what=what)

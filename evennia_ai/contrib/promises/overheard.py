"""What a turn agreed on without a tool: appointments, promises and messages.

First comes structure: a line that calls nobody else, a time to come and a place that can be
reached, or the name of somebody elsewhere. Then the embedder compares the sentence with
examples; without one, nothing is read.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from evennia.objects.objects import DefaultCharacter
from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config.profiles import OFFLINE
from evennia_ai.contrib.promises import promise_tools
from evennia_ai.contrib.promises.promise_records import LETTER, OWN, THEIRS, Promises
from evennia_ai.contrib.promises.promise_words import due_words, speak_to
from evennia_ai.contrib.promises.ways import place_in
from evennia_ai.contrib.promises.when import find_time
from evennia_ai.errors import NothingDone, StoreUnavailable
from evennia_ai.game.perception import find_object, objects_named_in
from evennia_ai.game.texts import text
from evennia_ai.memory.remote_vectors import LearnedKinds
from evennia_ai.messages import CLAIMED, ChatMessage, is_offline, is_puppeted
from evennia_ai.policy.conversation.addressing import NamedEntity, Names, name_parts
from evennia_ai.policy.conversation.requested_acts import ANSWERS, grants
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.terms import heard_words, own_utterances, without_names
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import own_name
from evennia_ai.tools.memory_sources import heard

log = Logger()

MEETING, OTHER = "meeting", "other"
LISTED: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("examples.toml").read_text(encoding="utf-8")
)
# By `LearnedKinds` of these examples, 100 of 132 are read rightly by all others, and 5 of
# the 52 other ones wrongly (MiniLM); by the mean of the nearest three it is 78, and 6.
SHARPNESS, RIDGE = 1.0, 0.3
MEANT = 0.15  # of a sentence that names a time and a place, and whose answer must agree
MOST_SENTENCES = 6
LEAD = re.compile(
    r"\A(?:[^:]{0,60}:\s+|(?:\w+ )?(?:that|dass) )", re.IGNORECASE
)  # before a message


@lru_cache(maxsize=1)
def kinds_by(nearness: Any) -> LearnedKinds:
    """Return the kinds of sentences as an embedder tells them."""
    return LearnedKinds(LISTED, SHARPNESS, RIDGE)


def kind_of(sentence: str, possible: Sequence[str], nearness: Any, meant: float = 0.0) -> str:
    """Return which possible kind a prepared sentence is of, `OTHER` if that is not sure.

    ``meant`` is how much nearer to a meeting it counts.
    """
    scores = kinds_by(nearness).scores(sentence, nearness.cosines)
    if not scores:
        return OTHER
    scores[MEETING] += meant
    best = max(possible, key=lambda kind: scores[kind])
    return best if scores[best] >= scores[OTHER] else OTHER


@inlineCallbacks
def read_turn(mind: Any, messages: Sequence[ChatMessage], late: bool = False) -> Coroutine[None]:
    """Store what the messages of a turn with one person agree on; never fails.

    ``late``: it was said before this process, and whom a message is for may have come meanwhile.
    What the stand-in answers is read by `answer_instead`.
    """
    tools: Any = mind.tool_executor.tools
    character, name = mind.who.character, mind.who.name
    lines = lines_said(messages, character)
    person = frozenset(m["metadata"]["speaker"] for m in lines)
    if len(person) != 1 or (is_stand_in(tools) and not late) or not character.location:
        return
    own = [m for m in messages if m["role"] == "assistant"]
    own = [m for m in own if not (is_offline(m) or is_puppeted(m))]
    replies = [words for m in own for _source, words in own_utterances(m, name)]
    private = any(m["metadata"].get("private") for m in (*lines, *own))
    context = ToolContext(
        assistant=tools,
        character=character,
        audience=person if private else mind.services.world.listeners(character) | person,
        private=private,
        speakers=person,
        askers=person,
    )
    store, seqs = Promises.of(character), {m["metadata"]["seq"] for m in lines}
    yield store.load(mind.services.slices.put)
    if any(seqs.intersection(record["source_seqs"]) for record in store.every()):
        return  # an earlier process read it
    answer = yield read_lines(context, lines, replies, late)
    speaker = find_object(min(person))
    if answer and is_stand_in(tools) and speaker and speaker.location is character.location:
        speak_to(character, speaker, answer, private, context.all_authors)


@inlineCallbacks
def answer_instead(context: ToolContext) -> Coroutine[str]:
    """Store what the open turn agrees on. Fires with what the stand-in says to it, or ""."""
    if not is_stand_in(context.assistant) or len(context.askers) != 1:
        return ""
    lines = lines_said(heard(context)[::-1], context.character)
    lines = [m for m in lines if m["metadata"]["speaker"] in context.askers]
    known, kept = tuple(m["metadata"]["seq"] for m in lines), context.character.ndb.ai_agreed
    if kept and kept[0] == known:  # asked again, with the reason
        return str(kept[1])
    answer: str = yield read_lines(replace(context, speakers=context.askers), lines, ())
    context.character.ndb.ai_agreed = (known, answer)
    return answer


def is_stand_in(mind: Any) -> bool:
    return bool(mind.profile.client == OFFLINE["client"])


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
    mind = context.assistant
    if not (lines and mind.services.embedder):
        return ""
    words = [without_address(heard_words(m["content"]), mind.name) for m in lines]
    parts = [(part.strip(), False) for text in words for part in sentences(text)]
    parts += [(part.strip(), True) for text in replies for part in sentences(text)]
    sources = tuple(m["metadata"]["seq"] for m in lines)
    context = replace(context, source_seqs=sources, said_at=lines[-1]["metadata"]["at"])
    try:
        for sentence, is_own in parts[:MOST_SENTENCES]:
            answer: str = yield read_sentence(context, sentence, is_own, " ".join(replies), late)
            if answer:
                return answer
    except (NothingDone, StoreUnavailable) as error:
        log.info("{name}: nothing was promised: {error}", name=mind.name, error=error)
    return ""


@inlineCallbacks
def read_sentence(
    context: ToolContext, sentence: str, is_own: bool, reply: str, late: bool
) -> Coroutine[str]:
    """Store what a sentence agrees on, in the character's own words or answered by a reply.

    Fires with the answer of the stand-in, whose replies agree to nothing: it agrees to meet, says
    what was noted, and does not know a place without a way; "" for none.
    """
    mind, character = context.assistant, context.character
    speaker = find_object(min(context.askers))
    moment, (receiver, called) = find_time(sentence, mind.world_clock), (None, "")
    if not is_own:
        receiver, called = named_in(sentence, character)
    if not (speaker and (moment or receiver)):
        return ""
    place = place_in(sentence, character) if moment else None
    without_model = is_stand_in(mind)
    is_meeting = moment and (place or without_model)
    able = {MEETING: is_meeting, THEIRS: moment, OWN: moment, LETTER: receiver}
    possible = [name for name, item in able.items() if item]
    compared = without_names(sentence, [called] if called else [])
    nearness: Any = mind.services.nearness
    yield nearness.prepare(mind.services, [compared, reply, *ANSWERS, *kinds_by(nearness).examples])
    kind = kind_of(compared, possible, nearness, 0.0 if without_model else MEANT)
    if kind == MEETING and not place:
        return text("promise_nowhere", name=own_name(speaker))
    is_theirs = kind == THEIRS and not is_own
    agrees = is_own or is_theirs or (without_model and kind == MEETING)
    cosines = [] if agrees or without_model else nearness.cosines(reply, ANSWERS)
    if kind == LETTER and receiver:
        promise_tools.find_receiver(context, receiver.key, absent=not late)
        yield promise_tools.add_letter(context, letter_in(sentence, called), receiver)
        return text("letter_agreed", name=own_name(receiver))
    if kind != OTHER and moment and (agrees or (cosines and grants(cosines))):
        promised, where = THEIRS if is_theirs else OWN, place if kind != THEIRS else None
        record = yield promise_tools.add_promise(
            context, sentence, promised, speaker, moment.at, where
        )
        due = due_words(record, mind.world_clock)
        what = f"{due}." if record["place"] else f'"{sentence}"'
        return text("promise_agreed", name=own_name(speaker), what=what)
    return ""


def letter_in(sentence: str, called: str) -> str:
    """Return what somebody is to be told: behind a colon, or behind "that" after their name."""
    rest = sentence.partition(called)[2].strip(" ,:;")
    lead = LEAD.match(rest)
    words = rest[lead.end() :] if lead else rest
    return words if len(words.split()) > 1 else sentence


def named_in(sentence: str, character: Any) -> tuple[Any, str]:
    """Return the first character whom a sentence names, and how; (None, "") for none."""
    people = (
        (obj, name)
        for obj, name in objects_named_in(sentence).items()
        if obj is not character and isinstance(obj, DefaultCharacter)
    )
    return next(people, (None, ""))

"""What a turn agreed on without a tool: appointments, promises and messages.

First comes structure: a time to come and a place that can be reached, or the name of somebody
elsewhere. Then the embedder compares the sentence with examples; without one, nothing is read.
"""

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from evennia.objects.objects import DefaultCharacter
from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config.profiles import OFFLINE
from evennia_ai.contrib.promises import promise_tools
from evennia_ai.contrib.promises.promise_records import LETTER, OWN, THEIRS, Promises
from evennia_ai.contrib.promises.promise_words import speak_to
from evennia_ai.contrib.promises.ways import place_in
from evennia_ai.contrib.promises.when import find_time
from evennia_ai.errors import NothingDone, StoreUnavailable
from evennia_ai.game.perception import find_object, objects_named_in
from evennia_ai.game.texts import text
from evennia_ai.memory.remote_vectors import LearnedKinds
from evennia_ai.messages import ChatMessage, is_offline, is_puppeted
from evennia_ai.policy.conversation.requested_acts import ANSWERS, grants
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.terms import heard_words, own_utterances, without_names
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import own_name

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
    """
    own_number = mind.who.character.dbref
    lines = [m for m in messages if m["role"] == "user"]
    lines = [m for m in lines if m["metadata"].get("speaker") not in (None, "", own_number)]
    person = frozenset(m["metadata"]["speaker"] for m in lines)
    if len(person) != 1 or not (mind.who.character.location and mind.services.embedder):
        return
    name = mind.who.name
    lines_said = [without_address(heard_words(m["content"]), name) for m in lines]
    own = [m for m in messages if m["role"] == "assistant"]
    own = [m for m in own if not (is_offline(m) or is_puppeted(m))]
    replies = [words for m in own for _source, words in own_utterances(m, name)]
    parts = [(part.strip(), False) for words in lines_said for part in sentences(words)]
    parts += [(part.strip(), True) for words in replies for part in sentences(words)]
    private = any(m["metadata"].get("private") for m in (*lines, *own))
    context = ToolContext(
        assistant=mind.tool_executor.tools,
        character=mind.who.character,
        audience=person if private else mind.services.world.listeners(mind.who.character) | person,
        private=private,
        speakers=person,
        askers=person,
        source_seqs=tuple(m["metadata"]["seq"] for m in lines),
        said_at=lines[-1]["metadata"]["at"],
    )
    store, seqs = Promises.of(mind.who.character), set(context.source_seqs)
    yield store.load(mind.services.slices.put)
    if any(seqs.intersection(record["source_seqs"]) for record in store.every()):
        return  # an earlier process read it
    try:
        for sentence, is_own in parts[:MOST_SENTENCES]:
            is_stored = yield read_sentence(context, sentence, is_own, " ".join(replies), late)
            if is_stored:
                return
    except (NothingDone, StoreUnavailable) as error:
        log.info("{name}: nothing was promised: {error}", name=name, error=error)


@inlineCallbacks
def read_sentence(
    context: ToolContext, sentence: str, is_own: bool, reply: str, late: bool
) -> Coroutine[bool]:
    """Store what a sentence agrees on, in the character's own words or answered by a reply.

    Fires with True if that is something. The stand-in, whose replies agree to nothing, agrees to
    meet, and says what was noted.
    """
    mind, character = context.assistant, context.character
    speaker = find_object(min(context.askers))
    moment, (receiver, called) = find_time(sentence, mind.world_clock), (None, "")
    if not is_own:
        receiver, called = named_in(sentence, character)
    if not (speaker and (moment or receiver)):
        return False
    place = place_in(sentence, character) if moment else None
    able = {MEETING: place, THEIRS: moment, OWN: moment, LETTER: receiver}
    possible = [name for name, item in able.items() if item]
    compared = without_names(sentence, [called] if called else [])
    nearness: Any = mind.services.nearness
    without_model = mind.profile.client == OFFLINE["client"]
    yield nearness.prepare(mind.services, [compared, reply, *ANSWERS, *kinds_by(nearness).examples])
    kind = kind_of(compared, possible, nearness, 0.0 if without_model else MEANT)
    is_theirs = kind == THEIRS and not is_own
    agrees = is_own or is_theirs or (without_model and kind == MEETING)
    cosines = [] if agrees or without_model else nearness.cosines(reply, ANSWERS)
    if kind == LETTER and receiver:
        rest = sentence.partition(called)[2].strip(" ,:;")
        words = rest if len(rest.split()) > 1 else sentence
        promise_tools.find_receiver(context, receiver.key, absent=not late)
        yield promise_tools.add_letter(context, words, receiver)
        answer = text("letter_agreed", name=own_name(receiver))
    elif kind != OTHER and moment and (agrees or (cosines and grants(cosines))):
        promised, where = THEIRS if is_theirs else OWN, place if kind != THEIRS else None
        yield promise_tools.add_promise(context, sentence, promised, speaker, moment.at, where)
        answer = text("promise_agreed", name=own_name(speaker), what=f'"{sentence}"')
    else:
        return False
    if without_model and speaker.location is character.location:
        speak_to(character, speaker, answer, context.private, context.all_authors)
    return True


def named_in(sentence: str, character: Any) -> tuple[Any, str]:
    """Return the first character whom a sentence names, and how; (None, "") for none."""
    people = (
        (obj, name)
        for obj, name in objects_named_in(sentence).items()
        if obj is not character and isinstance(obj, DefaultCharacter)
    )
    return next(people, (None, ""))

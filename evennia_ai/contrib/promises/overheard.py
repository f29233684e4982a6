"""What a turn agreed on without a tool: appointments, promises and messages.

First comes structure: a time to come and a place that can be reached, or the name of somebody
elsewhere. Then the embedder compares the sentence with examples; without one, nothing is read.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config.profiles import OFFLINE
from evennia_ai.contrib.promises import promise_tools
from evennia_ai.contrib.promises.promise_records import LETTER, OWN, THEIRS
from evennia_ai.contrib.promises.promise_words import speak_to
from evennia_ai.contrib.promises.ways import place_in
from evennia_ai.contrib.promises.when import find_time
from evennia_ai.errors import NothingDone, StoreUnavailable
from evennia_ai.game.perception import find_object
from evennia_ai.game.texts import text
from evennia_ai.messages import ChatMessage, is_offline
from evennia_ai.policy.conversation.requested_acts import ANSWERS, grants
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.terms import heard_words, own_utterances, without_names
from evennia_ai.policy.texts import listed_examples, sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.names import own_name

log = Logger()

MEETING, OTHER = "meeting", "other"
EXAMPLES = {
    MEETING: """Meet me at the gate at dusk. | Let us meet tomorrow at the harbour. | Wait for me
        in the square at noon. | Be at the old mill tonight. | Come to my house on Friday evening.
        | Shall we meet at the inn in two hours? | I will see you at the bridge at six. | I will
        wait for you at the well at midnight.""",
    THEIRS: """I will bring you the rope tomorrow. | I will pay you back on Friday. | You will have
        your lamp by tonight. | I promise to come back with the money in two days. | I'll return
        your book tomorrow. | You get it by noon, I swear. | I'll be back in an hour with your
        bread. | I shall give it to you on Monday.""",
    OWN: """Bring me the sword tomorrow. | Have the ale ready by noon. | Can you mend my boots by
        Friday? | Wake me at dawn. | Please finish my coat in three days. | Repair the roof by
        tomorrow. | Fetch me some water at dusk. | Will you cook for us on Sunday?""",
    LETTER: """Tell someone that the boat is ready. | Give someone my regards when you see her. |
        Let someone know that I will be late. | If you see someone, say that I am well. | Please
        pass this on to someone: the door is open. | I have a message for someone. | Tell someone
        that I love her. | Remind someone that he owes me money. | Tell someone to wait for me. |
        Could you let someone know that I found it? | When you see someone, tell her I lost her
        cat. | Someone must know that I left.""",
    OTHER: """What happened at the mill yesterday? | The market opens at dawn. | The ship sails on
        Friday. | I met him at the gate last night. | Who was here tonight? | Tell me about
        someone. | Where is someone? | I was at the harbour at noon. | Do you work tomorrow? | I
        have a headache today. | What do you sell? | He said that he comes tomorrow. | When does
        the inn close? | Someone told me that you sell rope. | Do you know someone? | It will rain
        tomorrow. | Did someone tell you that? | The bells ring at noon. | What did someone say
        about me? | Someone is my friend. | What are you doing tonight? | What do you do at the mill at dusk?
        | Is the gate closed at night? | The guard stands at the bridge until midnight.""",
}
LISTED = {kind: listed_examples(lines) for kind, lines in EXAMPLES.items()}
COMPARED = [line for lines in LISTED.values() for line in lines]
NEAREST = 2  # examples of a kind that a sentence is compared with
LEAST, MORE = 0.35, 0.02  # nearness to a kind, and how much nearer than to any other talk
NAME = re.compile(r"\b[^\W\d_][\w'-]+")
FAR = 0.1  # how much nearer it may be to a kind that is not possible
MOST_SENTENCES = 6


def kind_of(cosines: Sequence[float], possible: Iterable[str]) -> str:
    """Return which possible kind a sentence is of, by its cosines to `COMPARED`; else `OTHER`."""
    rest, means = iter(cosines), dict[str, float]()
    for kind, lines in LISTED.items():
        nearest = sorted((value for _, value in zip(lines, rest, strict=False)), reverse=True)
        means[kind] = sum(nearest[:NEAREST]) / NEAREST
    best = max(possible, key=lambda kind: means[kind])
    least = max(LEAST, means[OTHER] + MORE, max(means.values()) - FAR)
    return best if means[best] >= least else OTHER


@inlineCallbacks
def read_turn(mind: Any, messages: Sequence[ChatMessage]) -> Coroutine[None]:
    """Store what the messages of a turn with one person agree on; never fails."""
    own_number = mind.who.character.dbref
    lines = [m for m in messages if m["role"] == "user"]
    lines = [m for m in lines if m["metadata"].get("speaker") not in (None, "", own_number)]
    person = frozenset(m["metadata"]["speaker"] for m in lines)
    if len(person) != 1 or mind.who.character.location is None:
        return
    name = mind.who.name
    lines_said = [without_address(heard_words(m["content"]), name) for m in lines]
    own = [m for m in messages if m["role"] == "assistant" and not is_offline(m)]
    replies = [words for m in own for _source, words in own_utterances(m, name)]
    parts = [(part.strip(), False) for words in lines_said for part in sentences(words)]
    parts += [(part.strip(), True) for words in replies for part in sentences(words)]
    private = any(m["metadata"].get("private") for m in lines)
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
    try:
        for sentence, is_own in parts[:MOST_SENTENCES]:
            is_stored = yield read_sentence(context, sentence, is_own, " ".join(replies))
            if is_stored:
                return
    except (NothingDone, StoreUnavailable) as error:
        log.info("{name}: nothing was promised: {error}", name=name, error=error)


@inlineCallbacks
def read_sentence(context: ToolContext, sentence: str, is_own: bool, reply: str) -> Coroutine[bool]:
    """Store what a sentence agrees on, in the character's own words or answered by a reply.

    Fires with True if that is something. The stand-in, whose replies agree to nothing, agrees to
    meet, and says what was noted.
    """
    mind, character, speaker = (
        context.assistant,
        context.character,
        find_object(min(context.askers)),
    )
    moment, receiver = find_time(sentence, mind.world_clock), absent_in(sentence, is_own, character)
    if speaker is None or (moment is None and receiver is None):
        return False
    place = place_in(moment.rest, character) if moment else None
    possible = {MEETING: place, THEIRS: moment, OWN: moment, LETTER: receiver}
    compared = without_names(sentence, [receiver.key] if receiver else [])
    nearness, without_model = mind.services.nearness, mind.profile.client == OFFLINE["client"]
    yield nearness.prepare(mind.services, [compared, reply, *ANSWERS, *COMPARED])
    cosines = nearness.cosines(compared, COMPARED)
    kind = kind_of(cosines, [name for name, item in possible.items() if item]) if cosines else OTHER
    is_theirs = kind == THEIRS and not is_own
    cosines = nearness.cosines(reply, ANSWERS)
    agrees = is_own or is_theirs or bool(cosines and not without_model and grants(cosines))
    if kind == LETTER and receiver:
        rest = sentence.partition(receiver.key)[2].strip(" ,:;")
        words = rest if len(rest.split()) > 1 else sentence
        promise_tools.find_receiver(context, receiver.key)
        yield promise_tools.add_letter(context, words, receiver)
        answer = text("letter_agreed", name=own_name(receiver))
    elif (
        moment
        and kind in (MEETING, OWN, THEIRS)
        and (agrees or (without_model and kind == MEETING))
    ):
        promised, where = THEIRS if is_theirs else OWN, place if kind == MEETING else None
        yield promise_tools.add_promise(context, sentence, promised, speaker, moment.at, where)
        answer = text("promise_agreed", name=own_name(speaker), what=f'"{sentence}"')
    else:
        return False
    if without_model and speaker.location is character.location:
        speak_to(character, speaker, answer, context.private, context.all_authors)
    return True


def absent_in(sentence: str, is_own: bool, character: Any) -> Any | None:
    """Return the one character whom words to this one name, None for none or several."""
    names = {name for name in NAME.findall(sentence) if name[0].isupper() and not is_own}
    people = [item for item in promise_tools.characters_named(*names) if item is not character]
    return people[0] if len(people) == 1 else None

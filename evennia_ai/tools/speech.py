"""Tools to speak, whisper and emote. Private words never reach others (P9)."""

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.translation import gettext
from evennia.objects.models import ObjectDB
from pydantic import BaseModel

from evennia_ai.errors import NothingDone
from evennia_ai.game import perception
from evennia_ai.game.client_notices import introduce, word_mark
from evennia_ai.game.client_text import as_shown
from evennia_ai.game.room_lines import Utterance
from evennia_ai.messages import EMOTED, SAID, SAY, WHISPER, WHISPERED
from evennia_ai.policy.audience import may_be_said, of_record
from evennia_ai.policy.conversation.tool_call_rules import FINAL, ONCE
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import RecordStore, ToolContext, ToolResult
from evennia_ai.store.transactions import brief_transaction, store_errors
from evennia_ai.tools.base import tool
from evennia_ai.tools.registry import note_circumstances
from evennia_ai.tools.tool_relevance import is_in_company
from evennia_ai.turn.tool_executor import DONE

LOOK_S = 30.0  # at most, while something is to tell: the world's clock may have been set


class TextArguments(BaseModel):
    """Words for everybody here, or something done for others to see."""

    text: str


class WhisperArguments(TextArguments):
    """Words for one person."""

    target: str = ""


@tool("say", category=FINAL)
def say(context: ToolContext, arguments: TextArguments) -> str | ToolResult:
    """Speak aloud. Ends your turn."""
    present = those_present(context)
    if context.whispered or not may_be_heard_by(context, present):
        return deliver_whisper(context, arguments.text, confidants(context, present))
    speak(context, arguments.text)
    return SAID


@tool("whisper", category=FINAL, needed=is_in_company)
def whisper(context: ToolContext, arguments: WhisperArguments) -> ToolResult:
    """Speak to one person alone. Ends your turn."""
    present = those_present(context)
    receivers = confidants(context, present)
    if arguments.target:
        target = perception.find_named(arguments.target, present, context.character)
        receivers = [target] if target else []
    if not receivers:
        names = ", ".join(perception.display_name(person, context.character) for person in present)
        here = f"Here are: {names}." if names else "Nobody is here."
        raise NothingDone(f"Nobody of that name is here to hear you. {here}")
    if not may_be_heard_by(context, receivers):
        raise NothingDone("What was told you in confidence is not for that person.")
    return deliver_whisper(context, arguments.text, receivers)


@tool("emote", category=ONCE)
def emote(context: ToolContext, arguments: TextArguments) -> str:
    """Do something others see: 'wipes a mug.'"""
    present = those_present(context)
    if not may_be_heard_by(context, present):
        raise NothingDone("Others would see that, and this talk is private: whisper instead.")
    character, words = context.character, clean_words(context, arguments.text)
    for person in present:
        introduce(character, person)
    if perception.has_short_description(character):
        deed, mapping = perception.with_people(words, character, present)
        show(character, deed, "pose", actor=perception.SentenceStart(character), **mapping)
    else:
        show(character, "{deed}", "pose", actor=character, deed=as_shown(words))
    return EMOTED


def those_present(context: ToolContext) -> list[Any]:
    """Return everybody who would hear; raises NothingDone if nobody who waits is present."""
    present = perception.listening_objects(context.character)
    here = frozenset(listener.dbref for listener in present)
    if context.waiting and not context.waiting & here:
        raise NothingDone("Those you would answer are not here any more.")
    return present


def clean_words(context: ToolContext, text: str) -> str:
    """Return the model's text as the character's words: cleaned, cut, and changed by its hook."""
    character, name = context.character, context.assistant.name
    if character.location is None:
        raise NothingDone("You are nowhere: nobody can hear or see you.")
    limit = context.assistant.config.max_speech_chars
    words = spoken_words(text, name, limit)
    words = spoken_words(character.at_ai_say(words) or "", name, limit)
    if not words:
        raise NothingDone("There were no words in that.")
    return words


def speak(context: ToolContext, text: str, **manner: Any) -> None:
    """Let the character speak, escaped for clients; the game's hook may change or forbid that."""
    character, words = context.character, clean_words(context, text)
    escaped = as_shown(words)
    changed = character.at_pre_say(escaped, **manner)
    if not changed:
        raise NothingDone("You cannot speak.")
    shown = perception.bare_words(str(changed))
    raw = words if shown == escaped else perception.plain(shown, len(shown))
    receivers = manner.get("receivers", ())
    for person in receivers or perception.listening_objects(character):
        introduce(character, person)
    character.ndb.ai_utterance = Utterance(raw, receivers, bool(receivers))
    try:
        if shown == str(changed) or receivers:
            character.at_say(shown, **manner, **marking())
        else:  # the game reports speech by an emote
            words_heard = perception.QuotedSpeech(character, shown)
            show(
                character,
                "says, {words}",
                "say",
                actor=perception.SentenceStart(character),
                words=words_heard,
            )
    finally:
        character.ndb.ai_utterance = None


def keep_looking(character: Any, kind: str, look: Callable[[Any], float | None]) -> None:
    """Let code look soon at a character with a mind, and then whenever it says, in seconds.

    ``kind`` is that of the records which say what is to do. Nobody is looked at while the service
    takes no words.
    """

    def look_again() -> float | None:
        mind = getattr(character, "ai_mind", None) if character.pk else None
        if mind is None:
            return None
        with store_errors():
            return look(character) if mind.services.accepting else LOOK_S

    if mind := getattr(character, "ai_mind", None):
        mind.services.timer.keep((kind, character.id), 0.0, look_again)


def look_at_all(services: Any, kinds: Iterable[str], attend: Callable[[Any], object]) -> None:
    """Attend to each character with records of some kinds, for what earlier processes left."""

    def look() -> None:
        with store_errors():
            rows = ObjectDB.objects.filter(db_attributes__db_attrtype__in=kinds)
            for character in rows.distinct():
                attend(character)

    services.timer.keep(kinds, 0.0, look)


def tell_once(store: RecordStore, record: Record, words: str, person: Any, **changes: Any) -> None:
    """Let code speak for a character, and change the record that tells of it, in one transaction.

    Only the person hears of a private record. Raises StoreUnavailable; nothing is done if a hook of
    the game forbids the words. The log has them as words that the character's mind did not choose.
    """
    character, is_private = store.obj, record["audience"] is not None
    manner = {"receivers": [person], "whisper": True} if is_private else {}
    mind, listeners = character.ai_mind, character.ai_mind.around.world.listeners(character)
    context = ToolContext(
        assistant=mind.tool_executor.tools,
        character=character,
        audience=frozenset({person.dbref}) if is_private else listeners,
        private=is_private,
        speakers=frozenset(),
        authors=of_record(record),
        waiting=listeners,
    )
    note_circumstances(context)
    try:
        # Clients get the words when the reactor goes on: not before they are stored.
        with brief_transaction(characters=[character.id]):
            store.update(record["id"], **changes)
            speak(context, words, **manner)
            mind.hearing.note_own(WHISPER if is_private else SAY, words, context)
    except BaseException as error:
        store.unload()
        if not isinstance(error, NothingDone):
            raise
    finally:
        character.ndb.ai_confidants = character.ndb.ai_authors = None


def show(character: Any, template: str, kind: str, **mapping: Any) -> None:
    """Show a sentence that begins with the actor to everybody in the character's place."""
    mark = word_mark()
    deed = mapping.get("deed", template)
    gap = "" if deed.startswith(("'s ", "’s ")) else " "  # "Mira's eyes narrow."
    character.location.msg_contents(
        ("{actor}" + gap + template + " {mark}" * bool(mark), {"type": kind}),
        from_obj=character,
        mapping={**mapping, "mark": as_shown(mark)},
    )


def marking() -> dict[str, Any]:
    """Return the arguments of ``at_say`` that add the game's mark to Evennia's own sentences."""
    mark = word_mark()
    if not mark:
        return {}
    return {
        "msg_location": gettext('{object} says, "{speech}"') + " {mark}",
        "msg_receivers": gettext('{object} whispers: "|n{speech}|n"') + " {mark}",
        "mapping": {"mark": as_shown(mark)},
    }


def may_be_heard_by(context: ToolContext, listeners: Iterable[Any]) -> bool:
    """Return True if these people may hear what this turn's prompt held."""
    heard_by = frozenset(listener.dbref for listener in listeners)
    return may_be_said(heard_by, context.audience, context.private)


def confidants(context: ToolContext, present: Iterable[Any]) -> list[Any]:
    """Return the people present who belong to the turn's audience."""
    return [listener for listener in present if listener.dbref in context.audience]


def deliver_whisper(context: ToolContext, text: str, receivers: list[Any]) -> ToolResult:
    """Whisper to some people; raises NothingDone if none of them is present any more."""
    if not receivers:
        raise NothingDone("Nobody who may hear this is here any more.")
    speak(context, text, receivers=receivers, whisper=True)
    return ToolResult(DONE, WHISPERED, frozenset(who.dbref for who in receivers))

"""What the character says of promises by code, as it says any line: heard, marked and logged."""

from typing import Any

from evennia_ai.contrib.promises.promise_records import CANCELLED, FAILED, KEPT, LETTER
from evennia_ai.game.perception import display_name
from evennia_ai.game.texts import text
from evennia_ai.messages import PUPPETED, SAY, WHISPER, Authors, IncomingEvent
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import ToolContext
from evennia_ai.ports.world import WorldClock
from evennia_ai.store.names import list_names
from evennia_ai.tools.registry import note_circumstances
from evennia_ai.tools.speech import speak

LINES = {KEPT: "promise_here", CANCELLED: "promise_failed"}


def words_for(record: Record, state: str, character: Any, person: Any) -> str:
    """Return what somebody is told of a record that comes to a state."""
    values = {"name": display_name(person, character), "what": f'"{record["content"]}"'}
    if record["kind"] == LETTER:
        return text("letter_told", sender=list_names([record["source_entity"]]), **values)
    if state in (FAILED, CANCELLED):
        values["reason"] = text(f"promise_{record['reason']}")
    return text(LINES.get(state, f"promise_{state}"), **values)


def speak_to(character: Any, person: Any, words: str, is_private: bool, authors: Authors) -> None:
    """Let a character speak to somebody, in a whisper if it is private; raises NothingDone."""
    mind, heard_by = character.ai_mind, frozenset({person.dbref})
    context = ToolContext(
        assistant=mind.tool_executor.tools,
        character=character,
        audience=heard_by if is_private else mind.services.world.listeners(character),
        private=is_private,
        speakers=frozenset(),
        authors=authors,
        waiting=heard_by,
    )
    note_circumstances(context)
    character.ndb.ai_acting = True
    try:
        speak(context, words, **({"receivers": [person], "whisper": True} if is_private else {}))
    finally:
        character.ndb.ai_acting = False
        character.ndb.ai_confidants = character.ndb.ai_authors = None
    own = IncomingEvent(
        kind=WHISPER if is_private else SAY,
        speaker=character.dbref,
        speaker_name=mind.who.name,
        text=words,
        audience=context.audience,
        private=is_private,
        reason=PUPPETED,
        evidence=PUPPETED,
        authors=context.all_authors,
    )
    mind.services.inbox_queue.put(mind.hearing, own)


def due_words(record: Record, clock: WorldClock) -> str:
    """Return where and when a promise is due, "" for a letter."""
    when = clock.describe(clock.date(record["due"])) if record["due"] else ""
    return ", ".join(filter(None, (record["where"], when)))

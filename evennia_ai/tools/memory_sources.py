"""What the memory tools share: the sources of what is written, and the result of a search."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from evennia.objects.objects import DefaultCharacter
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import BadRecord, NothingDone
from evennia_ai.game.perception import find_objects, objects_named_in
from evennia_ai.messages import CLAIMED, ChatMessage
from evennia_ai.policy.audience import of_records
from evennia_ai.policy.compaction.unverified_claims import takes_for_program
from evennia_ai.policy.conversation.addressing import NamedEntity, Names, name_parts
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.origin import QUOTE
from evennia_ai.policy.facts.terms import heard_words
from evennia_ai.policy.limits.people import TOO_MANY_ENTRIES, is_reached
from evennia_ai.policy.records.record import Record, iso_utc
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import RecordStore, ToolContext, ToolResult
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.store.rows import add_reason
from evennia_ai.turn.tool_executor import DONE

T = TypeVar("T")
MOST_TEXTS = 8  # of the lines of a turn
LATEST = 16  # messages among which the lines of a turn are, also those of one that died
MOST_OF_A_DAY = 500  # records of a kind


def content_of(context: ToolContext, text: str, most_chars: int) -> str:
    """Return a model's text, cleaned and cut; raises NothingDone if it is empty or no fact."""
    content = clean_heard(text, most_chars)
    if not content:
        raise NothingDone("There were no words in that.")
    if takes_for_program(content, context.assistant.name):
        raise NothingDone("That is no fact. If somebody claims it, write who.")
    return content


def ensure_may_note(context: ToolContext, newest: Iterable[Record], at: str) -> None:
    """Raise NothingDone if speakers caused enough of these in a day; ``at`` is their time."""
    parts = context.assistant
    since = iso_utc(parts.services.now() - timedelta(days=1))
    today = [record for record in newest if record[at] >= since]
    if is_reached(today, context.causes, parts.config.person_entries_per_day):
        raise NothingDone(TOO_MANY_ENTRIES)


@inlineCallbacks
def store_record(context: ToolContext, write: Callable[[], T]) -> Coroutine[T]:
    """Write a record and fire with what ``write`` returns; fails with NothingDone if it is bad."""
    try:
        written: T = yield retry_write(context.assistant.services.clock, write)
    except BadRecord as error:
        raise NothingDone(f"That does not fit: {error}") from error
    return written


def recall_result(
    context: ToolContext, records: Sequence[Record], lines: Iterable[str], read: Sequence[str] = ()
) -> ToolResult:
    """Return the result of a search, with references to what it read."""
    text = "\n".join(f"{QUOTE}{line}" for line in lines)
    # The audience of private records also limits what is made of them (P9).
    binds = any(record["audience"] is not None for record in records)
    heard_by = context.audience if binds else None
    known = of_records(records)
    return ToolResult(DONE, text, heard_by, read=tuple(read), authors=known, quotes_log=True)


def only_asker(context: ToolContext) -> Any:
    """Return the one person who is answered; raises NothingDone."""
    people = find_objects(sorted(context.askers))
    if len(people) != 1:
        raise NothingDone("Several people ask you. Answer one of them first.")
    return people[0]


def sources_of(context: ToolContext) -> dict[str, Any]:
    """Return the fields of a record that name its sources and its audience (P9)."""
    speakers, latest = sorted(context.speakers), [m["metadata"] for m in heard(context)]
    of_askers = [meta for meta in latest if meta.get("speaker") in context.askers]
    latest = of_askers or latest
    said_at = context.said_at or (latest[0]["at"] if latest else None)
    kind = "direct" if speakers else "observation"
    is_told = len(speakers) == 1 and not context.is_own_thought
    return {
        "source_type": "inference" if context.is_own_thought else kind,
        "source_entity": speakers[0] if is_told else "",
        "speakers": sorted(context.all_authors),
        "source_seqs": list(context.source_seqs) or [meta["seq"] for meta in latest],
        "said_at": said_at,
        "audience": sorted(context.audience) if context.private else None,
    }


def heard(context: ToolContext) -> list[ChatMessage]:
    """Return the messages heard in the open turn, newest first."""
    turn_id = context.assistant.turns.current
    messages: list[ChatMessage] = []
    for message in reversed(context.assistant.log.view()):
        if turn_id is None or message["metadata"].get("turn_id") != turn_id:
            break
        if message["role"] == "user":
            messages.append(message)
    return messages


def lines_to(context: ToolContext) -> list[ChatMessage]:
    """Return what those whom the open turn answers said to the character, oldest first.

    A line that calls others of the game by name, and not the character, is left out.
    """
    lines, unread = list[ChatMessage](), list(context.heard)
    latest = context.assistant.log.view()[-LATEST:] if context.assistant.turns.current else ()
    for message in reversed(latest):
        is_said = message["metadata"].get("evidence") == CLAIMED
        if is_said and message["metadata"]["speaker"] in context.askers:
            texts = [text for text in unread if text and message["content"].endswith(text)]
            if words := max(texts, key=len, default=""):
                unread.remove(words)
                lines += [] if calls_another(words, context.character) else [message]
    return lines[::-1]


@inlineCallbacks
def note_asked(
    context: ToolContext,
    store: RecordStore,
    note: Callable[[ToolContext, Sequence[str]], Deferred[str]],
    words_of: Callable[[Record], str],
) -> Coroutine[str]:
    """Let an extension note what the lines of one person ask for without a tool, each line once.

    ``note`` gets the lines and their sentences, and fires with what the character says to them; it
    fails with NothingDone, whose words `aiwhy` tells. ``words_of`` a record is what is said of one
    that was noted before. Fires with that, "" for nothing; fails with StoreUnavailable.
    """
    lines, services = lines_to(context), context.assistant.services
    if len(context.askers) != 1 or not lines:
        return ""
    seqs, said_at = [m["metadata"]["seq"] for m in lines], lines[-1]["metadata"]["at"]
    yield store.load(services.slices.put)
    for record in store.every():
        if not set(record["source_seqs"]).isdisjoint(seqs):  # asked again, or by a tool
            return words_of(record)
    context = replace(context, speakers=context.askers, source_seqs=tuple(seqs), said_at=said_at)
    words = ""
    try:
        words = yield note(context, texts_of(context, lines))
    except NothingDone as error:
        if why := str(error):
            add_reason(filter(None, [m["metadata"].get("event_id") for m in lines]), why)
    return words


def texts_of(context: ToolContext, lines: Iterable[ChatMessage]) -> list[str]:
    """Return lines to the character and their sentences, without its name that calls it."""
    spoken = [without_address(heard_words(m["content"]), context.assistant.name) for m in lines]
    texts = dict.fromkeys(part.strip() for line in spoken for part in (line, *sentences(line)))
    return [*texts][:MOST_TEXTS]


def calls_another(words: str, character: Any) -> bool:
    """Return True for a line that calls others of the game by name, and not the character."""
    named = [
        NamedEntity(obj.dbref, (obj.key,))
        for obj in objects_named_in(words)
        if isinstance(obj, DefaultCharacter) and obj is not character
    ]
    own = NamedEntity(character.dbref, (character.key,), name_parts(character.key))
    called = Names([*named, own]).calls(words) if named else []
    return bool(called) and not any(character.dbref in ids for ids in called)

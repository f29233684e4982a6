"""What the memory tools share: the sources of what is written, and the result of a search."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import BadRecord, NothingDone
from evennia_ai.messages import ChatMessage
from evennia_ai.policy.audience import of_records
from evennia_ai.policy.compaction.unverified_claims import takes_for_program
from evennia_ai.policy.facts.origin import QUOTE
from evennia_ai.policy.limits.people import TOO_MANY_ENTRIES, is_reached
from evennia_ai.policy.records.record import Record, iso_utc
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.turn.tool_executor import DONE

T = TypeVar("T")
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


def is_named_in(context: ToolContext) -> bool:
    """Return True if somebody used the character's name in this turn."""
    name = context.assistant.name.lower()
    return any(name in message["content"].lower() for message in heard(context))

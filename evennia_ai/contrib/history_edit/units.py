"""Which messages change together, and which get no new words."""

from collections.abc import Sequence

from evennia_ai import models
from evennia_ai.messages import ChatMessage, is_perceived
from evennia_ai.policy.recallable_lines import is_speech
from evennia_ai.store.rows import message_from_row, rows_of


def why_no_new_words(message: ChatMessage) -> str:
    """Return why a message cannot get new words, empty if it can."""
    if message["role"] == "tool" or is_perceived(message):
        return "The game itself observed this. It can be hidden, but not reworded."
    calls = message.get("tool_calls", [])
    if message["role"] != "user" and not message["content"] and [*map(is_speech, calls)] != [True]:
        return "This is an act, not one line of speech. It can be hidden, but not reworded."
    return ""


def unit_of(seq: int, messages: Sequence[ChatMessage]) -> list[int]:
    """Return a message with what belongs to it: a call and all its results, or a line alone.

    ``messages`` are those of its turn; a message with several calls holds their results together.
    """
    by_seq = {message["metadata"]["seq"]: message for message in messages}
    ids = calls_in(by_seq[seq])
    units = [m for m in messages if m.get("tool_calls") and ids & calls_in(m)]
    ids = ids.union(*map(calls_in, units))
    return sorted({seq, *(known for known, m in by_seq.items() if ids & calls_in(m))})


def calls_in(message: ChatMessage) -> frozenset[str]:
    """Return the ids of the tool calls that a message makes or answers."""
    made = (call["id"] for call in message.get("tool_calls", []))
    return frozenset(filter(None, (*made, message.get("tool_call_id", ""))))


def turn_of_message(assistant_id: int, seq: int) -> list[ChatMessage]:
    """Return a message with those of the character in its turn; empty if it does not exist."""
    message = rows_of(models.Message, assistant_id).filter(id=seq).first()
    if message is None or message.role == "user" or message.turn_id is None:
        return [message_from_row(message)] if message else []
    rows = rows_of(models.Message, assistant_id).filter(turn_id=message.turn_id)
    return [message_from_row(row) for row in rows.exclude(role="user").order_by("id")]

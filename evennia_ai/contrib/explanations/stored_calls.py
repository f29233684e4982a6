"""Stored model calls with their prompts, rebuilt from the log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai import models
from evennia_ai.messages import ChatMessage, WireMessage, make_message
from evennia_ai.policy import call_record
from evennia_ai.policy.context.projection import make_marker, show_marker
from evennia_ai.store.call_records import read_packed
from evennia_ai.store.conversation import record_from_row
from evennia_ai.store.rows import message_from_row


@dataclass(frozen=True)
class StoredCall:
    """One model call with its prompt as it was sent, as far as the log still has it."""

    kept: call_record.KeptCall
    marker: ChatMessage | None
    talk: Sequence[ChatMessage]
    own: Sequence[ChatMessage]
    messages: Sequence[WireMessage]
    missing: int  # messages of the prompt that the log does not have any more
    is_exact: bool  # whether the digest shows that this is the prompt as it was sent


def load_call(call_id: int) -> StoredCall | None:
    """Return a model call with its prompt, None if it was not kept, or was erased."""
    row = models.CallRecord.objects.filter(id=call_id).first()
    if row is None or not row.packed:
        return None
    kept = read_packed(bytes(row.packed))
    return None if kept is None else with_talk(row.assistant_id, kept, row.digest)


def calls_of_turn(assistant_id: int, turn_id: int) -> list[StoredCall]:
    """Return the calls of an assistant's turn whose prompts are kept, in their order."""
    calls = models.ModelCall.objects.filter(assistant_id=assistant_id, turn_id=turn_id)
    answered = calls.filter(error_kind="").order_by("id").values_list("id", flat=True)
    return [call for call in map(load_call, answered) if call is not None]


def with_talk(assistant_id: int, kept: call_record.KeptCall, digest: str = "") -> StoredCall:
    """Return a call with the messages of its prompt, as far as the log has them."""
    marker = marker_of(assistant_id, kept)
    trace = kept.trace
    talk, own = (read_messages(assistant_id, n, trace.shown) for n in (trace.talk, trace.own))
    messages = call_record.rebuilt(kept, marker, talk, own)
    missing = len(trace.talk) + len(trace.own) - len(talk) - len(own)
    is_exact = call_record.request_digest(messages, kept.sent) == digest
    return StoredCall(kept, marker, talk, own, messages, missing, is_exact)


def marker_of(assistant_id: int, kept: call_record.KeptCall) -> ChatMessage | None:
    """Return the summary that a prompt showed, or was to update; None for none."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, id=kept.trace.summary_id)
    if (row := rows.first()) is None:
        return None
    if kept.trace.teller:
        return make_message("user", row.summary.get(kept.trace.part, ""))
    return show_marker(make_marker(record_from_row(row)), frozenset(kept.trace.audience))


def read_messages(
    assistant_id: int, seqs: Iterable[int], shown: Mapping[str, Any]
) -> list[ChatMessage]:
    """Return those messages that the log has, with the words that a prompt ``shown`` instead."""
    rows = models.Message.objects.filter(assistant_id=assistant_id, id__in=seqs).order_by("id")
    messages = map(message_from_row, rows)
    return [{**message, **shown.get(str(message["metadata"]["seq"]), {})} for message in messages]

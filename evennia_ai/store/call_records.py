"""The prompts and replies of model calls: stored, and rebuilt from the log."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from django.db import transaction

from evennia_ai import models
from evennia_ai.messages import Message, WireMessage, make_message
from evennia_ai.policy.context.projection import make_marker, show_marker
from evennia_ai.policy.explanation import call_record
from evennia_ai.policy.records.provenance import people_field
from evennia_ai.store.conversation import record_from_row
from evennia_ai.store.lines import as_shown
from evennia_ai.store.rows import message_from_row

MOST_NOTED = 10_000
noted_on: dict[str, date] = {}  # by the digest of a text in the table


@dataclass(frozen=True)
class StoredCall:
    """One model call with its prompt as it was sent, as far as the log still has it."""

    kept: call_record.KeptCall
    marker: Message | None
    talk: Sequence[Message]
    own: Sequence[Message]
    messages: Sequence[WireMessage]
    missing: int  # messages of the prompt that the log does not have any more
    is_exact: bool  # whether the digest shows that this is the prompt as it was sent


def store_call(row: models.ModelCall, record: call_record.CallRecord) -> None:
    """Store the prompt and the reply of a call, inside the caller's transaction."""
    keep_texts(record.shared, row.at.date())
    models.CallRecord.objects.create(
        id=row.id,
        assistant_id=row.assistant_id,
        at=row.at,
        digest=record.digest,
        people=people_field(record.people),
        packed=record.packed,
    )


def keep_texts(shared: Any, today: date) -> None:
    """Store the shared texts that are new, and note that all are used today."""
    new = {digest for digest in shared if noted_on.get(digest) != today}
    if not new:
        return
    texts = models.PromptText.objects
    used = texts.filter(digest__in=new, used_on=today)
    for digest in new - set(used.values_list("digest", flat=True)):
        kept = {"text": shared[digest], "used_on": today}
        texts.update_or_create(digest=digest, defaults=kept)
    transaction.on_commit(partial(note_texts, new, today))


def note_texts(digests: Iterable[str], today: date) -> None:
    """Remember which texts are stored as used today: most calls have the same ones."""
    if len(noted_on) > MOST_NOTED:
        noted_on.clear()
    noted_on.update(dict.fromkeys(digests, today))


def load_call(call_id: int) -> StoredCall | None:
    """Return a model call with its prompt, None if it was not kept, or was erased."""
    row = models.CallRecord.objects.filter(id=call_id).first()
    if row is None or not row.packed:
        return None
    kept = read_packed(bytes(row.packed))
    return None if kept is None else with_talk(row.assistant_id, kept, row.digest)


def read_packed(packed: bytes) -> call_record.KeptCall | None:
    """Return a packed call, None if it is damaged, or a text that it shares is gone."""
    with suppress(KeyError, TypeError, ValueError, zlib.error):
        digests = call_record.shared_digests(packed)
        found = models.PromptText.objects.filter(digest__in=digests)
        texts = dict(found.values_list("digest", "text"))
        return call_record.read_record(packed, [texts[digest] for digest in digests])
    return None


def calls_of_turn(assistant_id: int, turn_id: int) -> list[StoredCall]:
    """Return the calls of an assistant's turn whose prompts are kept, in their order."""
    found = map(load_call, answered_calls(assistant_id, [turn_id]))
    return [call for call in found if call is not None]


def answered_calls(assistant_id: int, turns: Iterable[int]) -> dict[int, int]:
    """Return the turn of each model call in some turns that got a reply, in their order."""
    calls = models.ModelCall.objects.filter(assistant_id=assistant_id, turn_id__in=turns)
    return dict(calls.filter(error_kind="").order_by("id").values_list("id", "turn_id"))


def with_talk(assistant_id: int, kept: call_record.KeptCall, digest: str = "") -> StoredCall:
    """Return a call with the messages of its prompt, as far as the log has them."""
    kept = with_scenes(assistant_id, kept)
    marker = marker_of(assistant_id, kept)
    talk = read_talk(assistant_id, kept)
    own = in_order(prompt_rows(assistant_id).filter(id__in=kept.trace.own), kept)
    messages = call_record.rebuilt(kept, marker, talk, own)
    missing = kept.trace.talk.count + len(kept.trace.own) - len(talk) - len(own)
    missing += sum(not scene.text for scene in kept.trace.scenes)
    is_exact = call_record.request_digest(messages, kept.sent) == digest
    return StoredCall(kept, marker, talk, own, messages, missing, is_exact)


def with_scenes(assistant_id: int, kept: call_record.KeptCall) -> call_record.KeptCall:
    """Return a call with the texts of its scenes, as far as the calls that told them are kept."""
    scenes = kept.trace.scenes
    unread = {scene.told_in[0] for scene in scenes if not scene.text}
    if not unread:
        return kept
    told = dict(told_scenes(assistant_id, unread))
    read = (told.get(scene.told_in, scene) for scene in scenes)
    return replace(kept, trace=replace(kept.trace, scenes=tuple(read)))


def told_scenes(
    assistant_id: int, turns: Iterable[int]
) -> Iterator[tuple[tuple[int, ...], call_record.ShownScene]]:
    """Yield the scenes that the calls of some turns showed first, by `ShownScene.told_in`."""
    turn_of = answered_calls(assistant_id, turns)
    rows = models.CallRecord.objects.filter(id__in=turn_of).exclude(packed=b"").order_by("id")
    for row in rows:
        kept = read_packed(bytes(row.packed))
        if kept is None:
            continue
        new = (scene for scene in kept.trace.scenes if not scene.told_in)
        for number, scene in enumerate(new):
            told_in = (turn_of[row.id], kept.trace.step, number)
            yield told_in, replace(scene, told_in=told_in)


def marker_of(assistant_id: int, kept: call_record.KeptCall) -> Message | None:
    """Return the summary that a prompt showed, or was to update; None for none."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, id=kept.trace.summary_id)
    if (row := rows.first()) is None:
        return None
    if kept.trace.teller:
        return make_message("user", row.summary.get(kept.trace.part, ""))
    return show_marker(make_marker(record_from_row(row)), frozenset(kept.trace.audience))


def read_talk(assistant_id: int, kept: call_record.KeptCall) -> list[Message]:
    """Return the talk that a prompt showed, as far as the log has it."""
    span = kept.trace.talk
    rows = prompt_rows(assistant_id).filter(id__gte=span.first, id__lte=span.last)
    found = in_order(rows.exclude(id__in=kept.trace.own), kept)
    return [message for message in found if span.holds(message["metadata"]["seq"])]


def prompt_rows(assistant_id: int) -> Any:
    """Return the messages of an assistant that prompts may show, as a queryset."""
    return models.Message.objects.filter(assistant_id=assistant_id).exclude(role="excuse")


def in_order(rows: Any, kept: call_record.KeptCall) -> list[Message]:
    """Return rows as messages with the words that a prompt showed, oldest first."""
    words = kept.trace.amended
    return [as_shown(message_from_row(row), words.get(str(row.id))) for row in rows.order_by("id")]


def drop_unused_texts(_assistant_id: int, going: Sequence[int]) -> None:
    """Delete the shared texts that only these records used, or older ones."""
    left = models.CallRecord.objects.exclude(id__in=going).order_by("id")
    oldest = left.values_list("at", flat=True).first()
    if oldest is not None:
        models.PromptText.objects.filter(used_on__lt=oldest.date()).delete()

"""The prompts and the replies of model calls, as they are stored beside the log."""

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any

from django.db import transaction

from evennia_ai import models
from evennia_ai.policy import call_record
from evennia_ai.policy.records.record import people_field

MOST_NOTED = 10_000
noted_on: dict[str, date] = {}  # by the digest of a text in the table


def store_call(row: models.ModelCall, record: call_record.PackedCall) -> None:
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


def read_packed(packed: bytes) -> call_record.KeptCall | None:
    """Return a packed call, None if it is damaged, or a text that it shares is gone."""
    with suppress(KeyError, TypeError, ValueError, zlib.error):
        digests = call_record.shared_digests(packed)
        prompt_texts = models.PromptText.objects.filter(digest__in=digests)
        texts = dict(prompt_texts.values_list("digest", "text"))
        return call_record.read_record(packed, [texts[digest] for digest in digests])
    return None


def drop_unused_texts(_assistant_id: int, going: Sequence[int]) -> None:
    """Delete the shared texts that only these records used, or older ones."""
    left = models.CallRecord.objects.exclude(id__in=going).order_by("id")
    oldest = left.values_list("at", flat=True).first()
    if oldest is not None:
        models.PromptText.objects.filter(used_on__lt=oldest.date()).delete()

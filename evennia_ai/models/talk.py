"""The talk: turns, what was heard, said and done, and its summaries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models

from evennia_ai.models.fields import (
    CharField,
    JSONField,
    OrderedJSONField,
    OwnedByAssistant,
    TextField,
    new_token,
)


class Turn(OwnedByAssistant):
    """One turn, open while ``ended_at`` is empty; staff may ``mark`` it, and comment on it."""

    context: str = CharField(max_length=32)
    audience: list[Any] = JSONField(default=list)
    private: bool = models.BooleanField(default=False)
    ended_at: datetime | None = models.DateTimeField(null=True)
    outcome: str = CharField(max_length=16, blank=True)
    detail: str = TextField(blank=True)
    mark: str = CharField(max_length=8, blank=True)
    comment: str = TextField(blank=True)
    marked_by: str = CharField(max_length=255, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "id"], name="ai_turn_of"),
            models.Index(fields=["ended_at", "assistant"], name="ai_turn_open"),
            models.Index(fields=["at"], name="ai_turn_at"),
        ]


class Event(OwnedByAssistant):
    """One event in the inbox: what an assistant heard.

    It is stored before any model is called. ``state`` is waiting (for a turn), claimed (by
    ``turn``), doubtful (its answer may have been said) or overheard (the next turn adds it to the
    conversation); at the end it is answered, excused, noted or expired. ``nature`` is perceived,
    performed, claimed, or puppeted for what the character said without its mind; ``item`` is the
    dbref of a thing that was given. ``authors`` are those of `policy.audience` in the format of
    `people_field`, empty if the speaker is the only one.

    ``private`` is True for a whisper. ``repeatable`` is True if the assistant's ``discretion`` was
    "trusting" when it heard the whisper: then it may repeat it, also after a later change.
    ``token`` is the same at each try to store it.
    """

    turn_id: int | None

    kind: str = CharField(max_length=16)
    speaker: str = CharField(max_length=24)
    speaker_name: str = CharField(max_length=255)
    text: str = TextField()
    nature: str = CharField(max_length=12, default="claimed")
    item: str = CharField(max_length=24, blank=True)
    audience: list[Any] = JSONField(default=list)
    authors: str = TextField(blank=True)
    private: bool = models.BooleanField(default=False)
    repeatable: bool = models.BooleanField(default=False)
    hops: int = models.PositiveSmallIntegerField(default=0)
    state: str = CharField(max_length=12)
    reason: str = TextField(blank=True)
    attempts: int = models.PositiveSmallIntegerField(default=0)
    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="events")
    token: str = CharField(max_length=32, default=new_token, unique=True)

    class Meta:
        indexes = [
            # Not the assistant first: SQLite would prefer the index of its foreign key.
            models.Index(fields=["state", "assistant", "at"], name="ai_event_state"),
            models.Index(fields=["speaker", "at", "assistant"], name="ai_event_speaker"),
            models.Index(fields=["speaker", "id"], name="ai_event_by"),
        ]


class Message(OwnedByAssistant):
    """One message: ``id`` is its ``seq``; ``consulted`` names what a tool call read and changed.

    ``role`` is "excuse" for a line that the character said because no model answered. ``nature`` is
    perceived, performed or claimed for heard lines, perceived for tool results, offline or puppeted
    (`messages`) for own words, else empty.
    ``authors`` are those of `policy.audience` in the format of `people_field`.
    """

    event_id: int | None
    turn_id: int | None

    role: str = CharField(max_length=12)
    content: str = TextField(blank=True)
    tool_calls: list[Any] = JSONField(default=list)
    tool_call_id: str = CharField(max_length=128, blank=True)
    speaker: str = CharField(max_length=24, blank=True)
    speaker_name: str = CharField(max_length=255, blank=True)
    nature: str = CharField(max_length=12, blank=True)
    audience: list[Any] = JSONField(default=list)
    authors: str = TextField(blank=True)
    private: bool = models.BooleanField(default=False)
    tokens: int = models.PositiveIntegerField(default=0)
    event = models.ForeignKey(Event, null=True, on_delete=models.SET_NULL, related_name="+")
    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="+")
    consulted: dict[str, Any] = OrderedJSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "id"], name="ai_message_seq"),
            models.Index(fields=["speaker", "id"], name="ai_message_by"),
        ]


class LineVector(models.Model):
    """The embedding of one message's words; any of them can be made again.

    ``embedder`` names what made it, and ``packed`` is what `memory.vectors.pack` returns.
    """

    message = models.OneToOneField(
        Message, primary_key=True, on_delete=models.CASCADE, related_name="vector"
    )
    embedder: str = CharField(max_length=255)
    packed: bytes = models.BinaryField()


class Amendment(OwnedByAssistant):
    """How one message is shown from now on; the message itself stays as it was (P3).

    ``seq`` is the message. ``kind`` is one of `policy.log_lines`; ``text`` holds new words,
    or the id of the journal entry whose deletion made it. ``authors`` are those of the new words.
    Rows of one ``batch`` were made, and are undone, together.
    """

    seq: int = models.BigIntegerField()
    kind: str = CharField(max_length=12)
    text: str = TextField(blank=True)
    authors: str = TextField(blank=True)
    by: str = CharField(max_length=24)
    batch: int = models.BigIntegerField()
    undone_at: datetime | None = models.DateTimeField(null=True)
    undone_by: str = CharField(max_length=24, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "undone_at", "id"], name="ai_amendment_of"),
            models.Index(fields=["seq"], name="ai_amendment_seq"),
        ]


class ToolCall(OwnedByAssistant):
    """One tool call: the intent is stored before it runs, the outcome after.

    ``state`` is intended, done, failed, refused, or unknown if a crash came in between. ``world``
    is True if players can notice the act. ``locks`` are those it asked, with their answers
    (`policy.explanation.call_record`).
    """

    turn_id: int | None

    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="tool_calls")
    call_id: str = CharField(max_length=128)
    name: str = CharField(max_length=64)
    arguments: str = TextField(blank=True)
    world: bool = models.BooleanField(default=False)
    state: str = CharField(max_length=12)
    result: str = TextField(blank=True)
    locks: str = TextField(blank=True, default="")
    ended_at: datetime | None = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_toolcall_of")]


class PendingAct(OwnedByAssistant):
    """One tool call that waits for a person (`policy.oversight`); it runs once, if at all."""

    needs: str = CharField(max_length=8)
    state: str = CharField(max_length=12)
    name: str = CharField(max_length=64)
    arguments: str = TextField()
    speakers: list[Any] = JSONField(default=list)
    authors: str = TextField(blank=True)
    audience: list[Any] = JSONField(default=list)
    private: bool = models.BooleanField(default=False)
    expires_at: datetime = models.DateTimeField()
    decided_by: str = CharField(max_length=24, blank=True)
    result: str = TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["state", "assistant", "id"], name="ai_pending_state")]


class Compaction(OwnedByAssistant):
    """One compaction: it moves the start of what the model sees and deletes nothing.

    ``summary`` and ``speakers`` have one part for each audience, by its key: "public" or the dbrefs
    of the only listeners; ``speakers`` are its authors (`policy.audience`).
    ``undone_at`` is the time of an undo. ``archived`` is True while the journal holds the entries
    made from the summary. ``sealed`` is True once retention has deleted messages that an undo would
    restore. ``rung`` is the ladder step.
    """

    previous_id: int | None

    reason: str = CharField(max_length=12)
    from_seq: int = models.BigIntegerField()
    upto_seq: int = models.BigIntegerField()
    prefix_hash: str = CharField(max_length=64, blank=True)
    summary: dict[str, Any] = OrderedJSONField(default=dict)
    compacted_count: int = models.PositiveIntegerField()
    original_token_count: int = models.PositiveIntegerField()
    summary_token_count: int = models.PositiveIntegerField()
    facts_found: int = models.PositiveIntegerField(default=0)
    facts_kept: int = models.PositiveIntegerField(default=0)
    facts_rescued: int = models.PositiveIntegerField(default=0)
    consulted: dict[str, Any] = OrderedJSONField(default=dict)
    rung: str = CharField(max_length=16, blank=True)
    previous = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    cost: dict[str, Any] = OrderedJSONField(default=dict)
    undone_at: datetime | None = models.DateTimeField(null=True)
    speakers: dict[str, Any] = OrderedJSONField(default=dict)
    archived: bool = models.BooleanField(default=False)
    sealed: bool = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_compaction_of")]

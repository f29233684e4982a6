"""The talk: turns, what was heard, said and done, and its summaries."""

from datetime import datetime
from typing import Any

from django.db import models

from evennia_ai.models import fields as own


class Turn(own.OwnedByAssistant):
    """One turn, open while ``ended_at`` is empty; staff may ``mark`` it, and comment on it.

    ``askers`` are the people whom it answers, in the format of `people_field`: those who said or
    did what it takes up as addressed to the character. Whoever else has an event of this turn was
    only overheard. It is empty for a turn that nobody asked for.
    """

    context: str = own.CharField(max_length=32)
    audience: list[Any] = own.AudienceField(default=list)
    askers: str = own.TextField(blank=True, default="")
    private: bool = own.PrivateField(default=False)
    ended_at: datetime | None = own.DateTimeField(null=True)
    outcome: str = own.CharField(max_length=16, blank=True)
    detail: str = own.TextField(blank=True)
    mark: str = own.CharField(max_length=8, blank=True)
    comment: str = own.TextField(blank=True)
    marked_by: str = own.CharField(max_length=255, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "id"], name="ai_turn_of"),
            models.Index(fields=["ended_at", "assistant"], name="ai_turn_open"),
            models.Index(fields=["at"], name="ai_turn_at"),
        ]


class Event(own.OwnedByAssistant):
    """One event in the inbox: what an assistant heard.

    It is stored before any model is called. ``state`` is waiting (for a turn), claimed (by
    ``turn``), doubtful (its answer may have been said) or overheard (the next turn adds it to the
    conversation); at the end it is answered, excused, noted or expired. ``evidence`` is perceived,
    performed, claimed, or puppeted for what the character said without its mind; ``item`` is the
    dbref of a thing that was given. ``authors`` are those of `policy.audience` in the format of
    `people_field`, empty if the speaker is the only one.

    ``private`` is True for a whisper. ``repeatable`` is True if the assistant's ``whisper_policy``
    was "trusting" when it heard the whisper: then it may repeat it, also after a later change.
    ``token`` is the same at each try to store it.
    """

    turn_id: int | None

    kind: str = own.CharField(max_length=16)
    speaker: str = own.DbrefField(max_length=24)
    speaker_name: str = own.CharField(max_length=255)
    text: str = own.TextField()
    evidence: str = own.CharField(max_length=12, default="claimed", db_column="nature")
    item: str = own.CharField(max_length=24, blank=True)
    audience: list[Any] = own.AudienceField(default=list)
    authors: str = own.TextField(blank=True)
    private: bool = own.PrivateField(default=False)
    repeatable: bool = own.BooleanField(default=False)
    hops: int = own.PositiveSmallIntegerField(default=0)
    state: str = own.CharField(max_length=12)
    reason: str = own.TextField(blank=True)
    attempts: int = own.PositiveSmallIntegerField(default=0)
    turn = own.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="events")
    token: str = own.CharField(max_length=32, default=own.new_token, unique=True)

    class Meta:
        indexes = [
            # Not the assistant first: SQLite would prefer the index of its foreign key.
            models.Index(fields=["state", "assistant", "at"], name="ai_event_state"),
            models.Index(fields=["speaker", "at", "assistant"], name="ai_event_speaker"),
            models.Index(fields=["speaker", "id"], name="ai_event_by"),
        ]


class Message(own.OwnedByAssistant):
    """One message: ``id`` is its ``seq``; ``consulted`` names what a tool call read and changed.

    ``role`` is "excuse" for a line that the character said because no model answered.
    ``evidence`` is perceived, performed or claimed for heard lines, perceived for tool results,
    offline or puppeted (`messages`) for own words, else empty.
    ``authors`` are those of `policy.audience` in the format of `people_field`.
    """

    event_id: int | None
    turn_id: int | None

    role: str = own.CharField(max_length=12)
    content: str = own.TextField(blank=True)
    tool_calls: list[Any] = own.JSONField(default=list, of=dict)
    tool_call_id: str = own.CharField(max_length=128, blank=True)
    speaker: str = own.DbrefField(max_length=24, blank=True)
    speaker_name: str = own.CharField(max_length=255, blank=True)
    evidence: str = own.CharField(max_length=12, blank=True, db_column="nature")
    audience: list[Any] = own.AudienceField(default=list)
    authors: str = own.TextField(blank=True)
    private: bool = own.PrivateField(default=False)
    tokens: int = own.PositiveIntegerField(default=0)
    event = own.ForeignKey(Event, null=True, on_delete=models.SET_NULL, related_name="+")
    turn = own.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="+")
    consulted: dict[str, Any] = own.OrderedJSONField(default=dict, of=list)

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
    embedder: str = own.CharField(max_length=255)
    packed: bytes = own.BinaryField()


class Amendment(own.OwnedByAssistant):
    """How one message is shown from now on; the message itself stays as it was (P3).

    ``seq`` is the message. ``kind`` is one of `policy.recallable_lines`; ``text`` holds new words,
    or the id of the journal entry whose deletion made it. ``authors`` are those of the new words.
    Rows of one ``batch`` were made, and are undone, together.
    """

    seq: int = own.BigIntegerField()
    kind: str = own.CharField(max_length=12)
    text: str = own.TextField(blank=True)
    authors: str = own.TextField(blank=True)
    by: str = own.CharField(max_length=24)
    batch: int = own.BigIntegerField()
    undone_at: datetime | None = own.DateTimeField(null=True)
    undone_by: str = own.CharField(max_length=24, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "undone_at", "id"], name="ai_amendment_of"),
            models.Index(fields=["seq"], name="ai_amendment_seq"),
        ]


class ToolCall(own.OwnedByAssistant):
    """One tool call: the intent is stored before it runs, the outcome after.

    ``state`` is intended, done, failed, refused, or unknown if a crash came in between. ``world``
    is True if players can notice the act. ``locks`` are those it asked, with their answers
    (`policy.call_record`).
    """

    turn_id: int | None

    turn = own.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="tool_calls")
    call_id: str = own.CharField(max_length=128)
    name: str = own.CharField(max_length=64)
    arguments: str = own.TextField(blank=True)
    world: bool = own.BooleanField(default=False)
    state: str = own.CharField(max_length=12)
    result: str = own.TextField(blank=True)
    locks: str = own.TextField(blank=True, default="")
    ended_at: datetime | None = own.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_toolcall_of")]


class PendingAct(own.OwnedByAssistant):
    """One tool call that waits for a person (`policy.staff_controls`); it runs once, if at all."""

    needs: str = own.CharField(max_length=8)
    state: str = own.CharField(max_length=12)
    name: str = own.CharField(max_length=64)
    arguments: str = own.TextField()
    speakers: list[Any] = own.JSONField(default=list)
    authors: str = own.TextField(blank=True)
    audience: list[Any] = own.AudienceField(default=list)
    private: bool = own.PrivateField(default=False)
    expires_at: datetime = own.DateTimeField()
    item: str = own.CharField(max_length=24, blank=True, default="")
    decided_by: str = own.CharField(max_length=24, blank=True)
    result: str = own.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["state", "assistant", "id"], name="ai_pending_state")]


class Compaction(own.OwnedByAssistant):
    """One compaction: it moves the start of what the model sees and deletes nothing.

    ``summary`` and ``speakers`` have one part for each audience, by its key: "public" or the dbrefs
    of the only listeners; ``speakers`` are its authors (`policy.audience`).
    ``undone_at`` is the time of an undo. ``archived`` is True while the journal holds the entries
    made from the summary. ``sealed`` is True once retention has deleted messages that an undo would
    restore. ``rung`` is the ladder step. ``unread`` is True until the journal has taken what it
    needs of messages that were evicted in a hurry.
    """

    previous_id: int | None

    reason: str = own.CharField(max_length=12)
    from_seq: int = own.BigIntegerField()
    upto_seq: int = own.BigIntegerField()
    prefix_hash: str = own.CharField(max_length=64, blank=True)
    summary: dict[str, Any] = own.OrderedJSONField(default=dict)
    compacted_count: int = own.PositiveIntegerField()
    original_token_count: int = own.PositiveIntegerField()
    summary_token_count: int = own.PositiveIntegerField()
    facts_found: int = own.PositiveIntegerField(default=0)
    facts_kept: int = own.PositiveIntegerField(default=0)
    facts_rescued: int = own.PositiveIntegerField(default=0)
    consulted: dict[str, Any] = own.OrderedJSONField(default=dict, of=list)
    rung: str = own.CharField(max_length=16, blank=True)
    previous = own.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    cost: dict[str, Any] = own.OrderedJSONField(default=dict, of=int)
    undone_at: datetime | None = own.DateTimeField(null=True)
    speakers: dict[str, Any] = own.OrderedJSONField(default=dict, of=list)
    archived: bool = own.BooleanField(default=False)
    sealed: bool = own.BooleanField(default=False)
    unread: bool = own.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_compaction_of")]

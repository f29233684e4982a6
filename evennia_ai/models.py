"""The logs. Rows are only ever added, but for the states of events and acts and ``undone_at``.

Only the assistant is a foreign key; speakers are plain dbrefs, so that a deleted player leaves the
log whole. Everything of an assistant goes when its script is deleted.
"""

from django.db import models


class OwnedByAssistant(models.Model):
    """A row of one assistant's log."""

    id = models.BigAutoField(primary_key=True)
    assistant = models.ForeignKey("scripts.ScriptDB", on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        abstract = True


class Turn(OwnedByAssistant):
    """One turn of thought. Open while ``ended_at`` is empty; ``epoch`` is the process that holds
    the lease."""

    epoch = models.BigIntegerField()
    context = models.CharField(max_length=32)
    audience = models.JSONField(default=list)
    private = models.BooleanField(default=False)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True)
    detail = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "id"], name="ai_turn_of"),
            models.Index(fields=["ended_at", "epoch"], name="ai_turn_open"),
        ]


class Event(OwnedByAssistant):
    """The inbox: what an assistant heard, stored before any model is asked.

    ``state``: waiting (for a turn), claimed (by ``turn``), overheard (waits to be taken into the
    log with the next turn), and at the end answered, excused, noted or expired.
    """

    kind = models.CharField(max_length=16)
    speaker = models.CharField(max_length=24)
    speaker_name = models.CharField(max_length=255)
    text = models.TextField()
    audience = models.JSONField(default=list)
    private = models.BooleanField(default=False)
    hops = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=12)
    reason = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="events")

    class Meta:
        indexes = [
            models.Index(fields=["assistant", "state", "id"], name="ai_event_state"),
            models.Index(fields=["speaker", "assistant", "id"], name="ai_event_speaker"),
        ]


class Message(OwnedByAssistant):
    """The conversation. ``id`` is the message's ``seq``: monotonic, never used again. ``consulted``
    names what a tool read and changed."""

    role = models.CharField(max_length=12)
    content = models.TextField(blank=True)
    tool_calls = models.JSONField(default=list)
    tool_call_id = models.CharField(max_length=128, blank=True)
    speaker = models.CharField(max_length=24, blank=True)
    speaker_name = models.CharField(max_length=255, blank=True)
    audience = models.JSONField(default=list)
    private = models.BooleanField(default=False)
    tokens = models.PositiveIntegerField(default=0)
    event = models.ForeignKey(Event, null=True, on_delete=models.SET_NULL, related_name="+")
    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="+")
    consulted = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_message_seq")]


class ModelCall(OwnedByAssistant):
    """One request to a model, and what it cost."""

    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="model_calls")
    purpose = models.CharField(max_length=32)
    profile = models.CharField(max_length=64)
    model = models.CharField(max_length=255, blank=True)
    estimated_tokens = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(default=0)
    finish_reason = models.CharField(max_length=32, blank=True)
    error_kind = models.CharField(max_length=16, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_modelcall_of")]


class ToolCall(OwnedByAssistant):
    """An act: the intent is stored before it is done, the outcome after.

    ``state``: intended, done, failed, refused; unknown where a crash came between.
    """

    turn = models.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="tool_calls")
    call_id = models.CharField(max_length=128)
    name = models.CharField(max_length=64)
    arguments = models.TextField(blank=True)
    world = models.BooleanField(default=False)
    state = models.CharField(max_length=12)
    result = models.TextField(blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_toolcall_of")]


class Compaction(OwnedByAssistant):
    """Moves the start of what the model sees; deletes nothing. Undone where ``undone_at`` is set.

    ``summary`` maps an audience's key to its part: ``"public"``, or the dbrefs of those who alone
    heard it; ``facts`` likewise what was said and is out of view since, ``speakers`` whose words
    are in it. ``archived`` where the journal has the summary's entries, ``sealed`` where retention
    has deleted what an undo would bring back.
    """

    reason = models.CharField(max_length=12)
    from_seq = models.BigIntegerField()
    upto_seq = models.BigIntegerField()
    prefix_hash = models.CharField(max_length=64, blank=True)
    summary = models.JSONField(default=dict)
    compacted_count = models.PositiveIntegerField()
    original_token_count = models.PositiveIntegerField()
    summary_token_count = models.PositiveIntegerField()
    facts_found = models.PositiveIntegerField(default=0)
    facts_kept = models.PositiveIntegerField(default=0)
    facts_rescued = models.PositiveIntegerField(default=0)
    facts = models.JSONField(default=dict)
    consulted = models.JSONField(default=dict)
    rung = models.CharField(max_length=16, blank=True)
    previous = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    cost = models.JSONField(default=dict)
    undone_at = models.DateTimeField(null=True)
    speakers = models.JSONField(default=dict)
    archived = models.BooleanField(default=False)
    sealed = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_compaction_of")]


class SleepPass(OwnedByAssistant):
    """One pass of sleep, stored at its beginning by the process ``epoch``; a crash interrupted it
    where ``ended_at`` stays empty.

    ``reason``: as in `policy.schedule.sleep_schedule`; ``outcome``: done, woken (broken off for
    somebody who waited) or stopped. ``results`` holds figures by step and no words; ``errors``, by
    step, what may quote some.
    """

    epoch = models.BigIntegerField()
    reason = models.CharField(max_length=12)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=12, blank=True)
    results = models.JSONField(default=dict)
    errors = models.JSONField(default=dict)
    cost = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")]


class SharedEntry(OwnedByAssistant):
    """An entry of a journal that one scope was told of, by the character that knows it at first
    hand; ``assistant`` is the teller's, ``at`` when it was told. It goes in the transaction in
    which the entry becomes another one.

    ``scope`` is a label of lore's; ``people`` names everybody concerned as `people_field` writes
    it, so that "forget me" finds it by a query.
    """

    entry = models.CharField(max_length=80)
    scope = models.CharField(max_length=300)
    teller = models.CharField(max_length=24)
    text = models.TextField()
    learnt_at = models.DateTimeField()
    available_from = models.DateTimeField()
    importance = models.PositiveSmallIntegerField()
    trust = models.FloatField()
    source = models.CharField(max_length=24, blank=True)
    speakers = models.JSONField(default=list)
    people = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assistant", "entry", "scope"], name="ai_shared_once")
        ]
        indexes = [
            models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
            models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
        ]


class DailyUse(models.Model):
    """Calls and tokens of one assistant on one UTC day.

    Summing 100,000 calls by date takes 365 ms on SQLite (measured), so the sums are kept.
    """

    id = models.BigAutoField(primary_key=True)
    assistant = models.ForeignKey("scripts.ScriptDB", on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assistant", "day"], name="ai_dailyuse_once")
        ]


class SpeakerUse(models.Model):
    """Tokens that one speaker's words cost on one UTC day."""

    id = models.BigAutoField(primary_key=True)
    speaker = models.CharField(max_length=24)
    day = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "speaker"], name="ai_speakeruse_once")
        ]


class Lore(models.Model):
    """A piece of static knowledge that builders wrote in the game."""

    id = models.BigAutoField(primary_key=True)
    title = models.CharField(max_length=200, unique=True)
    text = models.TextField()
    scopes = models.JSONField(default=list)


class SharedPersona(models.Model):
    """A persona several characters have; a character names it as ``@name``."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=64, unique=True)
    fields = models.JSONField(default=dict)

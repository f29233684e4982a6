"""What is no talk: model calls and their sums, hearsay, reports, lore, personas, sleep passes."""

from datetime import date, datetime
from typing import Any, ClassVar

from django.db import models

from evennia_ai.models import fields as own
from evennia_ai.models.talk import Turn


class SleepPass(own.OwnedByAssistant):
    """One sleep pass, stored at its start.

    ``reason`` is one of those in `policy.sleep_schedule`; ``outcome`` is done, woken (ended early,
    since somebody was waiting), stopped, or interrupted by a crash: then ``ended_at`` is the time
    of its last model call. ``results`` holds figures by sleep step; ``errors``, by sleep step, may
    quote what somebody said.
    """

    reason: str = own.CharField(max_length=12)
    ended_at: datetime | None = own.DateTimeField(null=True)
    outcome: str = own.CharField(max_length=12, blank=True)
    results: dict[str, Any] = own.OrderedJSONField(default=dict, of=dict)
    errors: dict[str, Any] = own.OrderedJSONField(default=dict)
    cost: dict[str, Any] = own.OrderedJSONField(default=dict, of=int)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")]


class SharedEntry(own.OwnedByAssistant):
    """One journal entry that a character told to one scope, such as its faction.

    ``assistant`` is the teller's assistant, ``at`` the time of telling. The row is deleted in the
    transaction that changes or removes the entry. ``scope`` is a label, as for lore, or
    `ONE_MIND` and the dbref of the only one who knows it. ``people`` names everybody concerned in
    the format of `people_field`, so that "forget me" finds the row by a query.
    """

    ONE_MIND: ClassVar[str] = "mind:"

    entry: str = own.CharField(max_length=80)
    scope: str = own.CharField(max_length=300)
    teller: str = own.CharField(max_length=24)
    text: str = own.TextField()
    learnt_at: datetime = own.DateTimeField()
    available_from: datetime = own.DateTimeField()
    importance: int = own.PositiveSmallIntegerField()
    trust: float = own.FloatField()
    source: str = own.CharField(max_length=24, blank=True)
    speakers: list[Any] = own.JSONField(default=list)
    people: str = own.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assistant", "entry", "scope"], name="ai_shared_once")
        ]
        indexes = [
            models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
            models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
        ]


class Report(own.OwnedByAssistant):
    """What a player reported of a character; ``seqs`` are the messages, which stay in the log."""

    reporter: str = own.CharField(max_length=24)
    reporter_name: str = own.CharField(max_length=255)
    reason: str = own.TextField()
    seqs: list[Any] = own.JSONField(default=list, of=int)
    closed_at: datetime | None = own.DateTimeField(null=True)
    closed_by: str = own.CharField(max_length=255, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["closed_at", "id"], name="ai_report_open"),
            models.Index(fields=["reporter", "id"], name="ai_report_by"),
        ]


class Lore(models.Model):
    """One lore entry that a builder wrote in the game; ``authors`` as in `policy.audience`.

    ``keys`` are words and phrases that bring it into a prompt; ``always`` is True if none need to.
    """

    id: int = models.BigAutoField(primary_key=True)
    title: str = own.CharField(max_length=200, unique=True)
    text: str = own.TextField()
    scopes: list[Any] = own.JSONField(default=list)
    authors: list[Any] = own.JSONField(default=list)
    keys: list[Any] = own.JSONField(default=list)
    always: bool = own.BooleanField(default=False)


class SharedPersona(models.Model):
    """A persona that several characters share; a character refers to it as ``@name``.

    ``authors`` are those of `policy.audience`.
    """

    id: int = models.BigAutoField(primary_key=True)
    name: str = own.CharField(max_length=64, unique=True)
    fields: dict[str, Any] = own.OrderedJSONField(default=dict, of=object)
    authors: list[Any] = own.JSONField(default=list)


class ModelCall(own.OwnedByAssistant):
    """One model call, and its cost.

    ``cached_tokens`` are those of the prompt that came from the endpoint's cache, None if unknown.
    ``money`` is what it cost in millionths of the game's currency, None if its profile had no
    prices. ``token`` is the same at each try to store the call.
    """

    turn = own.ForeignKey(Turn, null=True, on_delete=models.SET_NULL, related_name="model_calls")
    purpose: str = own.CharField(max_length=32)
    profile: str = own.CharField(max_length=64)
    model: str = own.CharField(max_length=255, blank=True)
    estimated_tokens: int = own.PositiveIntegerField(default=0)
    prompt_tokens: int | None = own.PositiveIntegerField(null=True)
    completion_tokens: int | None = own.PositiveIntegerField(null=True)
    cached_tokens: int | None = own.PositiveIntegerField(null=True)
    money: int | None = own.PositiveBigIntegerField(null=True)
    duration_ms: int = own.PositiveIntegerField(default=0)
    finish_reason: str = own.CharField(max_length=32, blank=True)
    error_kind: str = own.CharField(max_length=16, blank=True)
    error: str = own.TextField(blank=True)
    token: str = own.CharField(max_length=32, default=own.new_token, unique=True)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_modelcall_of")]


class CallRecord(own.OwnedByAssistant):
    """The prompt and the reply of one model call (`policy.call_record`).

    ``id`` is that of the `ModelCall`. ``digest`` is of the whole request. ``people`` names
    everybody whose words it may hold in the format of `people_field`; "forget me" empties
    ``packed`` of the records that name somebody.
    """

    id: int = own.BigIntegerField(primary_key=True)
    digest: str = own.CharField(max_length=32)
    people: str = own.TextField(blank=True)
    packed: bytes = own.BinaryField()

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_callrecord_of")]


class PromptText(models.Model):
    """A text that the prompts of many calls share; ``used_on`` is the last day of its use."""

    digest: str = own.CharField(max_length=32, primary_key=True)
    text: str = own.TextField()
    used_on: date = own.DateField()


class UseSums(models.Model):
    """Sums of model calls on one UTC day; ``money`` is in millionths of the game's currency.

    ``priced_tokens`` are those of calls whose profile had prices, ``free_tokens`` those of local
    models, which need none. The money is that of the prices on the day.
    """

    id: int = models.BigAutoField(primary_key=True)
    day: date = own.DateField()
    calls: int = own.PositiveIntegerField(default=0)
    prompt_tokens: int = own.PositiveBigIntegerField(default=0)
    completion_tokens: int = own.PositiveBigIntegerField(default=0)
    cached_tokens: int = own.PositiveBigIntegerField(default=0)
    money: int = own.PositiveBigIntegerField(default=0)
    priced_tokens: int = own.PositiveBigIntegerField(default=0)
    free_tokens: int = own.PositiveBigIntegerField(default=0)

    class Meta:
        abstract = True


class DailyUse(UseSums):
    """The use of one assistant with one model profile.

    The sums are stored, since adding up 100,000 calls takes 365 ms on SQLite (measured).
    """

    assistant_id: int

    assistant = models.ForeignKey("scripts.ScriptDB", on_delete=models.CASCADE, related_name="+")
    profile: str = own.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["day", "assistant", "profile"], name="ai_dailyuse_by_profile"
            )
        ]


class SpeakerUse(UseSums):
    """The use that the words of one speaker caused; ``tokens`` are those of prompt and reply.

    Speakers who caused a call together share it; ``calls`` counts tenths of a call.
    """

    speaker: str = own.CharField(max_length=24)
    tokens: int = own.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "speaker"], name="ai_speakeruse_once")
        ]
        indexes = [models.Index(fields=["speaker"], name="ai_speakeruse_by")]

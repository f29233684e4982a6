"""Model calls: their prompts, their costs, and the sums of a day."""

from datetime import date

from django.db import models

from evennia_ai.models import fields as own
from evennia_ai.models.talk import Turn


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
    """The prompt and the reply of one model call (`policy.explanation.call_record`).

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

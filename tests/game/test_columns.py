"""Every text and every plain value can be stored, on any database, and comes back the same."""

from datetime import UTC, datetime

from django.apps import apps
from django.db import models
from django.db.models import Value

from evennia_ai.messages import Usage
from evennia_ai.models import DailyUse, Event, ModelCall, SleepPass
from evennia_ai.models.fields import Storable, damage
from evennia_ai.ports import ModelCallRecord

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STRANGE = "a\0b\ud83dc"
UPSIDE_DOWN = {"public": {}, "#5": {}, "#1234,#5": {}, "a": {"zz": 1, "b": 2}}


def test_every_column_of_text_or_plain_data_takes_any_text():
    kinds = (models.CharField, models.TextField, models.JSONField)
    tables = apps.get_app_config("evennia_ai").get_models()
    columns = [field for table in tables for field in table._meta.local_fields]
    taking = [field for field in columns if isinstance(field, kinds)]
    assert taking and all(isinstance(field, Storable) for field in taking)


def test_a_call_of_a_model_with_a_name_of_any_length_is_counted(game, mira):
    for _ in range(2):
        record = ModelCallRecord(
            purpose="p" * 100, profile="main" * 50, model="m" * 300 + STRANGE,
            estimated_tokens=900, usage=Usage(900, 20), duration_ms=5, error=STRANGE,
        )  # fmt: skip
        mira.assistant.mind.turns.record_model_call(None, record)
    row = ModelCall.objects.first()
    assert (row.model, row.error, len(row.profile)) == ("m" * 255, "ab?c", 64)
    use = DailyUse.objects.get(assistant_id=mira.assistant.id)
    assert (use.calls, use.prompt_tokens, use.profile) == (2, 1800, row.profile)


def test_the_keys_of_an_object_keep_their_order(mira):
    row = SleepPass.objects.create(
        assistant_id=mira.assistant.id, at=NOW, reason="order", results=UPSIDE_DOWN
    )
    (results,) = SleepPass.objects.filter(id=row.id).values_list("results", flat=True)
    assert list(results) == list(UPSIDE_DOWN)
    assert list(results["a"]) == ["zz", "b"]
    stored = SleepPass.objects.get(id=row.id)
    stored.results |= {"last": {STRANGE: 1}, "b": {}}
    stored.save()
    stored.refresh_from_db()
    assert list(stored.results) == [*UPSIDE_DOWN, "last", "b"]
    assert stored.results["last"] == {"ab?c": 1}


def test_plain_data_of_another_kind_is_read_as_what_fits_of_it_and_told_of(mira):
    damage.clear()
    Event.objects.create(assistant_id=mira.assistant.id, at=NOW, kind="say", text="hi", state="x")
    for wrong, fitting in ((7, []), (None, []), ({"a": 1}, []), (["#1", None, [2]], ["#1"])):
        Event.objects.update(audience=Value(wrong, models.JSONField()))
        Event._meta.get_field("audience").note_damage()
        assert Event.objects.get().audience == fitting
    assert list(damage) == ["evennia_ai_event.audience"]
    damage.clear()

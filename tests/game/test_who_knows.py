"""Every column and every record that can hold somebody's words is declared, once."""

from django.apps import apps
from django.db import models as fields
from evennia.typeclasses.attributes import Attribute

from evennia_ai.policy.records.forgetting import FIXED, NO_WORDS, words_in
from evennia_ai.policy.records.record import read_segment
from evennia_ai.store.attributes import stored_columns
from evennia_ai.store.personal_data import LOGS, PLACES, STORES
from tests.game import forgetting_scene as scene

bruno, planted = scene.bruno, scene.planted
OURS = list(apps.get_app_config("evennia_ai").get_models())
TEXTS = (fields.CharField, fields.TextField, fields.JSONField, fields.BinaryField)
# Columns without words: numbers of objects and calls, names of tools and profiles, fixed words.
WORDLESS = {
    "CallRecord": "digest",
    "Message": "role tool_call_id evidence audience",
    "ToolCall": "call_id name state",
    "ModelCall": "purpose profile model finish_reason error_kind token",
    "Event": "kind evidence item audience state token",
    "Turn": "context outcome mark marked_by",
    "Compaction": "reason prefix_hash consulted rung cost",
    "SleepPass": "reason outcome results cost",
    "DailyUse": "profile",
    "PendingAct": "needs state name audience item decided_by",
    "SharedEntry": "entry scope teller",
    "Report": "seqs closed_by",
    "Amendment": "kind by undone_by",
    "Lore": "scopes",
    "PromptText": "digest",
    "LineVector": "embedder packed",
}


def test_every_column_of_text_is_declared_or_known_to_hold_no_words():
    for model in OURS:
        columns = {f.name for f in model._meta.concrete_fields if isinstance(f, TEXTS)}
        wordless = set(WORDLESS.get(model.__name__, "").split())
        declared = {
            name
            for place in PLACES
            if place.model is model
            for name in (*place.named, *place.words, *place.also)
        }
        assert declared | wordless == columns, model
        assert not declared & wordless, model


def test_an_assistants_rows_are_erased_before_those_they_refer_to():
    owned = {m for m in OURS if any(f.name == "assistant" for f in m._meta.concrete_fields)}
    assert owned <= {*LOGS}
    for number, model in enumerate(LOGS):
        referred = {f.related_model for f in model._meta.concrete_fields} - {model}
        assert referred.isdisjoint(LOGS[:number]), model


def texts_in(value):
    """Yield every text in a value, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, str) and not NO_WORDS.fullmatch(value):
        yield value


def test_every_text_of_every_kind_of_record_is_searched(planted):
    planted.everything()
    kinds = set()
    for row in stored_columns(Attribute.objects.filter(db_attrtype__in=STORES)):
        kinds.add(row.db_attrtype)
        store = STORES[row.db_attrtype].of(row.objectdb_set.get())
        segment, _whole = read_segment(row.column, int(row.db_key), store.read, row.db_strvalue)
        for record in segment.records.values():
            wordy = {name: value for name, value in record.items() if name not in FIXED}
            assert set(texts_in(wordy)) <= set(words_in(record).split("\n")), record
    of_core = {kind for kind, store in STORES.items() if "contrib" not in store.__module__}
    assert kinds >= of_core

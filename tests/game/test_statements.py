"""Statements written once store and read what Django's own do."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evennia_ai import models
from evennia_ai.store.statements import MOST_ROWS, add, insert, select, update

pytestmark = [pytest.mark.game, pytest.mark.engine]

AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def event(mira, text="hail", **columns):
    values = {"kind": "say", "speaker": "#5", "speaker_name": "Ann", "state": "waiting"}
    return models.Event(assistant_id=mira.assistant.id, at=AT, text=text, **values | columns)


def values_of(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_an_inserted_row_is_what_django_would_have_stored(mira):
    strange = {"text": "näive\0 \ud800 words", "speaker_name": "Å" * 300, "audience": ["#5", "#7"]}
    ours, theirs = event(mira, **strange), event(mira, **strange)
    insert(ours)
    theirs.save()
    assert ours.pk and not ours._state.adding
    assert values_of(ours) | {"id": 0} == values_of(theirs) | {"id": 0}
    stored = [values_of(models.Event.objects.get(id=row.id)) | {"id": 0} for row in (ours, theirs)]
    assert stored[0] == stored[1]


def test_many_rows_get_their_keys_in_order(mira):
    rows = [event(mira, f"line {number}") for number in range(2 * MOST_ROWS + 3)]
    with CaptureQueriesContext(connection) as asked:
        insert(*rows)
    assert len(asked) == 3
    texts = dict(models.Event.objects.values_list("id", "text"))
    assert [texts[row.id] for row in rows] == [row.text for row in rows]
    insert()


def test_a_row_with_a_key_of_its_own_keeps_it(mira):
    call = models.ModelCall.objects.create(assistant_id=mira.assistant.id, at=AT)
    insert(models.CallRecord(id=call.id, assistant_id=call.assistant_id, at=AT, packed=b"\x00\xff"))
    assert bytes(models.CallRecord.objects.get(id=call.id).packed) == b"\x00\xff"


def test_read_rows_are_what_django_reads(mira):
    for state in ("waiting", "doubtful", "overheard", "waiting"):
        insert(event(mira, state=state, private=state == "doubtful"))
    insert(event(mira.assistant.obj, "another", state="noted"))
    for states in (("waiting", "doubtful"), ("waiting",), "overheard"):
        found = select(models.Event, assistant_id=mira.assistant.id, state=states)
        asked = [states] if isinstance(states, str) else states
        theirs = models.Event.objects.filter(state__in=asked).order_by("id")
        assert [values_of(row) for row in found] == [values_of(row) for row in theirs]
        assert not any(row._state.adding for row in found)
    assert select(models.Event, assistant_id=-1) == []


def test_an_update_changes_the_rows_that_fit_and_counts_them(mira):
    rows = [event(mira), event(mira), event(mira, state="noted")]
    insert(*rows)
    where = {"assistant_id": mira.assistant.id, "state": "waiting"}
    assert update(models.Event, where, state="answered", reason="a\0b") == 2
    assert update(models.Event, where, state="answered") == 0
    stored = list(models.Event.objects.order_by("id").values_list("state", "reason"))
    assert stored == [("answered", "ab"), ("answered", "ab"), ("noted", "")]


def test_sums_are_added_to_in_the_database(mira):
    key = {"speaker": "#5", "day": AT.date()}
    assert add(models.SpeakerUse, key, tokens=5) == 0
    insert(models.SpeakerUse(**key, tokens=7))
    assert add(models.SpeakerUse, key, tokens=5, calls=10) == 1
    assert models.SpeakerUse.objects.values_list("tokens", "calls").get() == (12, 10)

"""Rows whose columns hold what they cannot: whatever reads them goes on, and staff are told."""

import pytest
from django.apps import apps
from django.db import connection

from evennia_ai.models import (
    Amendment,
    Compaction,
    Event,
    Lore,
    Message,
    PendingAct,
    Report,
    SharedEntry,
    SharedPersona,
    SleepPass,
)
from evennia_ai.models.fields import damage
from evennia_ai.store.rows import look_for_damage
from tests.contrib.staff_pages.conftest import Browser
from tests.faults import conftest as faults
from tests.faults.process_scene import pass_time
from tests.scripted import call
from tests.short_form import short_form

pytestmark = [
    pytest.mark.game,
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="PostgreSQL's columns keep their kind"
    ),
]

logged = faults.logged
NULL, HALF, BYTES, GARBAGE = "NULL", "'{\"a\": '", "X'ff61'", "'garbage'"
OF_JSON = (NULL, HALF, BYTES, "'null'", "'7'", "'\"x\"'", "'[null, [1]]'", "'{\"a\": null}'")
OF_DATES = (NULL, GARBAGE, "7", "'2026-13-45 00:00:00'")
OF_TEXT = (NULL, BYTES)
VALUES = {"JSONField": OF_JSON, "DateTimeField": OF_DATES, "DateField": OF_DATES,
          "CharField": OF_TEXT, "TextField": OF_TEXT}  # fmt: skip
COMMANDS = """aihistory Mira
aihistory/turns Mira
aihistory/sleep Mira
aihistory/unanswered Mira
aihistory Mira = search morning
aiwhy Mira
aicost
aicost/players
aireport/list
aireport/show 1
ailore
ailore/for Mira
aisetup/list
aicompact/dry Mira
aipurge/dry""".splitlines()


@pytest.fixture(autouse=True)
def undamaged():
    forget_damage()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints=ON")
        yield
        cursor.execute("PRAGMA ignore_check_constraints=OFF")
    forget_damage()


def forget_damage():
    """Read all columns as the next process would."""
    damage.clear()
    for _table, field in columns():
        if not field.always_checked:
            vars(field).pop("get_db_converters", None)


@pytest.fixture
def stored(pages, lived, ann):
    """Put at least one row into each table that staff can read."""
    mind, now = lived.assistant.mind, lived.assistant.services.now()
    seq = Message.objects.first().id
    own = {"assistant_id": lived.assistant.id, "at": now}
    speech = {"kind": "say", "speaker": ann.dbref, "speaker_name": "Ann", "audience": [ann.dbref]}
    Event.objects.create(**own, **speech, text="Hm.", state="overheard")
    Event.objects.create(**own, **speech, text="Mira, one more?", state="waiting")
    Amendment.objects.create(**own, seq=seq, kind="hidden", by="#1", batch=1)
    Report.objects.create(**own, reporter=ann.dbref, reporter_name="Ann", reason="rude", seqs=[seq])
    PendingAct.objects.create(
        **own, needs="admin", state="waiting", name="look", arguments="{}", expires_at=now
    )
    SharedEntry.objects.create(
        **own, entry="j1", scope="world", teller=lived.dbref, text="A feast.", learnt_at=now,
        available_from=now, importance=5, trust=1.0,
    )  # fmt: skip
    Lore.objects.create(title="Gate", text="It is shut.", scopes=["world"], always=True)
    SharedPersona.objects.create(name="guard", fields={"persona": "A guard."})
    Compaction.objects.update(undone_at=None)
    assert mind.log.view()
    return lived


@pytest.fixture(autouse=True, scope="module")
def tables_as_before(django_db_setup, django_db_blocker):
    """Let SQLite read the tables' forms anew at the end: a rollback changes only what is stored."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("PRAGMA writable_schema=RESET")


def columns():
    """Yield the columns that are no keys, of all tables."""
    for table in apps.get_app_config("evennia_ai").get_models():
        for field in table._meta.concrete_fields:
            if not (field.primary_key or field.is_relation or field.name == "token"):
                yield table, field


def write(table, column, value):
    """Write a value into a column of all rows, whether the column allows it or not."""
    name = table._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [name])
        loose = cursor.fetchone()[0].replace(" NOT NULL", " ")
        cursor.execute("PRAGMA writable_schema=ON")
        cursor.execute("UPDATE sqlite_master SET sql = %s WHERE name = %s", [loose, name])
        cursor.execute("PRAGMA writable_schema=RESET")
        cursor.execute(f'UPDATE "{name}" SET "{column}" = {value}')


def test_every_damaged_value_is_read_as_one_of_its_kind_and_told_of(stored):
    read = 0
    for table, field in columns():
        for value in VALUES.get(field.get_internal_type(), (NULL, BYTES)):
            forget_damage()
            before = list(table.objects.order_by("pk").values_list("pk", field.attname))
            write(table, field.column, value)
            assert [*look_for_damage()] == []  # few rows
            found = list(table.objects.order_by("pk").values_list("pk", field.attname))
            assert [pk for pk, _value in found] == [pk for pk, _value in before]
            for _pk, one in found:
                assert one is None if field.null and not field.fits(one) else field.fits(one)
            may_be = value == NULL and field.null
            told = bool(damage) or may_be or not before or is_right(field, value)
            assert told, (table, field, value)
            read += len(found)
    assert read > 500


def is_right(field, value):
    """Return True for what is no damage, since SQLite or the column turns it into its kind."""
    if field.get_internal_type() == "JSONField":
        return (field.default is dict and value == "'{\"a\": null}'" and field.of is object) or (
            value == NULL and field.null
        )
    return field.get_internal_type() in {"BooleanField", "BinaryField"} or field.null


def test_whom_words_were_for_is_checked_before_anybody_looks(stored):
    write(Event, "audience", BYTES)
    assert set(map(str, Event.objects.values_list("audience", flat=True))) == {"[]"}


@pytest.mark.parametrize("value", [NULL, GARBAGE, "7"])
def test_what_may_have_been_a_whisper_is_one(stored, value):
    write(Message, "private", value)
    assert all(Message.objects.values_list("private", flat=True))


@pytest.mark.parametrize(
    ("table", "column", "value"),
    short_form([
        (Event, "audience", "'[[1]]'"), (Event, "at", GARBAGE), (Event, "text", NULL),
        (Event, "attempts", NULL), (Message, "at", "'2026-13-45 00:00:00'"),
        (Message, "content", BYTES), (Message, "tool_calls", HALF),
        (Message, "tool_calls", BYTES), (Event, "audience", BYTES), (Compaction, "summary", BYTES),
        (Message, "audience", "'7'"),
        (Message, "tokens", GARBAGE), (Amendment, "at", NULL), (Compaction, "summary", HALF),
        (Compaction, "upto_seq", GARBAGE), (Compaction, "speakers", "'null'"),
        (Lore, "scopes", "'7'"), (Report, "seqs", "'[null]'"),
    ], 7, pytest.mark.soak),
)  # fmt: skip
def test_with_a_damaged_column_it_answers_and_sleeps_and_staff_read_on(
    game, stored, ann, admin, pages, table, column, value
):
    write(table, column, value)
    game.model.add(*[call("say", text="Answer.")] * 4)
    service = game.next_process(stored.assistant)
    service.resume()
    pass_time(game, 5)
    ann.forget()
    ann.do("say Mira, again?")
    pass_time(game, 10)
    assert 'Mira says, "Answer."' in ann.heard()
    assert not Event.objects.filter(state__in=["waiting", "claimed", "doubtful"])
    admin.do("aisleep Mira")
    pass_time(game, 60)
    assert SleepPass.objects.order_by("-id").first().outcome == "done"
    for line in COMMANDS:
        assert "untrapped" not in admin.told(line), line
    for page in pages:
        assert Browser(admin).get(page).status_code in (200, 204), page
    assert f"evennia_ai_{table.__name__.lower()}.{column} has a damaged value" in " ".join(
        admin.told("aistatus").split()
    )


def test_after_a_tick_that_failed_the_damage_is_found(game, stored, ann, logged):
    game.model.add(*[call("say", text="Answer.")] * 12)
    game.next_process(stored.assistant).at_start()
    pass_time(game, 5)
    ann.forget()
    ann.do("say Mira, again?")
    write(Event, "attempts", NULL)
    pass_time(game, 10)
    assert 'Mira says, "Answer."' in ann.heard()
    assert any("a tick failed" in line for line in logged)
    assert "evennia_ai_event.attempts" in damage

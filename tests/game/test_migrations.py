"""The migrations create the tables that the models describe."""

import io
from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import ConnectionHandler
from django.db.migrations.loader import MigrationLoader

OLD_CALL = (
    "INSERT INTO evennia_ai_modelcall (id, assistant_id, at, purpose, profile, model, "
    "estimated_tokens, prompt_tokens, duration_ms, finish_reason, error_kind, error) "
    "VALUES (1, 1, '2026-01-01', 'tick', 'home', 'ours', 800, 900, 5, 'stop', '', '')"
)
OLD_EVENT = (
    "INSERT INTO evennia_ai_event (id, assistant_id, at, kind, speaker, speaker_name, text, "
    "audience, private, hops, state, reason, attempts) "
    "VALUES ({id}, 1, '2026-01-01', '{kind}', '{speaker}', 'Ann', 'x', '[]', 0, 0, 'noted', '', 0)"
)
OLD_MESSAGE = (
    "INSERT INTO evennia_ai_message (assistant_id, at, role, content, tool_calls, tool_call_id, "
    "speaker, speaker_name, audience, private, tokens, event_id, consulted) "
    "VALUES (1, '2026-01-01', '{role}', '(x)', '[]', '', '{speaker}', 'Ann', '[]', 0, 1, {event}, "
    "'{{}}')"
)
OLD_USE = (
    "INSERT INTO evennia_ai_dailyuse (id, assistant_id, day, calls, prompt_tokens, "
    "completion_tokens) VALUES (1, 1, '2026-01-01', 1, 900, 20)"
)


@pytest.mark.django_db
def test_the_migrations_are_up_to_date(settings):
    settings.MIGRATION_MODULES = {}  # the other tests run without migrations
    # Without the app's name Django also compares Evennia's own models.
    output = io.StringIO()
    call_command("makemigrations", "evennia_ai", check=True, dry_run=True, stdout=output)
    assert "No changes detected" in output.getvalue()


@pytest.mark.django_db
def test_calls_of_before_keep_their_figures_and_know_of_no_cache(settings, tmp_path):
    settings.MIGRATION_MODULES = {}
    file = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "before.db3")}
    database = ConnectionHandler({"default": file})["default"]
    loader = MigrationLoader(None)
    state = loader.project_state(("evennia_ai", "0001_initial"))
    with database.schema_editor() as editor:
        for name in ("Turn", "ModelCall", "DailyUse"):
            editor.create_model(state.apps.get_model("evennia_ai", name))
    with database.cursor() as cursor:
        cursor.execute("CREATE TABLE scripts_scriptdb (id integer PRIMARY KEY)")
        cursor.execute("INSERT INTO scripts_scriptdb VALUES (1)")
        cursor.execute(OLD_CALL)
        cursor.execute(OLD_USE)
    with database.schema_editor() as editor:
        loader.get_migration("evennia_ai", "0002_cached_tokens").apply(state, editor)
    with database.cursor() as cursor:
        cursor.execute("SELECT prompt_tokens, cached_tokens FROM evennia_ai_modelcall")
        assert cursor.fetchall() == [(900, None)]
        cursor.execute("SELECT prompt_tokens, cached_tokens FROM evennia_ai_dailyuse")
        assert cursor.fetchall() == [(900, 0)]
    database.close()


@pytest.mark.django_db
def test_use_of_before_keeps_its_tokens_and_calls_and_has_no_price(settings, tmp_path):
    settings.MIGRATION_MODULES = {}
    file = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "before.db3")}
    connections = ConnectionHandler({"default": file})
    database, loader = connections["default"], MigrationLoader(None)
    state = loader.project_state(("evennia_ai", "0011_own_typeclasses"))
    with database.schema_editor() as editor:
        for name in ("Turn", "ModelCall", "DailyUse", "SpeakerUse"):
            editor.create_model(state.apps.get_model("evennia_ai", name))
    with database.cursor() as cursor:
        cursor.execute("CREATE TABLE scripts_scriptdb (id integer PRIMARY KEY)")
        cursor.execute("INSERT INTO scripts_scriptdb VALUES (1)")
        cursor.execute(OLD_CALL)
        cursor.execute(
            OLD_USE.replace("tokens)", "tokens, cached_tokens)").replace("20)", "20, 5)")
        )
        cursor.execute(
            "INSERT INTO evennia_ai_speakeruse (id, speaker, day, tokens) "
            "VALUES (1, '#5', '2026-01-01', 920)"
        )
    with database.schema_editor() as editor:
        loader.get_migration("evennia_ai", "0014_costs").apply(state, editor)
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT profile, calls, prompt_tokens, completion_tokens, cached_tokens, money, "
            "priced_tokens, free_tokens FROM evennia_ai_dailyuse"
        )
        assert cursor.fetchall() == [("", 1, 900, 20, 5, 0, 0, 0)]
        cursor.execute("SELECT tokens, prompt_tokens, calls, money FROM evennia_ai_speakeruse")
        assert cursor.fetchall() == [(920, 920, 0, 0)]
        cursor.execute("SELECT money FROM evennia_ai_modelcall")
        assert cursor.fetchall() == [(None,)]
        cursor.execute("UPDATE evennia_ai_speakeruse SET calls = 3")
    with database.schema_editor() as editor:
        loader.get_migration("evennia_ai", "0018_shared_calls").apply(state, editor)
    with database.cursor() as cursor:
        cursor.execute("SELECT calls FROM evennia_ai_speakeruse")
        assert cursor.fetchall() == [(30,)]
    database.close()


@pytest.mark.django_db
def test_old_lines_get_the_nature_of_their_event_and_are_claims_without_one(settings, tmp_path):
    settings.MIGRATION_MODULES = {}
    file = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "before.db3")}
    database = ConnectionHandler({"default": file})["default"]
    loader = MigrationLoader(None)
    state = loader.project_state(("evennia_ai", "0004_compaction_without_facts"))
    with database.schema_editor() as editor:
        for name in ("Turn", "Event", "Message"):
            editor.create_model(state.apps.get_model("evennia_ai", name))
    kinds = ("give", "arrive", "leave", "notice", "emote", "say", "whisper", "sing")
    with database.cursor() as cursor:
        cursor.execute("CREATE TABLE scripts_scriptdb (id integer PRIMARY KEY)")
        cursor.execute("INSERT INTO scripts_scriptdb VALUES (1)")
        for number, kind in enumerate(kinds, 1):
            cursor.execute(OLD_EVENT.format(id=number, kind=kind, speaker="#2"))
            cursor.execute(OLD_MESSAGE.format(role="user", speaker="#2", event=number))
        cursor.execute(OLD_MESSAGE.format(role="user", speaker="#2", event="NULL"))
        cursor.execute(OLD_MESSAGE.format(role="user", speaker="", event="NULL"))
        cursor.execute(OLD_MESSAGE.format(role="assistant", speaker="", event="NULL"))
    with database.schema_editor() as editor:
        loader.get_migration("evennia_ai", "0005_nature").apply(state, editor)
    happened, said = ["perceived"] * 4, ["performed", *["claimed"] * 3]
    with database.cursor() as cursor:
        for table, expected in (
            ("event", [*happened, *said]),
            ("message", [*happened, *said, "claimed", "perceived", ""]),
        ):
            cursor.execute(f"SELECT nature FROM evennia_ai_{table} ORDER BY id")
            assert [nature for (nature,) in cursor.fetchall()] == expected
    database.close()


def test_characters_of_before_get_their_own_typeclass_back(db):
    from evennia.objects.models import ObjectDB
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    migration = import_module("evennia_ai.migrations.0011_own_typeclasses")
    path = "evennia_ai.assistant_character.Assistant__world__characters__Character"
    guard = ObjectDB.objects.filter(id=create_object(DefaultCharacter, key="Guard").id)
    guard.update(db_typeclass_path=path)
    migration.restore(apps, None)
    assert guard.values_list("db_typeclass_path", flat=True)[0] == "world.characters.Character"

"""The tables are older or newer than the code: staff is told, and the characters still answer."""

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from twisted.internet.defer import succeed

from evennia_ai.messages import LLMReply
from evennia_ai.offline import OfflineBrain
from evennia_ai.store.brief_transaction import schema_trouble
from tests.game import conftest as scene
from tests.offline.test_brain import LATIN

pytestmark = pytest.mark.game

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob, admin = scene.mira, scene.ann, scene.bob, scene.admin


def run_sql(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def apply(name):
    """Record a migration of ours; the tests make their tables without any."""
    if connection.vendor == "sqlite":  # its schema editor runs outside transactions only
        run_sql(
            "CREATE TABLE IF NOT EXISTS django_migrations "
            "(id integer PRIMARY KEY, app varchar(255), name varchar(255), applied datetime)"
        )
    MigrationRecorder(connection).record_applied("evennia_ai", name)


def older():
    """Take a table away that nothing reads here, as before a migration."""
    run_sql("ALTER TABLE evennia_ai_linevector RENAME TO gone")


def newer():
    """Add a column that must have a value, as after a later migration."""
    run_sql("ALTER TABLE evennia_ai_event RENAME COLUMN item TO mood")
    run_sql("ALTER TABLE evennia_ai_event ADD COLUMN item varchar(24)")
    for name in ("0001_initial", "0099_mood"):
        apply(name)


@pytest.fixture
def restarted(game, ann, mira):
    """Return a function that starts the server's service again."""

    def restart():
        game.service.check_store()
        game.service.accepting = not game.service.schema_trouble
        game.service.resume()

    return restart


def test_tables_that_fit_are_no_trouble(db):
    assert schema_trouble() == ""


@pytest.mark.parametrize(("change", "word"), [(older, "migrate"), (newer, "migrate")])
def test_a_character_answers_although_the_tables_do_not_fit(
    game, ann, admin, mira, restarted, change, word, logged
):
    change()
    restarted()
    ann.do("say Mira, good evening!")
    game.run(2)
    assert ann.last().startswith('Mira says, "')
    assert not game.model.requests
    game.run(30)
    assert "did not catch" not in "".join(ann.heard())
    assert [line for line in logged if word in line]
    assert word in admin.told("aistatus")
    assert word not in ann.told("aboutme")


def test_a_whisper_is_answered_in_a_whisper_then(game, ann, bob, mira, restarted):
    older()
    restarted()
    ann.do("whisper Mira = good evening")
    game.run(2)
    assert ann.last().startswith("Mira whispers")
    assert "Mira" not in "".join(bob.heard())


def test_a_games_own_language_is_spoken_then_too(game, ann, mira, settings, tmp_path):
    (tmp_path / "la.toml").write_text(LATIN, encoding="utf-8")
    languages = {"OFFLINE_LANGUAGES": [str(tmp_path / "la.toml")]}
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, **languages}
    older()
    game.next_process(mira.assistant)
    ann.do("say Salve, Mira!")
    game.run(2)
    assert ann.last() == 'Mira says, "Salve, Ann. Ego sum Mira."'


def test_two_characters_do_not_answer_each_other_then(
    game, ann, mira, tavern, restarted, monkeypatch
):
    greeting = LLMReply("Mira! Otto! Good evening!")
    monkeypatch.setattr(OfflineBrain, "complete", lambda *_: succeed(greeting))
    game.assistant("Otto", tavern)
    older()
    restarted()
    ann.do("say Mira, good evening!")
    game.run(30)
    assert [line for line in ann.heard() if greeting.content in line] == [ann.last()]

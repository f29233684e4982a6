"""`evennia ai_uninstall` finds and removes whatever the package left in a game."""

import re
import socket
from contextlib import closing
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db.models import Q
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.server.models import ServerConfig
from evennia.typeclasses.attributes import Attribute

import evennia_ai
from evennia_ai.management import uninstall
from evennia_ai.signals import uninstalling
from evennia_ai.store.personal_data import STORES
from tests.scripted import call

PACKAGE = Path(evennia_ai.__file__).parent
WRITES = re.compile(r"""(?<!n)db\.(ai_\w+)|attributes\.\w+\(\s*["'](ai_\w+)""")


@pytest.fixture
def scene(game, settings, tmp_path, monkeypatch):
    """A game in which two assistants of different make have talked with somebody.

    The tables stay: they cannot go inside a test's transaction. That is tested with a real game,
    in tests/e2e/test_quick_start.py.
    """
    monkeypatch.setattr(uninstall, "remove_tables", lambda: True)
    settings.GAME_DIR = str(tmp_path)
    settings.STATIC_ROOT = str(tmp_path / "static")
    settings.AMP_PORT = free_port()
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    tavern = game.room()
    game.assistant("Mira", tavern)
    ann = game.player("Ann", tavern, permissions=["Admin"])
    ann.do("aisetup/new Otto = You are Otto.")
    ann.do("aisetup/set Otto/max_bot_replies = 2")
    ann.do("ailore/set The gate = It is shut.")
    for name in ("Mira", "Otto"):
        game.model.add(call("say", text="Hello."))
        ann.do(f"say Hello, {name}")
        game.run()
    ann.do("mute Otto")
    mira = ann.character.search("Mira")
    for number in range(40):
        mira.journal.add(f"Guest {number} paid.")
    mira.ai_profiles.observe(ann.dbref, "She limps.")
    return ann


def free_port():
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run(capsys, **options):
    call_command("ai_uninstall", **options)
    return capsys.readouterr().out


def rows():
    """How many rows there are in all tables of ours."""
    models = apps.get_app_config("evennia_ai").get_models()
    return sum(model.objects.count() for model in models)


def test_nothing_is_left_but_the_characters_as_they_were(scene, capsys, tmp_path):
    path = "evennia_ai.commands.cmdset.AICmdSet"
    own = "evennia.commands.default.cmdset_character.CharacterCmdSet"
    ann = ObjectDB.objects.filter(db_key="Ann")
    ann.update(db_cmdset_storage=f"{own},{path}")
    ServerConfig.objects.conf("evennia_ai_switched_off", "an admin")
    for folder in ("evennia_ai", "website"):
        (tmp_path / "static" / folder).mkdir(parents=True)
    ours = Q(db_key__startswith="ai_") | Q(db_attrtype__in=STORES) | Q(db_model="scriptdb")
    kept = set(Attribute.objects.exclude(ours).values_list("id", flat=True))
    told = run(capsys, yes=True)
    assert "2 assistants deleted." in told
    assert rows() == 0
    assert not ScriptDB.objects.filter(db_key="assistant").exists()
    assert set(Attribute.objects.values_list("id", flat=True)) == kept
    paths = dict(ObjectDB.objects.values_list("db_key", "db_typeclass_path"))
    assert paths["Otto"] == "world.characters.Character"
    assert paths["Mira"] == "world.characters.Character"
    assert ann.values_list("db_cmdset_storage", flat=True).get() == own
    assert not ServerConfig.objects.filter(db_key__startswith="evennia_ai").exists()
    assert [folder.name for folder in (tmp_path / "static").iterdir()] == ["website"]
    assert "Assistants: 0. Rows in tables: 0." in run(capsys, yes=True), "doing it again"


def test_a_dry_run_tells_and_changes_nothing(scene, capsys):
    there = rows()
    told = run(capsys, dry_run=True)
    assert f"Assistants: 2. Rows in tables: {there}." in told
    assert "Attribute ai_persona: on 2 characters." in told
    assert "Attribute ai_muted: on 1 character." in told
    assert "Attribute ai_journal: on 1 character." in told
    assert "Attribute ai_profiles: on 2 characters." in told
    assert "become world.characters.Character: 1 (now evennia_ai." in told
    assert rows() == there
    assert ScriptDB.objects.filter(db_key="assistant").count() == 2


@pytest.mark.parametrize("answer", ["", "yes"])
def test_it_asks_first(scene, capsys, monkeypatch, answer):
    there = rows()
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    assert ("Nothing was changed." in run(capsys)) == (answer != "yes")
    assert rows() == (0 if answer == "yes" else there)


def test_a_running_game_is_left_alone(scene, settings):
    portal = socket.create_server((settings.AMP_HOST, settings.AMP_PORT))
    with closing(portal), pytest.raises(CommandError, match="evennia stop"):
        call_command("ai_uninstall", yes=True)
    assert rows()


def test_who_keeps_files_is_asked_to_delete_them(scene, capsys):
    def delete_files(say, **kwargs):
        say(f"Files deleted, {rows()} rows left.")

    uninstalling.connect(delete_files)
    try:
        assert "Files deleted, 0 rows left." in run(capsys, yes=True)
    finally:
        uninstalling.disconnect(delete_files)


def test_the_games_own_lines_that_name_the_package_are_told(scene, capsys, tmp_path):
    conf = tmp_path / "server" / "conf"
    conf.mkdir(parents=True)
    (conf / "settings.py").write_text('# mine\nINSTALLED_APPS += ["evennia_ai"]\n')
    for hidden in (".venv", "lib/site-packages"):
        (tmp_path / hidden).mkdir(parents=True)
        (tmp_path / hidden / "x.py").write_text("import evennia_ai\n")
    told = run(capsys, yes=True)
    assert told.count("Remove this yourself") == 1
    assert f"Remove this yourself: {Path('server/conf/settings.py')}, line 2" in told


def test_the_list_of_attributes_is_complete():
    written = set()
    for file in PACKAGE.rglob("*.py"):
        for match in WRITES.finditer(file.read_text()):
            written.add(match[1] or match[2])
    assert written
    assert written <= set(uninstall.ATTRIBUTES)

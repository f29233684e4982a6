"""The extension in a game: its setting, its files, and what staff read of it."""

import stat
import sys

import pytest

from evennia_ai.contrib.mem0 import Mem0Extension, remove_long_term_memory
from evennia_ai.contrib.mem0.long_term_memory import LIBRARY
from evennia_ai.contrib.mem0.mem0_store import prepare_environment
from evennia_ai.services.assistant_service import AssistantService

pytestmark = pytest.mark.game


def test_a_service_has_it_in_the_games_folder(settings, db, tmp_path):
    settings.GAME_DIR = str(tmp_path)
    settings.AI_ASSISTANT = {"MEMORY": {"path": "mine", "timeout": 3}}
    service = AssistantService(environ={})
    assert service.complaints == []
    assert service.semantic._settings.timeout_s == 3
    assert service.semantic._settings.store.path == tmp_path / "mine"
    assert service.long_term_sync._memory is service.semantic
    assert not list(tmp_path.iterdir())


def test_a_wrong_setting_is_told_and_the_default_used(settings, db):
    settings.AI_ASSISTANT = {"MEMORY": {"tiemout": 3}}
    service = AssistantService(environ={})
    (complaint,) = service.complaints
    assert "AI_ASSISTANT['MEMORY']: the entry 'tiemout' is unknown" in complaint
    assert service.semantic._settings.enabled


def test_left_out_there_is_none(settings, db):
    settings.AI_ASSISTANT = {"EXTENSIONS": ["-mem0"]}
    service = AssistantService(environ={})
    assert service.complaints == [] and service.semantic.is_off
    assert "no extension has one" in service.semantic.trouble


def test_a_store_that_cannot_be_made_leaves_the_journal_alone(settings, db, monkeypatch):
    monkeypatch.setattr(Mem0Extension, "long_term_memory", lambda *args: 1 / 0)
    assert AssistantService(environ={}).semantic.is_off


def test_the_status_says_how_to_get_the_library(game, admin, settings, monkeypatch):
    settings.AI_ASSISTANT = {"MEMORY": {"enabled": True}}
    monkeypatch.setitem(sys.modules, "mem0", None)
    game.service.semantic = AssistantService(clock=game.clock, environ={}).semantic
    status = admin.told("aistatus")
    assert "Long-term memory: mem0ai is not installed" in status
    assert "pip install '.[memory]' in the checkout" in status
    assert "fix this" not in status


def test_the_installed_library_needs_no_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0", sys)
    assert LIBRARY.advice == ""


def test_its_folder_is_the_games_alone(tmp_path):
    path = tmp_path / "memory"
    prepare_environment({}, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_uninstalling_deletes_its_files_and_no_other(tmp_path, settings):
    folder = tmp_path / "server" / "mine"
    (folder / "qdrant").mkdir(parents=True)
    for name in ("qdrant/meta.json", "collection.json", "own.txt"):
        (folder / name).touch()
    settings.GAME_DIR = str(tmp_path)
    vector_store = {"provider": "pgvector", "config": {}}
    settings.AI_ASSISTANT = {"MEMORY": {"path": "server/mine", "vector_store": vector_store}}
    lines = []
    remove_long_term_memory(lines.append)
    assert "server/mine deleted." in lines[0]
    assert "pgvector: empty it yourself" in lines[1]
    assert [path.name for path in folder.iterdir()] == ["own.txt"]
    settings.AI_ASSISTANT = {"MEMORY": 3}
    lines.clear()
    remove_long_term_memory(lines.append)
    assert "The files of long-term memory stay." in lines[0]

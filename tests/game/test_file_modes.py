"""Only the game's own user reads the files that hold what players said."""

import os
from types import SimpleNamespace

import pytest

from evennia_ai.game import settings as game_settings
from evennia_ai.game.settings import advice, check_file_modes, full_disks


@pytest.fixture
def folder(tmp_path, settings):
    """Return the folder of a game with a database and logs that everybody may read."""
    (tmp_path / "logs").mkdir()
    tmp_path.chmod(0o755)
    file = tmp_path / "the game.db3"
    file.write_text("words")
    file.chmod(0o644)
    settings.LOG_DIR = str(tmp_path / "logs")
    settings.DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file)}}
    return tmp_path


def test_a_readable_database_is_a_warning_with_the_command_that_ends_it(folder):
    (warning,) = check_file_modes()
    assert warning.id == "evennia_ai.W001"
    command = warning.msg.partition("To end that: ")[2]
    assert command == f"chmod go-rwx '{folder}/the game.db3'"
    os.system(command)
    assert not check_file_modes() and not advice()


def test_a_disk_that_is_nearly_full_is_told_of_for_each_folder(folder, monkeypatch):
    disk = SimpleNamespace(free=50 << 20)
    monkeypatch.setattr(game_settings.shutil, "disk_usage", lambda path: disk)
    assert not full_disks()
    disk.free = 50_000_000
    assert [told.split(". ")[0] for told in full_disks()] == [
        f"47 MB are free for {folder}",
        f"47 MB are free for {folder}/logs",
    ]

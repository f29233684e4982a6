"""`evennia ai_backup` copies a database in use; `evennia ai_restore` never damages one."""

import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evennia_ai.management import backup
from tests.game.test_uninstall import free_port

HOLD = """
import sqlite3, sys
one = sqlite3.connect(sys.argv[1])
one.execute("PRAGMA journal_mode=WAL")
one.execute("INSERT INTO objects_objectdb VALUES (?)", [sys.argv[2]])
one.commit()
print("open", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def game(settings, tmp_path, monkeypatch):
    """A stopped game's database with one word in it."""
    file = tmp_path / "evennia.db3"
    with closing(sqlite3.connect(file)) as made:
        for table in backup.TABLES:
            made.execute(f"CREATE TABLE {table} (word)")
        made.execute("INSERT INTO objects_objectdb VALUES ('old')")
        made.commit()
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", str(file))
    settings.AMP_PORT = free_port()
    return file


@pytest.fixture
def server(game):
    """A process that has written to the database, and has it open as a server has."""
    command = [sys.executable, "-c", HOLD, str(game), "new"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        yield process
        process.kill()


def end(process):
    """Let the process end as a server does that was told to stop."""
    process.stdin.close()


def words(file):
    with closing(sqlite3.connect(file)) as one:
        assert one.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in one.execute("SELECT word FROM objects_objectdb")]


def taken(game):
    """A backup of the game, made by the command."""
    copy = game.with_name("backup.db3")
    call_command("ai_backup", str(copy))
    return copy


def test_a_backup_of_a_running_game_is_whole_and_for_its_owner_alone(game, server, capsys):
    copy = taken(game)
    assert words(copy) == ["old", "new"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert f"evennia ai_restore {copy}" in capsys.readouterr().out
    assert not list(game.parent.glob("backup.db3-*"))


def test_no_file_is_overwritten(game):
    copy = taken(game)
    with pytest.raises(CommandError, match="File exists"):
        taken(game)
    assert words(copy) == ["old"]


def test_a_restore_waits_for_a_server_that_is_ending(game, server, capsys):
    copy = game.with_name("older.db3")
    with closing(sqlite3.connect(copy)) as made, closing(sqlite3.connect(game)) as source:
        source.backup(made)
        made.execute("DELETE FROM objects_objectdb")
        made.commit()
    waits = threading.Timer(backup.POLL_S * 3, end, [server])
    waits.start()
    call_command("ai_restore", str(copy))
    assert words(game) == []
    assert stat.S_IMODE(game.stat().st_mode) == 0o600
    assert "evennia start" in capsys.readouterr().out


def test_a_restore_can_be_undone(game):
    copy = taken(game)
    with closing(sqlite3.connect(game)) as later:
        later.execute("PRAGMA journal_mode=WAL")
        later.execute("INSERT INTO objects_objectdb VALUES ('later')")
        later.commit()
    call_command("ai_restore", str(copy))
    assert words(game) == ["old"]
    (kept,) = game.parent.glob("evennia-2*.db3")
    call_command("ai_restore", str(kept))
    assert words(game) == ["old", "later"]


def test_a_game_that_runs_on_is_left_alone(game, server, monkeypatch):
    copy = taken(game)
    monkeypatch.setattr(backup, "WAIT_S", 0.0)
    with pytest.raises(CommandError, match="evennia stop"):
        call_command("ai_restore", str(copy))
    end(server)
    server.wait()
    assert words(game) == ["old", "new"]
    assert sorted(file.name for file in game.parent.iterdir()) == ["backup.db3", "evennia.db3"]


def test_a_portal_that_answers_is_a_running_game(game, settings, monkeypatch):
    copy = taken(game)
    monkeypatch.setattr(backup, "WAIT_S", 0.0)
    portal = socket.create_server((settings.AMP_HOST, settings.AMP_PORT))
    with closing(portal), pytest.raises(CommandError, match="evennia stop"):
        call_command("ai_restore", str(copy))


def damage(file):
    """Overwrite the middle of a database file."""
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    file.write_bytes(content)


def not_a_game(file):
    file.unlink()
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE other (word)")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (damage, "cannot be restored"),
        (not_a_game, "not the database of an Evennia game"),
        (lambda file: file.write_text("no database, but a long enough text " * 40), "restored"),
        (Path.unlink, "There is no file"),
    ],
)
def test_what_is_no_sound_backup_is_not_restored(game, spoil, reason):
    copy = taken(game)
    spoil(copy)
    with pytest.raises(CommandError, match=reason):
        call_command("ai_restore", str(copy))
    assert words(game) == ["old"]
    assert {file.name for file in game.parent.iterdir()} <= {"backup.db3", "evennia.db3"}


def test_a_damaged_database_is_replaced_and_kept_without_its_log(game):
    copy = taken(game)
    game.write_bytes(b"damaged" * 1000)
    game.with_name("evennia.db3-wal").write_bytes(b"log")
    call_command("ai_restore", str(copy))
    assert words(game) == ["old"]
    assert not game.with_name("evennia.db3-wal").exists()
    assert len(list(game.parent.glob("evennia-2*.db3"))) == 1


def test_of_postgresql_the_line_to_type_is_shown(game, settings, monkeypatch):
    default = settings.DATABASES["default"]
    for key, value in {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "mud",
        "HOST": "db",
        "USER": "evennia",
    }.items():
        monkeypatch.setitem(default, key, value)
    with pytest.raises(CommandError, match=r"pg_dump -h db -U evennia -d mud -Fc -f one\.dump"):
        call_command("ai_backup", "one.dump")
    with pytest.raises(CommandError, match=r"pg_restore .* --clean --if-exists one\.dump"):
        call_command("ai_restore", "one.dump")

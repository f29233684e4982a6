"""What was forgotten stands in no byte of the database file, its log, or the server's log files."""

import sqlite3
from contextlib import closing
from functools import partial

import pytest

from evennia_ai.policy.facts.origin import SpokenWords
from evennia_ai.services.forgetting import DIGITS, hide_lines, log_files
from evennia_ai.store.forget import database_file, overwrite_deleted
from tests.encoded import forms
from tests.faults import file_scene
from tests.game.forgetting_scene import BENS, Planted, forget

pytestmark = pytest.mark.game

file, db = file_scene.file, file_scene.db


@pytest.fixture
def planted(game, mira, ann, tavern):
    return Planted(game, mira, game.assistant("Bruno", tavern), ann, game.player("Ben", tavern))


def bytes_in(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_no_byte_of_it_stands_in_the_database_file_or_its_log(planted, ann, file):
    planted.everything()
    words = [form for word in planted.words for form in forms(word)]
    assert any(word in bytes_in(file.parent) for word in words)
    forget(ann)
    assert database_file() == file
    _took_s, is_done = overwrite_deleted(file)
    assert is_done
    left = bytes_in(file.parent)
    assert [word for word in words if word in left] == []
    assert BENS.encode() in left


def test_deleted_rows_leave_copies_in_the_gaps_of_pages_until_the_file_is_written_anew(tmp_path):
    file = tmp_path / "gaps.db3"
    with closing(sqlite3.connect(file, isolation_level=None)) as rows:
        rows.execute("PRAGMA journal_mode=WAL")
        rows.execute("PRAGMA synchronous=OFF")
        rows.execute("PRAGMA secure_delete=ON")
        rows.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
        rows.execute("CREATE INDEX i ON t (text)")
        for number in range(4000):
            text = f"{'PLANTED' if number % 2 else 'kept'} {number} " + "x" * (number * 7 % 900)
            rows.execute("INSERT INTO t VALUES (?, ?)", (number, text))
        rows.execute("DELETE FROM t WHERE id % 2")
        assert overwrite_deleted(file)[1]
        assert rows.execute("SELECT count(*) FROM t").fetchone() == (2000,)
    assert b"PLANTED" not in bytes_in(tmp_path)


@pytest.fixture
def words():
    spoken = SpokenWords()
    spoken.add("The silver heron sleeps under Zanthor's pier")
    spoken.take_out("A silver spoon sleeps in the pantry, under the pier.")
    return spoken


LOG = """2026-11-22 18:00:01 [!!] Mira: 400 bad message 'the silver heron sleeps under it'; retrying
2026-11-22 18:00:02 [..] Ben logged in from 10.0.0.1 under the pier
Traceback (most recent call last):
  File "/games/the silver heron sleeps under/talk.py", line 7
ValueError: Ann said {"text": "of Zanthor"}
2026-11-22 18:00:03 [SS] aiforget: Ada has Ann of Zanthor (#5) forgotten
last \\u005aanthor line without an end"""


DATED = """2026-11-28 11:26:02 [..] Server started.
2026-11-28 11:26:03 [..] evennia_ai: #5 was forgotten by #1: 26 rows and records
2026-11-28 11:26:04 [..] 26 turns in 11 s, 2026 tokens.
2026-11-28 11:26:05 [!!] Mira: 400 bad message 'my number is 11, lark'; retrying
2026-11-28 11:26:06 [!!] Mira: 400 bad message '5551234 it is'; retrying
"""


def test_dates_and_counts_of_a_log_are_nobodys_words(tmp_path):
    spoken, path = SpokenWords(), tmp_path / "server.log"
    for line in (
        "My number is 11, lark.",
        "It is the 28 today, and 26 in 2026.",
        "Call 5551234 rows.",
    ):
        spoken.add(line)
    path.write_text(DATED)
    assert hide_lines(path, partial(spoken.is_in, digits=DIGITS)) == 2
    assert path.read_text().split("\n")[:3] == DATED.split("\n")[:3]
    assert "lark" not in path.read_text() and "5551234" not in path.read_text()


def test_lines_of_the_logs_with_their_words_are_made_unreadable_in_place(words, tmp_path):
    path, older = tmp_path / "server.log", tmp_path / "server.log.2026_11_15"
    path.write_text(LOG)
    older.write_text("Zanthor\n")
    (tmp_path / "channel_public.log").write_text("Zanthor\n")
    assert list(log_files([str(path)])) == [path, older]
    assert [hide_lines(one, words.is_in) for one in (path, older)] == [3, 1]
    lines = path.read_text().split("\n")
    assert list(map(len, lines)) == list(map(len, LOG.split("\n")))
    assert lines[0].rstrip() == "2026-11-22 18:00:01 [!!] [forgotten]"
    assert lines[1:4] == LOG.split("\n")[1:4]
    assert lines[4].rstrip() == lines[6].rstrip() == "[forgotten]"
    assert "Ada has Ann" in lines[5]
    assert older.read_text() == "[forgott\n"[:7] + "\n"
    assert hide_lines(tmp_path / "missing.log", words.is_in) == 0

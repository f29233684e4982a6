"""The file that keeps a second server away (P14)."""

from evennia_ai.store import server_lock


def test_a_file_removed_meanwhile_locks_nothing(tmp_path, monkeypatch):
    path = tmp_path / "game-ai-lock"
    monkeypatch.setattr(server_lock, "lock_at_once", lambda _file: path.unlink() is None)
    assert server_lock.lock_path(path) == -1

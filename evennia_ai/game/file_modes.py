"""Files with players' words that other users of the machine can read."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Warning as CheckWarning

OTHERS = stat.S_IRWXG | stat.S_IRWXO
SIDE_FILES = ("", "-wal", "-shm", "-journal")


def files_with_words() -> Iterator[Path]:
    """Yield the files of SQLite databases with their logs, and the folder of the server's logs."""
    for database in settings.DATABASES.values():
        name = str(database.get("NAME") or "")
        if database.get("ENGINE", "").endswith("sqlite3") and ":memory:" not in name:
            yield from (Path(name + side) for side in SIDE_FILES)
    yield Path(getattr(settings, "LOG_DIR", None) or Path(settings.GAME_DIR) / "server" / "logs")


def open_to_others() -> list[Path]:
    """Return those of the files that other users of this machine may read or change."""
    return [file for file in files_with_words() if file.exists() and file.stat().st_mode & OTHERS]


def advice() -> str:
    """Return what to type so that only the game's own user reads its files, "" if that is so."""
    exposed = open_to_others()
    if not exposed:
        return ""
    names = " ".join(shlex.quote(str(file)) for file in exposed)
    return (
        f"Other users of this machine can read what players said. To end that: chmod go-rwx {names}"
    )


def check_file_modes(app_configs: Any = None, **kwargs: Any) -> list[CheckWarning]:
    """Return a warning of Django's system checks if other users can read the game's words."""
    told = advice()
    return [CheckWarning(told, id="evennia_ai.W001")] if told else []

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


def database_files() -> Iterator[Path]:
    """Yield the files that SQLite databases may have, their logs among them."""
    for database in settings.DATABASES.values():
        name = str(database.get("NAME") or "")
        if database.get("ENGINE", "").endswith("sqlite3") and ":memory:" not in name:
            yield from (Path(name + side) for side in SIDE_FILES)


def is_open(path: Path) -> bool:
    """Return True if a file or folder exists and its mode lets other users in."""
    return path.exists() and bool(path.stat().st_mode & OTHERS)


def open_to_others() -> list[Path]:
    """Return the files, and the folder of the logs, that other users of this machine can read."""
    exposed = [file for file in database_files() if is_open(file) and is_open(file.parent)]
    logs = Path(getattr(settings, "LOG_DIR", "") or Path(settings.GAME_DIR) / "server" / "logs")
    exposed += [logs] if is_open(logs) and any(map(is_open, logs.glob("*.log*"))) else []
    return exposed


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

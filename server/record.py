"""What the demo must remember from one `make demo` to the next. Standard library only."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass
class Record:
    """The demo's accounts, ports and mind.

    An empty password means that the account is older than this record.
    """

    admin: str = ""
    admin_password: str = ""
    player: str = ""
    player_password: str = ""
    port_base: str = ""
    mind: str = ""

    def choose_admin(self, environ: Mapping[str, str], existing: str | None) -> None:
        """Settle who owns the game: who does already, or whom the environment names."""
        if existing and existing != self.admin:
            self.admin, self.admin_password = existing, ""
        elif not existing and not self.admin:
            self.admin = environ.get("EVENNIA_SUPERUSER_USERNAME") or "admin"
            self.admin_password = environ.get("EVENNIA_SUPERUSER_PASSWORD") or new_password()

    def choose_player(self, environ: Mapping[str, str], exists: Callable[[str], bool]) -> None:
        """Settle who plays: whom the environment names, else as before, else a wanderer."""
        name = environ.get("EVENNIA_PLAYER_USERNAME") or self.player or "Wanderer"
        if name != self.player:
            self.player, self.player_password = name, ""
        if not self.player_password and not exists(name):
            self.player_password = environ.get("EVENNIA_PLAYER_PASSWORD") or new_password()


def new_password() -> str:
    """Make up a password that is easily typed."""
    return "".join(secrets.choice(ALPHABET) for _ in range(12))


def load(file: Path) -> Record:
    """Read the record, an empty one if there is none."""
    try:
        return Record(**json.loads(file.read_text()))
    except (OSError, ValueError, TypeError):
        return Record()


def save(file: Path, record: Record) -> None:
    """Write the record, for its owner's eyes only from the first byte on."""
    write_private(file, json.dumps(asdict(record), indent=2))


def write_private(file: Path, text: str) -> None:
    """Write a file that nobody but its owner may read."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)

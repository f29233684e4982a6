"""The demo's data between two starts: accounts, ports and model. Standard library only."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from evennia_ai.policy.redaction import hide_in_addresses

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass
class Record:
    """The demo's accounts, ports and model.

    An empty password means that the account existed before this record.
    """

    admin: str = ""
    admin_password: str = ""
    player: str = ""
    player_password: str = ""
    port_base: str = ""
    mind: str = ""

    def choose_admin(self, environ: Mapping[str, str], existing: str | None) -> None:
        """Choose the superuser: the existing one, else the one in the environment."""
        if existing and existing != self.admin:
            self.admin, self.admin_password = existing, ""
        elif not existing and not self.admin:
            self.admin = environ.get("EVENNIA_SUPERUSER_USERNAME") or "admin"
            self.admin_password = environ.get("EVENNIA_SUPERUSER_PASSWORD") or new_password()

    def choose_player(self, environ: Mapping[str, str], exists: Callable[[str], bool]) -> None:
        """Choose the player: the one in the environment, else the last one, else Wanderer."""
        name = environ.get("EVENNIA_PLAYER_USERNAME") or self.player or "Wanderer"
        if name != self.player:
            self.player, self.player_password = name, ""
        if not self.player_password and not exists(name):
            self.player_password = environ.get("EVENNIA_PLAYER_PASSWORD") or new_password()


def new_password() -> str:
    """Return a new random password that is easy to type."""
    return "".join(secrets.choice(ALPHABET) for _ in range(12))


def load(file: Path) -> Record:
    """Read the record, an empty one if there is none."""
    try:
        known = Record(**json.loads(file.read_text()))
        known.mind = hide_in_addresses(known.mind)  # a record of an older version
    except (OSError, ValueError, TypeError):
        return Record()
    return known


def save(file: Path, record: Record) -> None:
    """Write the record, readable only by its owner from the first byte on."""
    write_private(file, json.dumps(asdict(record), indent=2))


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)

"""The Django part of the demo's start: ports, database and accounts."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from server.record import Record, write_private

SECRETS = '''"""Private settings of this copy; they win over settings.py. Never commit this file."""

SECRET_KEY = {key!r}
'''


class CannotStart(Exception):
    """The demo cannot start. The text tells the user why."""


@dataclass(frozen=True)
class Ports:
    """The ports in the game's settings."""

    telnet: int
    web: int
    websocket: int
    web_internal: int
    amp: int

    def all(self) -> dict[str, int]:
        """Every port by its name."""
        return {
            "telnet": self.telnet,
            "web": self.web,
            "web client": self.websocket,
            "web, inner": self.web_internal,
            "portal to server": self.amp,
        }


def write_secrets(root: Path) -> None:
    """Write a secret key for this copy, if it has none."""
    file = root / "server" / "conf" / "secret_settings.py"
    if not file.exists():
        write_private(file, SECRETS.format(key=secrets.token_urlsafe(40)))


def load_settings() -> Ports:
    """Set up Django for the current game directory; return the ports in its settings."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "server.conf.settings"
    import django
    from django.conf import settings

    django.setup()
    web, inner = settings.WEBSERVER_PORTS[0]
    return Ports(
        telnet=settings.TELNET_PORTS[0],
        web=web,
        websocket=settings.WEBSOCKET_CLIENT_PORT,
        web_internal=inner,
        amp=settings.AMP_PORT,
    )


def prepare_database(record: Record, environ: Mapping[str, str]) -> bool:
    """Create or update the tables and the superuser; fill in the record's accounts.

    Returns:
        True if the server must create the player's account at its start.

    Raises:
        CannotStart: The player's name or password cannot be used.
    """
    import evennia
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    evennia._init()
    from evennia.accounts.models import AccountDB

    def exists(name: str) -> bool:
        return AccountDB.objects.filter(username__iexact=name).exists()

    owner = AccountDB.objects.filter(id=1).values_list("username", flat=True).first()
    record.choose_admin(environ, owner)
    record.choose_player(environ, exists)
    to_make = not exists(record.player)
    if to_make:
        check_player(record)
    if owner is None:
        email = environ.get("EVENNIA_SUPERUSER_EMAIL", "")
        AccountDB.objects.create_superuser(record.admin, email, record.admin_password).save()
    return to_make


def check_player(record: Record) -> None:
    """Raise CannotStart with the reason if the game would refuse this account."""
    from evennia.accounts.accounts import DefaultAccount

    _, name_errors = DefaultAccount.validate_username(record.player)
    valid, password_errors = DefaultAccount.validate_password(record.player_password)
    reasons = [str(reason) for reason in name_errors or ()]
    if not valid:
        reasons += password_errors.messages
    if reasons:
        raise CannotStart(
            f"The player's account '{record.player}' cannot be created: {' '.join(reasons)} "
            "Change EVENNIA_PLAYER_USERNAME or EVENNIA_PLAYER_PASSWORD."
        )

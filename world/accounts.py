"""Create the demo's accounts without a prompt, and keep unplayed characters outside."""

from collections.abc import Mapping
from typing import Any

from evennia.accounts.accounts import DefaultAccount
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.utils import logger

SUPERUSER_CHARACTER_ID = 1


def ensure_player(environ: Mapping[str, str]) -> None:
    """Create the account that ``EVENNIA_PLAYER_USERNAME`` and ``EVENNIA_PLAYER_PASSWORD`` name.

    Its character starts in the common room. An existing account stays unchanged.
    """
    name = environ.get("EVENNIA_PLAYER_USERNAME")
    password = environ.get("EVENNIA_PLAYER_PASSWORD")
    if not (name and password) or AccountDB.objects.filter(username__iexact=name).exists():
        return
    account, errors = DefaultAccount.create(username=name, password=password)
    for error in errors or ():
        logger.log_err(f"Demo player {name}: {error}")
    for character in account.characters if account else ():
        send_outside(character)


def send_superuser_outside() -> None:
    """Move the superuser's character out of the common room, so that Mira can be alone."""
    for character in ObjectDB.objects.filter(id=SUPERUSER_CHARACTER_ID):
        send_outside(character)


def send_outside(character: Any) -> None:
    """Move a character outside the world until somebody plays it, as after a logout."""
    if character.location and not character.sessions.count():
        character.db.prelogout_location = character.location
        character.location = None

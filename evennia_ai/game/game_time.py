"""The time of day that an assistant uses: real time or the game world's."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from evennia_ai.policy.schedule.sleep_schedule import GAME
from evennia_ai.ports import Script


def minute_now(script: Script) -> int:
    """Return the minute of the day (0 to 1439) on the assistant's ``sleep_clock``.

    That is the time in the server's time zone or the game world's, as Evennia's command ``time``
    shows it.
    """
    in_game = script.config.sleep_clock == GAME
    moment = datetime.fromtimestamp(game_seconds(), UTC) if in_game else script.services.now()
    now: datetime = timezone.localtime(moment)
    return 60 * now.hour + now.minute


def game_seconds() -> float:
    """Return the game world's time in seconds, as Evennia's ``gametime`` counts it."""
    from evennia.utils import gametime  # asks the database when it is imported

    return float(gametime.gametime(absolute=True))

"""The clock an assistant goes by: real time or the game world's."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from evennia_ai.policy.schedule.sleep_schedule import GAME
from evennia_ai.ports import Script


def minute_now(script: Script) -> int:
    """The minute of the day on the clock that the assistant goes by: that of the game's time zone,
    or of the game world, as Evennia's command ``time`` shows it."""
    in_game = script.config.sleep_clock == GAME
    moment = datetime.fromtimestamp(game_seconds(), UTC) if in_game else script.services.now()
    now: datetime = timezone.localtime(moment)
    return 60 * now.hour + now.minute


def game_seconds() -> float:
    """The game world's time, as Evennia's ``gametime`` counts it."""
    from evennia.utils import gametime  # asks the database when it is imported

    return float(gametime.gametime(absolute=True))

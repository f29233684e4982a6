"""The time of day that an assistant uses: real time or the game world's."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from evennia_ai.policy.schedule.sleep_schedule import GAME
from evennia_ai.ports import Script


def minute_now(script: Script) -> int:
    """Return the minute of the day (0 to 1439) on the assistant's ``sleep_clock``.

    That is the server's local time, or the game world's as Evennia's command ``time`` shows it.
    """
    moment = script.services.now()
    if script.config.sleep_clock == GAME:
        from evennia.utils import gametime  # asks the database when it is imported

        moment = datetime.fromtimestamp(gametime.gametime(absolute=True), UTC)
    now: datetime = timezone.localtime(moment)
    return 60 * now.hour + now.minute

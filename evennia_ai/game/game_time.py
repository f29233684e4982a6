"""The time of day that an assistant uses: real time or the game world's."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from evennia_ai.policy.schedule.sleep_schedule import GAME


def minute_now(now: datetime, clock: str) -> int:
    """Return the minute of the day (0 to 1439) at a time, on a clock of ``sleep_clock``.

    That is the server's local time, or the game world's as Evennia's command ``time`` shows it.
    """
    if clock == GAME:
        from evennia.utils import gametime  # asks the database when it is imported

        now = datetime.fromtimestamp(gametime.gametime(absolute=True), UTC)
    local: datetime = timezone.localtime(now)
    return 60 * local.hour + local.minute

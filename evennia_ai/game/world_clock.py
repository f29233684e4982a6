"""Evennia's game time as the world's: `gametime`, with the units of `custom_gametime`."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from evennia_ai.errors import ConfigError
from evennia_ai.policy.retrieval.time_expressions import UNITS
from evennia_ai.policy.sleep_schedule import GAME, REAL
from evennia_ai.ports.world import Piece, TimeSource, WorldClock
from evennia_ai.store.server_settings import WORLD_TIME, of_shard, stored, write

# Without an epoch, these factors are no choice of the game's: 2.0 is Evennia's default.
USUAL_FACTORS = (1, 2)
OTHER_NAMES = {"minute": "min", "hour": "hr", "year": "yr"}


class EvenniaTime(TimeSource):
    """The game's own time, or the server's in ``TIME_ZONE`` if the game has none.

    ``choice`` is `REAL` or `GAME`, or None to see that by the settings.
    """

    def __init__(self, now: Callable[[], datetime], choice: str | None = None) -> None:
        super().__init__(now)
        self._choice = choice

    @property
    def is_real(self) -> bool:  # type: ignore[override]
        if self._choice is not None:
            return self._choice == REAL
        has_epoch = settings.TIME_GAME_EPOCH is not None or hasattr(settings, "TIME_UNITS")
        return not has_epoch and settings.TIME_FACTOR in USUAL_FACTORS

    @property
    def pace(self) -> float:  # type: ignore[override]
        return 1.0 if self.is_real else float(settings.TIME_FACTOR)

    @property
    def units(self) -> Mapping[str, float]:  # type: ignore[override]
        given = None if self.is_real else getattr(settings, "TIME_UNITS", None)
        if not given:
            return UNITS
        named = {name: given.get(name, given.get(OTHER_NAMES.get(name))) for name in UNITS}
        return {name: float(length or UNITS[name]) for name, length in named.items()}

    def seconds(self) -> float:
        """Return the present moment as `gametime` and its calendar tell it, in seconds."""
        now = self.now()
        if not self.is_real:
            from evennia.utils import gametime  # asks the database when it is imported

            total = float(gametime.gametime(absolute=True))
            if self.units is not UNITS:
                return total
            try:
                now = datetime.fromtimestamp(total, UTC)
            except (OverflowError, ValueError, OSError):  # outside the years 1 to 9999
                return total
        local: datetime = timezone.localtime(now)
        return local.replace(tzinfo=UTC).timestamp()


def make_world_clock(now: Callable[[], datetime], value: Any) -> WorldClock:
    """Return the clock of the setting ``WORLD_CLOCK``; raises ConfigError, or its class's errors.

    ``value`` is None, ``real``, ``game``, or the dotted path to a subclass of `WorldClock`.
    """
    if value in (None, REAL, GAME):
        return WorldClock(EvenniaTime(now, value))
    kind = import_string(str(value))
    if not (isinstance(kind, type) and issubclass(kind, WorldClock)):
        raise ConfigError(f"must be real, game, or the path to a WorldClock, not {value!r}")
    clock = kind(EvenniaTime(now, GAME))
    clock.describe(clock.date(clock.seconds()))  # a class that fails is told at the start
    return clock


def sleep_minute(clock: WorldClock, choice: str | None) -> int:
    """Return the minute of the day by the setting ``sleep_clock``; None is the world's clock."""
    if choice is None:
        return clock.minute()
    return WorldClock(EvenniaTime(clock.source.now, choice)).minute()


def clock_words(clock: WorldClock, choice: str | None = None) -> str:
    """Return which clock the setting ``sleep_clock`` chooses, and what it shows now."""
    chosen = clock if choice is None else WorldClock(EvenniaTime(clock.source.now, choice))
    is_real, zone = chosen.source.is_real, settings.TIME_ZONE
    kind = f"the server's clock ({zone}, now " if is_real else "Evennia's game time (now "
    return f"{kind}{chosen.shown()})"


def resume_world_time(clock: WorldClock) -> None:
    """Read how the world's time ran before this start, and store what changed.

    Raises StoreUnavailable.
    """
    from evennia.utils import gametime

    before: list[Piece] = []
    with suppress(TypeError, ValueError):  # a damaged value
        before = [
            Piece(float(since), float(passed), float(pace), None if ran is None else float(ran))
            for since, passed, pace, ran in stored(of_shard(WORLD_TIME)) or ()
        ]
    stops = not (clock.source.is_real or settings.TIME_IGNORE_DOWNTIMES)
    clock.resume(before, gametime.runtime(), stops)
    if clock.pieces != before:
        write(of_shard(WORLD_TIME), [list(piece) for piece in clock.pieces])

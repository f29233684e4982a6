"""What memory holds of assistants, within one budget of bytes for the whole game."""

from itertools import islice
from typing import Protocol

from evennia_ai.errors import ConfigError
from evennia_ai.scheduling import Clock

MOST_MB = 64
AT_ONCE = 4  # minds that are let go without a pause: about 5 ms
PAUSE_S = 0.1  # all may be busy: then a look at a thousand takes 3 ms


class CachedMind(Protocol):
    """What memory holds of an assistant or a sharing scope; the database has all of it."""

    @property
    def nbytes(self) -> int: ...  # about how much memory it takes
    @property
    def is_busy(self) -> bool: ...  # True if it must stay now
    def let_go(self) -> None: ...  # frees its memory; the next use reads it again


class MindCache:
    """The minds in memory, the least recently used first.

    A use is only noted. If memory holds too much then, `trim` comes as a later call of the reactor:
    code without a pause may hold whatever it reads.
    """

    def __init__(self, clock: Clock, most_mb: float = MOST_MB) -> None:
        """Raise ConfigError unless ``most_mb`` is a number from 1."""
        if isinstance(most_mb, bool) or not isinstance(most_mb, int | float) or most_mb < 1:
            raise ConfigError(f"it must be a number of megabytes from 1, not {most_mb!r}.")
        self.most_bytes = int(most_mb * 1_000_000)
        self.nbytes = 0  # of all, as of their latest uses
        self._clock = clock
        self._planned = False
        self._sizes: dict[CachedMind, int] = {}

    def note(self, used: CachedMind) -> None:
        last = next(reversed(self._sizes), None)
        if used is not last:
            self._measure(last)
            self._measure(used)
        if self.nbytes > self.most_bytes:
            self._plan(PAUSE_S)

    def drop(self, gone: CachedMind) -> None:
        """Note that a mind is not in memory any more."""
        self.nbytes -= self._sizes.pop(gone, 0)

    def trim(self) -> None:
        """Let go of the least recently used until the rest fits, but not of the last used."""
        self._planned = False
        last = next(reversed(self._sizes), None)
        idle = (mind for mind in self._sizes if mind is not last and not mind.is_busy)
        going = list(islice(idle, AT_ONCE))
        for mind in going:
            if self.nbytes > self.most_bytes:
                self.drop(mind)
                mind.let_go()
        if going and self.nbytes > self.most_bytes:
            self._plan(0)

    def _plan(self, delay_s: float) -> None:
        """Trim soon."""
        if not self._planned:
            self._planned = True
            self._clock.callLater(delay_s, self.trim)

    def _measure(self, used: CachedMind | None) -> None:
        """Put a mind, if any, at the end with its size of now."""
        if used is not None:
            self.drop(used)
            self._sizes[used] = used.nbytes
            self.nbytes += self._sizes[used]

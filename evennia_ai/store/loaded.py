"""What memory holds of assistants, within one budget of bytes for the whole game."""

from __future__ import annotations

from typing import Protocol

from evennia_ai.errors import ConfigError

MOST_MB = 64


class Mind(Protocol):
    """What memory holds of an assistant or a sharing scope; the database has all of it."""

    @property
    def nbytes(self) -> int:
        """Return about how much memory it takes."""

    @property
    def is_busy(self) -> bool:
        """Return True if it must stay now."""

    def let_go(self) -> None:
        """Free its memory; the next use reads it again."""


class LoadedMinds:
    """The minds in memory, the least recently used first.

    A use is only noted: until the next `trim` nothing vanishes, so that code without a pause may
    hold whatever it reads.
    """

    def __init__(self, most_mb: float = MOST_MB) -> None:
        """Raise ConfigError unless ``most_mb`` is a number from 1."""
        if isinstance(most_mb, bool) or not isinstance(most_mb, int | float) or most_mb < 1:
            raise ConfigError(f"it must be a number of megabytes from 1, not {most_mb!r}.")
        self.most_bytes = int(most_mb * 1_000_000)
        self.nbytes = 0  # of all, as of their latest uses
        self._sizes: dict[Mind, int] = {}

    def note(self, used: Mind) -> None:
        """Note that a mind is used now."""
        last = next(reversed(self._sizes), None)
        if used is not last:
            self._measure(last)
            self._measure(used)

    def drop(self, gone: Mind) -> None:
        """Note that a mind is not in memory any more."""
        self.nbytes -= self._sizes.pop(gone, 0)

    def trim(self) -> None:
        """Let go of the least recently used until the rest fits, but not of the last used."""
        last = next(reversed(self._sizes), None)
        self._measure(last)
        left, going = self.nbytes, []
        for mind, size in self._sizes.items():
            if left <= self.most_bytes:
                break
            if mind is not last and not mind.is_busy:
                going.append(mind)
                left -= size
        for mind in going:
            mind.let_go()
            self.drop(mind)

    def _measure(self, mind: Mind | None) -> None:
        """Put a mind, if any, at the end with its size of now."""
        if mind is not None:
            self.drop(mind)
            self._sizes[mind] = mind.nbytes
            self.nbytes += self._sizes[mind]

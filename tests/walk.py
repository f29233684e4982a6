"""Count how a piece of work runs through the package: files, changes of file, calls."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from tests.layout import ROOT


@dataclass
class Walk:
    """What ran: calls of the package's functions, in order of their begin."""

    calls: int = 0
    changes: int = 0
    by_file: dict[str, int] = field(default_factory=dict)
    _last: str = ""

    def note(self, frame: FrameType, event: str, _arg: Any) -> None:
        """Count a call, as a profile function of `sys.setprofile`."""
        if event != "call" or not frame.f_code.co_filename.startswith(str(ROOT)):
            return
        file = frame.f_code.co_filename
        self.calls += 1
        self.changes += file != self._last
        self.by_file[file] = self.by_file.get(file, 0) + 1
        self._last = file

    def __str__(self) -> str:
        return f"{len(self.by_file)} files, {self.changes} changes of file, {self.calls} calls"


@contextmanager
def walking() -> Iterator[Walk]:
    """Count what runs in this thread meanwhile."""
    walk, before = Walk(), sys.getprofile()
    sys.setprofile(walk.note)
    try:
        yield walk
    finally:
        sys.setprofile(before)


def walk_of(work: Callable[[], object]) -> Walk:
    """Return the walk of a call."""
    with walking() as walk:
        work()
    return walk

"""Making lines of the server's log files unreadable that hold somebody's words."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path

FORGOTTEN = b"[forgotten]"
STAMP = re.compile(rb"(?:\d[\d:., T+-]{9,38} )?(?:\[[^\]]{1,3}\] )?")
# Places in the code, and Evennia's lines on security: nobody can have them hidden.
KEPT = re.compile(r'\s*(?:File "|Traceback )|.{0,45}\[SS\]')


def log_files(names: Iterable[str]) -> Iterator[Path]:
    """Yield log files and their older pages, such as ``server.log.2026_01_31``."""
    for name in names:
        path = Path(name)
        yield from sorted(path.parent.glob(f"{escape(path.name)}*"))


def hide_lines(path: Path, holds_words: Callable[[str], bool]) -> int:
    """Overwrite the lines of a log that hold somebody's words; returns how many.

    The file keeps its length, since the server goes on writing at its end.
    """
    count = 0
    with suppress(FileNotFoundError), path.open("r+b") as file:
        at = 0
        for line in iter(file.readline, b""):
            end = at + len(line)
            text = readable(line)
            if not KEPT.match(text) and holds_words(text):
                file.seek(at)
                file.write(hidden(line.rstrip(b"\r\n")))
                file.seek(end)
                count += 1
            at = end
    return count


def hidden(line: bytes) -> bytes:
    """Return a line of the same length with nothing but its time."""
    stamp = STAMP.match(line)
    head = stamp[0] if stamp else b""
    return (head + FORGOTTEN)[: len(line)].ljust(len(line))


def readable(line: bytes) -> str:
    """Return a log line as text, also as it reads without backslash escapes."""
    text = line.decode(errors="replace")
    if "\\" not in text:
        return text
    plain = codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape", "replace")
    return f"{text}\n{plain}"

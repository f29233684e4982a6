"""Find the Python interpreters of this machine. Uses the standard library only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROBE = "import ensurepip, sqlite3, ssl, sys, venv; print('%d.%d' % sys.version_info[:2])"
OLDEST = (3, 11)
TESTED = ("3.11", "3.12", "3.13", "3.14")


def find_interpreters() -> dict[str, str]:
    """Return every usable interpreter as ``{"3.13": path}``, the first found of each version.

    A usable interpreter starts (a version manager's shim may not) and can create an environment.
    """
    found: dict[str, str] = {}
    for path in candidates():
        version = probe(path)
        if version and as_numbers(version) >= OLDEST:
            found.setdefault(version, path)
    return found


def best_interpreter(found: dict[str, str]) -> str | None:
    """Return the newest tested version, else the newest one found, else None."""
    known = [version for version in found if version in TESTED]
    return max(known or found, key=as_numbers, default=None)


def candidates() -> list[str]:
    """List possible interpreters: our own, those on the PATH, those of pyenv."""
    names = [f"python{version}" for version in reversed(TESTED)] + ["python3", "python"]
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob("versions/*/bin"), reverse=True)
    files = [sys.executable, *(str(folder / name) for name in names for folder in folders)]
    return [file for file in dict.fromkeys(files) if os.access(file, os.X_OK)]


def probe(path: str) -> str | None:
    """Return the interpreter's version as ``3.13``, or None if it is not usable."""
    try:
        done = subprocess.run(
            [path, "-c", PROBE], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def as_numbers(version: str) -> tuple[int, ...]:
    """Turn ``3.13`` into ``(3, 13)``."""
    return tuple(int(part) for part in version.split("."))

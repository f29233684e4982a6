"""Makes a virtual environment with this project in it, and brings it up to date."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


class InstallError(Exception):
    """The environment could not be made; the text says why and where the whole output is."""


def venv_python(folder: Path) -> Path:
    """Return the interpreter of the environment in ``folder``."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_current(folder: Path, extras: str = "") -> bool:
    """Tell whether the environment holds what pyproject.toml asks for now."""
    stamp = folder / "installed"
    return (
        venv_python(folder).exists() and stamp.exists() and stamp.read_text() == fingerprint(extras)
    )


def make_environment(folder: Path, interpreter: str, extras: str = "") -> None:
    """Install the project, editable, into the environment; raises InstallError.

    One whose installation was never finished is made anew.
    """
    log = folder / "install.log"
    if not (folder / "installed").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run([interpreter, "-m", "venv", str(folder)], log)
    run([str(venv_python(folder)), *PIP, "install", "--editable", f".{extras}"], log)
    (folder / "installed").write_text(fingerprint(extras))


def fingerprint(extras: str) -> str:
    """Name what is installed, so that a change of the requirements is seen."""
    text = (ROOT / "pyproject.toml").read_bytes() + extras.encode() + str(ROOT).encode()
    return hashlib.sha256(text).hexdigest()


def run(command: list[str], log: Path) -> None:
    """Run a step of the installation with its output in ``log``; raises InstallError."""
    with log.open("w") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, check=False)
    if done.returncode:
        lines = log.read_text().splitlines()[-15:]
        raise InstallError("\n".join([*lines, f"The installation failed; see {log}."]))

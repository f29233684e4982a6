"""Create the virtual environment of this project, and keep it up to date."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


class InstallError(Exception):
    """The environment could not be created. The text says why and names the log."""


def venv_python(folder: Path) -> Path:
    """Return the interpreter of the environment in ``folder``."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_current(folder: Path, extras: str = "") -> bool:
    """Return True if the environment matches the present pyproject.toml."""
    stamp = folder / "installed"
    return (
        venv_python(folder).exists() and stamp.exists() and stamp.read_text() == fingerprint(extras)
    )


def make_environment(
    folder: Path, interpreter: str, extras: str = "", *options: str, uv: str = ""
) -> None:
    """Install the project, editable, into the environment; raises InstallError.

    An unfinished installation is repeated from the start. ``options`` are pip's. ``uv`` is a
    program that does it sooner; if that fails, pip does it.
    """
    if not (uv and install_by_uv(uv, folder, interpreter, extras)):
        log = folder / "install.log"
        if not (folder / "installed").exists():
            begin_anew(folder)
            run([interpreter, "-m", "venv", str(folder)], log)
        run([str(venv_python(folder)), *PIP, "install", *options, "--editable", f".{extras}"], log)
    (folder / "installed").write_text(fingerprint(extras))


def install_by_uv(uv: str, folder: Path, interpreter: str, extras: str) -> bool:
    """Install as above; return False if that failed and somebody else has to begin anew."""
    begin_anew(folder)
    python, log = str(venv_python(folder)), folder / "install.log"
    try:
        run([uv, "venv", "--seed", "--allow-existing", "--python", interpreter, str(folder)], log)
        run([uv, "pip", "install", "--python", python, "--editable", f".{extras}"], log)
    except (InstallError, OSError):
        return False
    return True


def begin_anew(folder: Path) -> None:
    """Empty a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def fingerprint(extras: str) -> str:
    """Return a fingerprint of the requirements, which changes when they do."""
    text = (ROOT / "pyproject.toml").read_bytes() + extras.encode() + str(ROOT).encode()
    return hashlib.sha256(text).hexdigest()


def run(command: list[str], log: Path) -> None:
    """Run one step of the installation, with its output in ``log``; raises InstallError."""
    with log.open("w") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, check=False)
    if done.returncode:
        lines = log.read_text().splitlines()[-15:]
        raise InstallError("\n".join([*lines, f"The installation failed; see {log}."]))

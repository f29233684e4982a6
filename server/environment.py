"""Create the virtual environment of this project, and keep it up to date."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten

ROOT = Path(__file__).resolve().parent.parent
PIP = ("-m", "pip", "--disable-pip-version-check")
# The version of each package, for every interpreter and system; `make lock` renews it.
LOCK = ROOT / "server" / "constraints.txt"
LOCKED_EXTRAS = ("all", "docs", "end-to-end", "test")
PROGRESS_S, PROGRESS_CHARS = 10.0, 70
AGAIN_S = 60.0  # after which a step that goes on is told again
Tell = Callable[[str], object]


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
    folder: Path,
    interpreter: str,
    extras: str = "",
    *options: str,
    uv: str = "",
    tell: Tell | None = None,
) -> None:
    """Install the project, editable, into the environment; raises InstallError.

    The versions are those of `LOCK`; if one of them is gone, pip chooses all of them anew. An
    unfinished installation is repeated from the start. ``options`` are pip's. ``uv`` is a program
    that does it sooner; if that fails, pip does it. ``tell`` gets what pip does now.
    """
    if not (uv and install_by_uv(uv, folder, interpreter, extras)):
        log = folder / "install.log"
        if not (folder / "installed").exists():
            begin_anew(folder)
            run([interpreter, "-m", "venv", str(folder)], log)
        install = [str(venv_python(folder)), *PIP, "install", *options, "--editable", f".{extras}"]
        try:
            run([*install, "--constraint", str(LOCK)], log, tell)
        except InstallError:
            run(install, log, tell)
    (folder / "installed").write_text(fingerprint(extras))


def install_by_uv(uv: str, folder: Path, interpreter: str, extras: str) -> bool:
    """Install as above; return False if that failed and somebody else has to begin anew.

    To ask an index for what was downloaded before takes three times as long as to install it.
    """
    begin_anew(folder)
    python, log = str(venv_python(folder)), folder / "install.log"
    try:
        run([uv, "venv", "--seed", "--allow-existing", "--python", interpreter, str(folder)], log)
        install = [uv, "pip", "install", "--python", python, "--editable", f".{extras}"]
        install += ["--constraint", str(LOCK)]
        try:
            run([*install, "--offline"], log)
        except InstallError:
            run(install, log)
    except (InstallError, OSError):
        return False
    return True


def begin_anew(folder: Path) -> None:
    """Empty a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def fingerprint(extras: str) -> str:
    """Return a fingerprint of the requirements, which changes when they do."""
    files = (ROOT / "pyproject.toml").read_bytes() + LOCK.read_bytes()
    return hashlib.sha256(files + extras.encode() + str(ROOT).encode()).hexdigest()


def renew_lock(uv: str, file: Path = LOCK, *options: str) -> None:
    """Write the newest versions of all packages that fit into a lock; raises InstallError.

    Names no place where they come from. ``options`` are those of ``uv pip compile``.
    """
    extras = [word for extra in LOCKED_EXTRAS for word in ("--extra", extra)]
    plain = ("--no-header", "--no-annotate")
    versions = ("--universal", "--python-version", "3.11")
    source = ("pyproject.toml", "--quiet", "--output-file", str(file))
    log = ROOT / ".venv-test" / "lock.log"
    log.parent.mkdir(exist_ok=True)
    run([uv, "pip", "compile", *source, *versions, *extras, *plain, *options], log)


def run(command: list[str], log: Path, tell: Tell | None = None) -> None:
    """Run one step of the installation, with its output in ``log``; raises InstallError.

    ``tell`` gets the last line of the output when it changes, and every `AGAIN_S`.
    """
    with (
        log.open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT) as process,
    ):
        last, silent_s = "", 0.0
        while tell and still_runs(process):
            lines = log.read_text(errors="replace").splitlines() or ["..."]
            line = shorten(lines[-1], PROGRESS_CHARS, placeholder=" ...")
            silent_s += PROGRESS_S
            if line != last or silent_s >= AGAIN_S:
                tell(f"  {line}")
                last, silent_s = line, 0.0
    if process.returncode:
        lines = log.read_text().splitlines()[-15:]
        raise InstallError("\n".join([*lines, f"The installation failed; see {log}."]))


def still_runs(process: subprocess.Popen[bytes]) -> bool:
    """Wait for a while; return True if a process has not ended by then."""
    try:
        process.wait(PROGRESS_S)
    except subprocess.TimeoutExpired:
        return True
    return False

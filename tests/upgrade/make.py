"""Make the game of an old version that the tests upgrade: `python -m tests.upgrade.make <commit>`.

It needs the repository's history. The result lies in ``tests/upgrade/data``: the dump of a SQLite
database, and in its first line the records that the old version's own code read from it.
"""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
DATA, ROOT = HERE / "data", HERE.parents[1]


def git(*arguments: str) -> bytes:
    """Return the output of git in the repository's root."""
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def make(commit: str) -> Path:
    """Play a game by the code of a commit; return the file with its database."""
    name = git("rev-parse", "--short=8", commit).decode().strip()
    result = DATA / f"{name}.sql.xz"
    packed = git("archive", commit)
    with TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(checkout, filter="data")
        subprocess.run(
            [sys.executable, "-P", HERE / "play.py", Path(folder) / "game", result],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            check=True,
        )
    return result


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = make(name)
        print(f"{file}: {file.stat().st_size:,} bytes")

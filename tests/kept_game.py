"""Keep the new game that all end-to-end tests copy from one call of `run` for the next one.

`make test` makes it, and looks at it. Beside the same code `make test-more` need not make it again:
its migrations, first start and stop take 20 s of CPU.
"""

import hashlib
import os
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path

from server import environment

KEPT = environment.ROOT / ".pytest_cache" / "new-game"
MADE_OF = ("evennia_ai", "server", "world", "tests/e2e")
# What a running game writes beside its code.
NO_CODE = (".*", "__pycache__", "logs", "*.db3*", "*.pid", "*_settings.py")


def keep() -> None:
    """Keep the game of this call, if one was made."""
    shutil.rmtree(KEPT, ignore_errors=True)
    if (made := shared_game()).exists():
        shutil.copytree(made, KEPT / fingerprint())


def bring() -> None:
    """Let this call have the kept game, if that was made of the code that is there now."""
    kept = KEPT / fingerprint()
    if kept.exists():
        shutil.copytree(kept, shared_game())


def shared_game() -> Path:
    """Return the folder in which all steps of a call look for it; see tests/e2e/conftest.py."""
    return Path(os.environ["EVENNIA_AI_TEMPLATE"]) / "game"


def fingerprint() -> str:
    """Return a fingerprint of all code and data that a new game is made of."""
    digest = hashlib.sha256(f"{sys.version}{environment.fingerprint('')}".encode())
    for file in sorted(file for place in MADE_OF for file in (environment.ROOT / place).rglob("*")):
        path = file.relative_to(environment.ROOT)
        if file.is_file() and not any(fnmatch(part, no) for part in path.parts for no in NO_CODE):
            digest.update(f"{path}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]

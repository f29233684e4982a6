"""The management commands run as an admin runs them: in a process of their own, with checks."""

import os
import shutil
import subprocess
import sys

import pytest
from django.core.management import get_commands

from evennia_ai.game.extensions import own_folders
from tests.e2e.harness import QUICK_IMPORTS
from tests.layout import ROOT
from tests.postgresql import URL

CHECKOUT = ROOT.parent
LEFT_OUT = shutil.ignore_patterns("*.db3*", "*.log", ".demo.json", "secret_settings.py")
# Tables from the models take a quarter of the migrations' time; nothing listens at port 1.
SETTINGS = """
class NoMigrations(dict):
    def __contains__(self, app): return True
    def __missing__(self, app): return None
MIGRATION_MODULES = NoMigrations()
AMP_PORT = 1
AI_ASSISTANT = {{"EXTENSIONS": {}}}
"""
# What each is asked, and what it answers once the checks and Evennia are done.
ASKED = {
    "ai_uninstall": (["--dry-run"], 0, "Nothing was changed."),
    "ai_minds": (["save", "minds.jsonl.gz", "Nobody"], 1, "CommandError: "),
    "ai_card": (["export", "Nobody", "card.json"], 1, "CommandError: "),
}


@pytest.fixture
def folder(tmp_path):
    """The demo as a game directory, with all extensions."""
    for part in ("server", "world"):
        shutil.copytree(CHECKOUT / part, tmp_path / part, ignore=LEFT_OUT)
    secret = tmp_path / "server" / "conf" / "secret_settings.py"
    secret.write_text(SETTINGS.format(own_folders()))
    return tmp_path


def launch(folder, *arguments):
    # The launcher writes over the first folder in the path.
    path = map(str, (folder, CHECKOUT, QUICK_IMPORTS))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    environ.pop(URL, None)
    environ.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", "evennia", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=environ, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def test_the_commands_run_with_their_checks_and_all_extensions(folder):
    told, _ = (tables := launch(folder, "migrate", "--run-syncdb")).communicate(timeout=300)
    assert tables.returncode == 0, told
    there = {name: asked for name, asked in ASKED.items() if name in get_commands()}
    started = {name: launch(folder, name, *asked[0]) for name, asked in there.items()}
    for name, (_, code, end) in there.items():
        told, _ = started[name].communicate(timeout=300)
        assert (started[name].returncode, "Traceback" in told) == (code, False), f"{name}: {told}"
        assert end in told, f"{name}: {told}"

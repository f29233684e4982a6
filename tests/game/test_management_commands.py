"""The management commands run as an admin runs them: in a process of their own, with checks."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from django.core.management import get_commands
from django.db import connection

from evennia_ai.game.extensions import own_folders
from tests.e2e.harness import QUICK_IMPORTS
from tests.layout import ROOT
from tests.postgresql import URL

CHECKOUT = ROOT.parent
LEFT_OUT = shutil.ignore_patterns("*.db3*", "*.log", ".demo.json", "secret_settings.py")
# Nothing listens at port 1.
SETTINGS = """
AMP_PORT = 1
AI_ASSISTANT = {{"EXTENSIONS": {}}}
"""
# What each is asked, and what it answers once the checks and Evennia are done.
ASKED = {
    "ai_uninstall": (["--dry-run"], 0, "Nothing was changed."),
    "ai_minds": (["save", "minds.jsonl.gz", "Nobody"], 1, "CommandError: "),
    "ai_card": (["export", "Nobody", "card.json"], 1, "CommandError: "),
}
# The launcher's processes, which part where it has set up Django: that takes 2 s of CPU.
LAUNCH = """
import json, os, sys
from evennia.server import evennia_launcher as launcher
launcher.init_game_directory(os.getcwd(), check_db=False)
codes = {}
for name, arguments in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        output = os.open(f"{name}.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1), os.dup2(output, 2)
        sys.argv = ["evennia", name, *arguments]
        sys.exit(launcher.main())
    codes[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(codes))
"""


@pytest.fixture
def folder(db, tmp_path):
    """The demo as a game directory, with all extensions and the tables of the tests."""
    for part in ("server", "world"):
        shutil.copytree(CHECKOUT / part, tmp_path / part, ignore=LEFT_OUT)
    secret = tmp_path / "server" / "conf" / "secret_settings.py"
    secret.write_text(SETTINGS.format(own_folders()))
    with closing(sqlite3.connect(tmp_path / "server" / "evennia.db3")) as copy:
        connection.ensure_connection()
        connection.connection.backup(copy)
    return tmp_path


def launch(folder, commands):
    """Run commands by Evennia's launcher; return the exit code of each."""
    # The launcher writes over the first folder in the path.
    path = map(str, (folder, CHECKOUT, QUICK_IMPORTS))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    environ.pop(URL, None)
    environ.pop("DJANGO_SETTINGS_MODULE", None)
    process = subprocess.run(
        [sys.executable, "-c", LAUNCH, json.dumps(commands)],
        cwd=folder, env=environ, text=True, stdin=subprocess.DEVNULL, capture_output=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


def test_the_commands_run_with_their_checks_and_all_extensions(folder):
    there = {name: asked for name, asked in ASKED.items() if name in get_commands()}
    codes = launch(folder, {name: arguments for name, (arguments, _, _) in there.items()})
    for name, (_, code, end) in there.items():
        told = (folder / f"{name}.txt").read_text()
        assert (codes[name], "Traceback" in told) == (code, False), f"{name}: {told}"
        assert end in told, f"{name}: {told}"

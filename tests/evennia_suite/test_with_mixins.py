"""Evennia's own tests pass as well with our mixins as bases of its characters (`make soak`).

Each part runs twice in a newly initialised game that has the package, with and without the mixins,
so that what fails for another reason counts for neither.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("runner.py")
PARTS = (
    "evennia.objects",
    "evennia.commands",
    "evennia.accounts",
    "evennia.scripts",
    "evennia.server",
    "evennia.typeclasses",
    "evennia.web",
    "evennia.contrib.rpg",
    "evennia.contrib.tutorials.evadventure",
    "evennia.contrib.game_systems",
    "evennia.contrib.grid.extended_room",
)
FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+?\))", re.M)
RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
TIMEOUT_S = 3600


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    """A new game with the package in its settings, and the runner beside them."""
    folder = tmp_path_factory.mktemp("evennias")
    launch(folder, "--init", "mygame")
    game = folder / "mygame"
    (game / "evennia_ai").symlink_to(ROOT / "evennia_ai")
    (game / "mixin_runner.py").write_text(RUNNER.read_text())
    settings = game / "server" / "conf" / "settings.py"
    with settings.open("a") as file:
        file.write('\nINSTALLED_APPS += ["evennia_ai"]\n')
        file.write('DATABASES["default"]["TEST"] = {"MIGRATE": False}\n')
        file.write('PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]\n')
        file.write('TEST_RUNNER = "mixin_runner.MixinRunner"\n')
    return game


def launch(folder, *arguments, **more):
    """Run Evennia's launcher in a folder; return its output."""
    environ = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", SETTINGS)} | more
    command = [sys.executable, "-c", LAUNCH, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.stdout


SETTINGS = "DJANGO_SETTINGS_MODULE"
LAUNCH = "from evennia.server.evennia_launcher import main; main()"


def run_tests(game, part, mixins):
    """Return how many of Evennia's tests ran, and those that failed."""
    more = {"EVENNIA_AI_MIXINS": "1"} if mixins else {}
    output = launch(game, "test", "--settings", "settings.py", part, **more)
    ran = RAN.search(output)
    assert ran, output
    return int(ran[1]), set(FAILED.findall(output)), output


@pytest.mark.soak
@pytest.mark.timeout(2 * TIMEOUT_S)
@pytest.mark.parametrize("part", PARTS)
def test_what_evennia_tests_of_itself_holds_with_the_mixins(game, part):
    ran, failed, output = run_tests(game, part, mixins=True)
    if failed:
        without, failed_before, _ = run_tests(game, part, mixins=False)
        assert ran == without
        failed -= failed_before
    assert ran
    assert not failed, output

"""Each extension can be deleted with its folder and its tests, and everything else still passes.

It is tried on a copy of the checkout: one at a time for the types and the plan of the house, all at
once for the tests of the core.
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.layout import ROOT
from tests.selections import MAIN_PATHS

pytestmark = pytest.mark.campaign
CHECKOUT = ROOT.parent
PLACES = ("evennia_ai/contrib", "tests/contrib")
NAMES = sorted(path.parent.name for path in (ROOT / "contrib").glob("*/__init__.py"))
# In each run those that the rest meets most, about 20 s of CPU each; `make soak` has all.
IN_EACH_RUN = {"explanations", "stand_in"}
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".pytest_cache", ".hypothesis", ".ruff_cache", "*.db3*", "*.log"
)
HOUSE = ("tests/test_layout.py", "tests/test_docs.py")
# What is measured file by file, and holds for fewer files if it holds for all.
OF_FILES = "loads or loaded or variable or functions or class_name or whole"
# What a builder, a player and an admin meet of the core, and what an extension may not take along.
CORE = (
    *(f"tests/game/test_{subject}.py" for subject in MAIN_PATHS),
    *("tests/game/test_extensions.py", "tests/game/test_forgetting.py"),
    *("tests/game/test_uninstall.py", "tests/test_config.py"),
)
IMPORT_ALL = """
import tests.e2e.site.sitecustomize
import django, importlib, pkgutil
django.setup()
import evennia
evennia._init()
import evennia_ai
for module in pkgutil.walk_packages(evennia_ai.__path__, "evennia_ai."):
    importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the checkout, with what the type checker knows already."""
    folder = tmp_path_factory.mktemp("copy") / "checkout"
    shutil.copytree(CHECKOUT, folder, ignore=LEFT_OUT, symlinks=True)
    return folder


@contextmanager
def without(copy: Path, *names: str):
    """Delete the folders of extensions, and of their tests, from a copy; put them back after."""
    stash = copy.parent / "deleted"
    moved = []
    try:
        for place in PLACES:
            for name in names:
                if (folder := copy / place / name).exists():
                    (stash / place).mkdir(parents=True, exist_ok=True)
                    folder.rename(stash / place / name)
                    moved.append((stash / place / name, folder))
        yield
    finally:
        for there, here in moved:
            shutil.rmtree(here, ignore_errors=True)  # what Python compiled
            there.rename(here)


def run(copy: Path, *arguments: str):
    """Run Python in a copy; fail with its output if that fails."""
    settings = {"DJANGO_SETTINGS_MODULE": "server.conf.settings"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=os.environ | settings, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.fail(f"{' '.join(arguments)}\n{done.stdout[-8_000:]}{done.stderr[-4_000:]}", False)


def run_tests(copy: Path, *arguments: str):
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in IN_EACH_RUN else pytest.mark.soak) for name in NAMES],
)
def test_the_house_stands_without_one(copy, name):
    with without(copy, name):
        run(copy, "-m", "mypy")
        run_tests(copy, *HOUSE, "-k", f"not ({OF_FILES})")


def test_the_core_works_without_any(copy):
    with without(copy, *NAMES):
        run(copy, "-m", "mypy")
        run(copy, "-c", IMPORT_ALL)
        run_tests(copy, "--collect-only", "-q")
        run_tests(copy, *HOUSE, *CORE, "-k", f"not (test_layout.py and ({OF_FILES}))")

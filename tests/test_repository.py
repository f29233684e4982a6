"""What is in the repository."""

import re
import subprocess
from pathlib import Path

import pytest

from tests import run

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "docs", "evennia_ai", "pyproject.toml",
    "server", "tests", "world",
}  # fmt: skip
HOME_PATH = re.compile(r"(?<![\w.])/(home|root|Users|work)/[\w.]+")
REGISTRY = re.compile(r"index-url|extra-index|find-links", re.I)


@pytest.fixture(scope="module")
def tracked():
    """The files under version control; a copy without it has nothing to check."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a git repository")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_nothing_else_lies_at_the_top(tracked):
    names = {file.relative_to(ROOT).parts[0] for file in tracked}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_no_file_names_a_path_or_a_registry_of_some_machine(tracked):
    for file in tracked:
        if file == Path(__file__).resolve():
            continue
        text = file.read_text(errors="replace")
        assert not HOME_PATH.search(text), file
        assert not REGISTRY.search(text), file


def test_nothing_private_is_tracked(tracked):
    names = {file.name for file in tracked}
    assert not names & {"secret_settings.py", ".demo.json", "evennia.db3"}


def test_a_folder_that_game_steps_leave_out_holds_pure_tests_only():
    """`run.PURE` is not imported by steps that look for game tests or campaigns."""
    for name in run.PURE:
        for file in (ROOT / "tests" / name).rglob("*.py"):
            marked = set(re.findall(r"pytest\.mark\.(\w+)", file.read_text()))
            assert not marked & {"game", "campaign"}, file


def test_the_main_paths_are_there():
    for subject in run.MAIN_PATHS:
        assert (ROOT / "tests" / "game" / f"test_{subject}.py").exists(), subject

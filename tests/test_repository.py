"""What is in the repository."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests import selections

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "docs", "evennia_ai", "pyproject.toml",
    "server", "tests", "world",
}  # fmt: skip
HOME_PATH = re.compile(r"(?<![\w.])/(home|root|Users|work)/[\w.]+")
CLOCKS = {"time", "monotonic", "perf_counter"}
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
    """`selections.PURE` is not imported by steps that look for game tests or campaigns."""
    for name in selections.PURE:
        for file in (ROOT / "tests" / name).rglob("*.py"):
            marked = set(re.findall(r"pytest\.mark\.(\w+)", file.read_text()))
            assert not marked & {"game", "campaign"}, file
            assert "short_form" not in file.read_text(), file


def test_the_named_files_are_there():
    main_paths = [f"tests/game/test_{subject}.py" for subject in selections.MAIN_PATHS]
    for path in (*main_paths, *selections.ON_POSTGRESQL, *selections.ON_OTHER_LINE):
        assert (ROOT / path).exists(), path


def test_no_test_asserts_how_long_something_takes():
    """A busy machine is slow: times are figures of the benchmarks. Ends of a wait are not meant."""
    found = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if "bench" not in file.parts:
            text = file.read_text()
            if "assert" in text and any(f"{clock}()" in text for clock in CLOCKS):
                found += [f"{file}:{line}" for line in asserted_durations(text)]
    assert found == []


def asserted_durations(text):
    """The lines of ``assert CLOCK() - began < LIMIT``."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert)
        for test in ast.walk(node.test)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.LtE)
        if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Sub)
        if is_clock(test.left.left)
    ]


def is_clock(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in CLOCKS


def test_an_asserted_duration_is_seen():
    text = "assert time.monotonic() - began < 1\nassert time.monotonic() < end\n"
    assert asserted_durations(text) == [1]


def test_nothing_private_of_the_sdk_is_used():
    """Its private modules change with any version, and `pyproject.toml` sets no upper bound."""
    for file in (ROOT / "evennia_ai").rglob("*.py"):
        assert not re.search(r"\b(?:openai|httpx2?)(?:\.\w+)*\._[a-z]", file.read_text()), file

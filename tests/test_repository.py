"""What is in the repository, and what goes into the package."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import evennia_ai

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "docs", "evennia_ai", "pyproject.toml", "server", "tests",
    "world",
}  # fmt: skip
NO_SOURCE = (".*", "build", "*.egg-info", "__pycache__", "*.db3*", "logs")
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


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the project, since setuptools leaves its work in the folder it builds from."""
    folder = tmp_path_factory.mktemp("wheel") / "source"
    return shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NO_SOURCE))


@pytest.fixture(scope="module")
def wheel(source):
    """The built wheel."""
    folder = source.parent
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "-w",
            str(folder),
            str(source),
        ],
        check=True,
        capture_output=True,
    )
    return zipfile.ZipFile(next(folder.glob("*.whl")))


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


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = wheel.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"evennia_ai", f"evennia_ai-{evennia_ai.__version__}.dist-info"}


def test_the_wheel_holds_the_whole_package(wheel, source):
    files = (source / "evennia_ai").rglob("*")
    expected = {file.relative_to(source).as_posix() for file in files if file.is_file()}
    assert expected <= set(wheel.namelist())


def test_the_wheel_says_what_it_needs(wheel):
    name = next(name for name in wheel.namelist() if name.endswith("METADATA"))
    metadata = wheel.read(name).decode()
    assert "Name: evennia-ai" in metadata
    assert "License-Expression: BSD-3-Clause" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "Requires-Dist: evennia<6,>=5.0.1" in metadata

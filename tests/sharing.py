"""Let several pytest processes take the files of one selection in turn.

    python -m pytest -p tests.sharing --share=FOLDER ...

Started side by side, with the same arguments, each process runs the next file that none of them has
taken. So they end together, whatever each file costs. ``FOLDER`` is new, and theirs alone. With
``--backwards`` a process begins with the last file: a long one is not begun when all others end.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", metavar="FOLDER", type=Path, help="share the files by this folder")
    parser.addoption("--backwards", action="store_true", help="begin with the last file")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests of our files, as pytest's own loop does those of all."""
    folder: Path | None = session.config.option.share
    if folder is None or session.testsfailed:
        return None  # pytest's loop tells of files that could not be imported
    folder.mkdir(parents=True, exist_ok=True)
    files = [list(items) for _file, items in groupby(session.items, lambda item: item.path)]
    if session.config.option.backwards:
        files.reverse()
    own = own_items(chain.from_iterable(files), folder)
    for item, next_item in pairwise(chain(own, [None])):
        assert item
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


def own_items(items: Iterable[pytest.Item], folder: Path) -> Iterator[pytest.Item]:
    """Yield the tests of the files that no other process has taken by the time we come to them."""
    is_own: dict[Path, bool] = {}
    for item in items:
        if item.path not in is_own:
            is_own[item.path] = take(item.path, folder)
        if is_own[item.path]:
            yield item


def take(file: Path, folder: Path) -> bool:
    """Take a file; return False if another process has it."""
    try:
        (folder / "-".join(file.relative_to(ROOT).parts)).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True

"""Let several processes run the files of one selection in turn, after one collection.

    python -m pytest -p tests.sharing --processes=2 ...

The tests are imported and collected once, which takes 5 to 9 s of CPU; then the process is forked.
Each runs the next file that none of them has taken, so they end together, whatever each file costs.
With ``--from-both-ends`` every second process begins with the last file: a long one is not begun
when all others end. Each process sums its tests up by a closing line of its own.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, pairwise
from pathlib import Path
from tempfile import mkdtemp

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED_FOLDER = "EVENNIA_AI_TEMPLATE"  # of a call of `run`, which takes it away
FOLDER = pytest.StashKey[Path]()
OTHERS = pytest.StashKey[dict[int, Path]]()  # by process: the file of its output


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="share the files among so many")
    parser.addoption("--from-both-ends", action="store_true", help="every second one goes back")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests of our files, as pytest's own loop does those of all."""
    options = session.config.option
    if options.processes < 2 or session.testsfailed:
        return None  # pytest's loop tells of files that could not be imported
    number = fork(session.config, options.processes)
    files = [list(items) for _file, items in groupby(session.items, lambda item: item.path)]
    if options.from_both_ends and number % 2:
        files.reverse()
    own = own_items(chain.from_iterable(files), session.config.stash[FOLDER])
    for item, next_item in pairwise(chain(own, [None])):
        assert item
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Wait for the processes that we forked; tell what they told, and fail if one did."""
    others = session.config.stash.get(OTHERS, {})
    for process, output in others.items():
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"\n{output.read_text(errors='replace')}")
        if code := os.waitstatus_to_exitcode(status):
            print(f"Process {process} ended with {code}.")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if others:
        shutil.rmtree(session.config.stash[FOLDER])


def fork(config: pytest.Config, processes: int) -> int:
    """Become so many processes; return the number of this one, from 0."""
    folder, others = Path(mkdtemp(dir=os.environ.get(SHARED_FOLDER))), dict[int, Path]()
    config.stash[FOLDER], config.stash[OTHERS] = folder, others
    sys.stdout.flush()
    for number in range(1, processes):
        output = folder / f"output {number}"
        if not (process := os.fork()):
            others.clear()
            begin_anew(config, output)
            return number
        others[process] = output
    return 0


def begin_anew(config: pytest.Config, output: Path) -> None:
    """Have files of our own in a forked process, instead of those of the process before."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture
    capture.stop_global_capturing()
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    capture.start_global_capturing()
    capture.suspend_global_capture()


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

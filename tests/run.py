"""Run the tests, `make test` and `make test-more`, and what needs their environment.

Needs the standard library only and makes one environment for each interpreter, under .venv-test/.
Each call runs several steps side by side, prints one line for each, and closes with the sum.

    python -m tests.run test            what you run before a commit, on one interpreter
    python -m tests.run more            the other interpreters, the campaigns, all servers
    python -m tests.run lines           all game tests on each other interpreter, all properties
    python -m tests.run bench|soak|real the measurements
    python -m tests.run screenshots     the pictures of the documentation
    python -m tests.run lock            newer versions of the packages, for the next installation

`EVENNIA_AI_PYTHON=3.11` chooses the one interpreter; without it the newest one found is used.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from server import environment, interpreters
from tests import kept_game, layout
from tests.selections import (
    CAMPAIGN,
    FURTHER,
    GAME,
    MAIN_PATHS,
    MARKED,
    ON_OTHER_LINE,
    ON_POSTGRESQL,
    PROPERTY,
    PURE,
    SMALL,
    without_a_test_of,
)

ROOT = environment.ROOT
VENVS = ROOT / ".venv-test"
EXTRAS = "[all,docs,end-to-end,test]"
EXTRAS_OF_OTHERS = "[all,test]"  # of the interpreters that run no server, no browser, no site
UV = VENVS / "uv"  # installs in a tenth of pip's time; without it, pip does
UV_LIMITS = {"UV_HTTP_TIMEOUT": "15", "UV_PYTHON_DOWNLOADS": "never"}
# Python compiles what it imports, which is a third of what is installed.
UNCOMPILED = "--no-compile"
# Steps at a time on two cores, of which some are two processes: a test with a server waits about
# as long as it works.
WORKERS = 4
COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
CLOSING_LINE = re.compile(
    r"^=+ (no tests ran|\d+ (passed|failed|error|skipped|deselected)).*", re.M
)
# See tests/sharing.py. The last game tests empty the database, so these go one way.
TWO, BOTH_ENDS = ("-p", "tests.sharing", "--processes=2"), ("--from-both-ends",)
# Builds the pages as a site, and fails on a link or an anchor that leads nowhere.
SITE = ("-m", "mkdocs", "build", "--strict", "--config-file", "docs/site/mkdocs.yml")
MEASUREMENTS = {
    "bench": ("bench and not soak", "tests/bench"),
    "soak": ("soak", "tests"),
    "real": ("real", "tests/real"),
}
PROGRAMS = {"screenshots": ("-m", "tests.e2e.screenshots")}
# Containers often set it. Each step and each server of a test would compile the package anew.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# The folder of one call. All its end-to-end steps copy the same new game from there; see
# tests/e2e/conftest.py.
TEMPLATE = "EVENNIA_AI_TEMPLATE"


@dataclass(frozen=True)
class Step:
    """One command of an interpreter's environment; a pytest step ends with counts."""

    title: str
    version: str
    command: tuple[str, ...]
    is_pytest: bool = False


@dataclass(frozen=True)
class Result:
    """How a step ended. A step without counts passes or fails as one test."""

    step: Step
    status: int
    output: str
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def closing_line(self) -> str:
        """Return what sums the step up: the last line of each of its processes."""
        matches = CLOSING_LINE.finditer(self.output) if self.step.is_pytest else ()
        if lines := [match.group().strip("= ") for match in matches]:
            return "; ".join(lines)
        return "ok" if self.status == 0 else f"failed with status {self.status}"

    @property
    def counts(self) -> tuple[int, int]:
        """Return how many tests passed and failed; an error counts as a failure."""
        words = COUNT.findall(self.closing_line) if self.step.is_pytest else []
        passed = sum(int(number) for number, word in words if word == "passed")
        failed = sum(int(number) for number, word in words if word != "passed")
        return passed, max(failed, 1 if self.status else 0)

    def __str__(self) -> str:
        verdict = "FAILED " if self.status else "ok     "
        spent = f"{self.wall_s:.0f} s, {self.cpu_s:.0f} s CPU"
        return f"  {verdict}  {self.step.title}: {self.closing_line} [{spent}]"


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for; return the exit status."""
    os.chdir(ROOT)
    found = {
        version: path
        for version, path in interpreters.find_interpreters().items()
        if version in interpreters.TESTED
    }
    what = arguments[0] if arguments else "test"
    known = (*SUITES, *MEASUREMENTS, *PROGRAMS, "lock")
    if what not in known:
        say(f"Unknown: {what}. Use one of: {', '.join(known)}.")
        return 2
    if not found:
        say(f"No usable Python found. Install one of {', '.join(interpreters.TESTED)} with venv.")
        return 1
    if what == "lock":
        return renew_lock(found[main_version(found)])
    if what in MEASUREMENTS:
        marks, folder = MEASUREMENTS[what]
        return show(("-m", "pytest", folder, "-s", "-m", marks), found)
    if what in PROGRAMS:
        return show(PROGRAMS[what], found)
    with TemporaryDirectory() as folder:
        os.environ[TEMPLATE] = folder
        return report(SUITES[what](found))


def main_version(found: dict[str, str]) -> str:
    """Return the interpreter that runs everything: the chosen one, else the newest."""
    return os.environ.get("EVENNIA_AI_PYTHON") or max(found, key=interpreters.as_numbers)


# --- what each call runs ---------------------------------------------------------------------


def run_test(found: dict[str, str]) -> list[Result]:
    """Run `make test`: checks, small tests and a short end-to-end set on one interpreter."""
    say(f"Python {(version := main_version(found))}")
    with ThreadPoolExecutor(WORKERS) as pool:
        results = finish(start(pool, {version: steps_of_test(version)}, found))
    kept_game.keep()
    say("", layout.report())
    return results


def run_more(found: dict[str, str]) -> list[Result]:
    """Run `make test-more`: all that `make test` leaves out, the time measurements last."""
    kept_game.bring()
    main = main_version(found)
    others = sorted(set(found) - {main}, key=interpreters.as_numbers)
    missing = [version for version in interpreters.TESTED if version not in found]
    say(f"Python {', '.join([main, *others])}" + (f"; not found: {missing}" if missing else ""))
    steps = {main: steps_of_more(main)}
    for other in others:
        is_between = interpreters.as_numbers(other) < interpreters.as_numbers(main)
        steps[other] = steps_of_other(other, is_between=is_between and other != others[0])
    with ThreadPoolExecutor(WORKERS) as pool:
        results = finish(start(pool, steps, found))
    if environment.is_current(VENVS / main, EXTRAS):
        results.append(run(pytest_step("end-to-end tests of time", main, "e2e and alone")))
    return results


def run_lines(found: dict[str, str]) -> list[Result]:
    """Run all game tests on each interpreter but that of `make test`, whatever Evennia it has.

    On that one, all properties are tried with ten times as many examples.
    """
    main = main_version(found)
    others = sorted(set(found) - {main}, key=interpreters.as_numbers)
    say(f"Python {', '.join([main, *others])}")
    steps = {
        other: [pytest_step("game tests of Evennia", other, f"{GAME} and not engine", *TWO)]
        for other in others
    }
    many = pytest_step("properties", main, PROPERTY, "--hypothesis-profile=soak")
    with ThreadPoolExecutor(WORKERS) as pool:
        return finish(start(pool, {main: [many], **steps}, found))


def steps_of_test(version: str) -> list[Step]:
    """List the steps of `make test`, the longest first."""
    return [
        pytest_step("short end-to-end tests", version, "e2e and quick"),
        pytest_step("game tests", version, GAME, *TWO),
        pytest_step("pure tests", version, SMALL),
        Step("types", version, ("-m", "mypy")),
        Step("lint", version, ("-m", "ruff", "check", ".")),
        Step("format", version, ("-m", "ruff", "format", "--check", ".")),
    ]


def steps_of_more(version: str) -> list[Step]:
    """List the further steps on the interpreter of `make test`, the longest first."""
    return [
        pytest_step("end-to-end campaigns", version, "e2e and campaign", *TWO, *BOTH_ENDS),
        pytest_step("further end-to-end tests", version, FURTHER, *TWO, *BOTH_ENDS),
        pytest_step("campaigns", version, CAMPAIGN, *TWO, *BOTH_ENDS),
        Step("documentation as a site", version, SITE),
        postgresql_step(version),
    ]


def steps_of_other(version: str, is_between: bool) -> list[Step]:
    """List the steps on another interpreter; only main paths if others before and after it run.

    On the other line of Evennia the game tests marked `engine` are left out. The pure tests use no
    package that has two versions; the type checker reads the package as each interpreter does.
    """
    if is_between:
        files = [f"tests/game/test_{subject}.py" for subject in MAIN_PATHS]
        return [pytest_step("game tests of the main paths", version, GAME, *files)]
    marks = f"{GAME} and not engine"
    return [
        pytest_step("game tests of Evennia", version, marks, *ON_OTHER_LINE),
        Step(f"types on {version}", version, ("-m", "mypy")),
    ]


def pytest_step(title: str, version: str, marks: str, *more: str) -> Step:
    """Return a pytest run of the tests with these marks; ``more`` are further arguments."""
    title = f"{title} on {version}"
    cache = f"cache_dir=.pytest_cache/{re.sub('[^a-z0-9.]+', '-', title.lower())}"
    command = ("-m", "pytest", "--color=no", "-o", cache, "-m", marks, *folders(marks), *more)
    return Step(title, version, command, is_pytest=True)


def postgresql_step(version: str) -> Step:
    """Return a pytest run on a PostgreSQL server of its own."""
    step = pytest_step("PostgreSQL", version, GAME, *ON_POSTGRESQL)
    return replace(step, command=("-m", "tests.postgresql", *step.command[2:]))


def folders(marks: str) -> list[str]:
    """Return arguments that leave out the folders and files without a test of these marks."""
    if marks.startswith("e2e"):
        return ["tests/e2e"]
    without = {SMALL: MARKED, PROPERTY: ("bench", "e2e")}.get(marks, ("bench", "e2e", *PURE))
    names = (*(f"tests/{name}" for name in without), *without_a_test_of(marks))
    return [f"--ignore={name}" for name in names]


SUITES: dict[str, Callable[[dict[str, str]], list[Result]]] = {
    "test": run_test,
    "more": run_more,
    "lines": run_lines,
}


# --- running ---------------------------------------------------------------------------------


def start(
    pool: ThreadPoolExecutor, steps: dict[str, list[Step]], found: dict[str, str]
) -> Iterator[Future[Result]]:
    """Start the steps of one version after the other, each as soon as it is installed."""
    for version, of_version in steps.items():
        try:
            install(version, found)
        except environment.InstallError as error:
            yield pool.submit(failed_installation, version, error)
            continue
        yield from [pool.submit(run, step) for step in of_version]


def finish(started: Iterator[Future[Result]]) -> list[Result]:
    """Wait for all steps; return their results in the order of their start."""
    return [future.result() for future in list(started)]


def install(version: str, found: dict[str, str]) -> None:
    """Make the version's environment unless it is up to date; raises InstallError."""
    if version not in found:
        raise environment.InstallError(f"There is no Python {version} on this machine.")
    extras = EXTRAS if version == main_version(found) else EXTRAS_OF_OTHERS
    if not environment.is_current(VENVS / version, extras):
        say(f"Installing for Python {version} ...")
        folder, python = VENVS / version, found[version]
        environment.make_environment(folder, python, extras, UNCOMPILED, uv=find_uv(python))


def find_uv(python: str) -> str:
    """Return the path of uv, which pip gets if need be; "" if there is none within a minute."""
    os.environ.update(UV_LIMITS)
    own = UV / "bin" / "uv"
    if not own.exists():
        quickly = ("--timeout", "10", "--retries", "0")
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [python, *environment.PIP, *quickly, "install", "--target", str(UV), "uv"],
                capture_output=True, timeout=60, check=False,
            )  # fmt: skip
    return str(own) if own.exists() else shutil.which("uv") or ""


def renew_lock(python: str) -> int:
    """Write newer versions of the packages into the lock; return the exit status."""
    try:
        environment.renew_lock(find_uv(python), environment.LOCK, "--upgrade")
    except (environment.InstallError, OSError) as error:
        say(f"The lock could not be renewed: {error}")
        return 1
    say(f"Renewed {environment.LOCK.relative_to(ROOT)}. Run `make test` and `make test-more`.")
    return 0


def failed_installation(version: str, error: environment.InstallError) -> Result:
    """Return the result of an environment that could not be made."""
    result = Result(Step(f"installation for {version}", version, ()), 1, str(error))
    say(str(error), str(result))
    return result


def run(step: Step) -> Result:
    """Run a step; print how it ended, and its whole output if it failed."""
    say(f"  running  {step.title}")
    began = time.monotonic()
    process = subprocess.Popen(
        [str(environment.venv_python(VENVS / step.version)), *step.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={name: value for name, value in os.environ.items() if name != NO_BYTECODE},
    )
    assert process.stdout
    with process.stdout as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu_s = usage.ru_utime + usage.ru_stime
    result = Result(step, process.returncode, output, time.monotonic() - began, cpu_s)
    say(*([f"\n{output}"] if result.status else []), str(result))
    return result


def report(results: list[Result]) -> int:
    """Print one line for each step and the sum of all; return the exit status."""
    say("", *map(str, results), "")
    passed = sum(result.counts[0] for result in results)
    failed = sum(result.counts[1] for result in results)
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def show(command: Sequence[str], found: dict[str, str]) -> int:
    """Run a command of the main environment with its output shown; return the exit status."""
    version = main_version(found)
    try:
        install(version, found)
    except environment.InstallError as error:
        say(str(error))
        return 1
    python = str(environment.venv_python(VENVS / version))
    return subprocess.run([python, *command], check=False).returncode


def say(*lines: str) -> None:
    """Print lines at once and together, from any thread."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs everything: `make test`. Standard library only; makes its own environments.

One environment per interpreter of 3.11 to 3.13 that is found, under .venv-test/. While the next
one is installed, the tests run in those that are ready. One interpreter (the newest, or
``EVENNIA_AI_E2E=3.11``) runs everything; the others leave out what would only do again the same
sums for long (marked ``once``), and those between the oldest and the newest what asks nothing of
Evennia. The tests with real servers run beside the others, but for those that measure time (marked
``timed``): they come last and alone.

    python -m tests.run                 lint, types, all tests
    python -m tests.run bench|soak      the measurements
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from server import environment, interpreters

ROOT = environment.ROOT
VENVS = ROOT / ".venv-test"
EXTRAS = "[all,test]"
# On two cores: a test with a server waits about as long as it works.
WORKERS = 4
COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
CLOSING_LINE = re.compile(
    r"^=* ?(no tests ran|\d+ (passed|failed|error|skipped|deselected)).*", re.M
)
MEASUREMENTS = {"bench": ("bench and not soak", "tests/bench"), "soak": ("soak", "tests")}
NOTHING_COLLECTED = 5
# Where the end-to-end tests of one run share the game they begin with; see tests/e2e/conftest.py.
TEMPLATE = "EVENNIA_AI_TEMPLATE"


@dataclass(frozen=True)
class Step:
    """One thing to run in an environment; ``is_pytest`` tells that it closes with counts."""

    title: str
    command: tuple[str, ...]
    is_pytest: bool = False


@dataclass(frozen=True)
class Result:
    """How a step ended. A step that is no pytest, or ended without counts, fails as one."""

    step: Step
    status: int
    output: str
    seconds: float

    @property
    def closing_line(self) -> str:
        """The line that sums the step up."""
        matches = list(CLOSING_LINE.finditer(self.output)) if self.step.is_pytest else []
        if matches:
            return matches[-1].group()
        return "ok" if self.status == 0 else f"failed with status {self.status}"

    @property
    def counts(self) -> tuple[int, int]:
        """How many tests passed and failed; errors are failures."""
        words = COUNT.findall(self.closing_line) if self.step.is_pytest else []
        passed = sum(int(number) for number, word in words if word == "passed")
        failed = sum(int(number) for number, word in words if word != "passed")
        return passed, max(failed, 1 if self.status else 0)


def main(arguments: list[str]) -> int:
    """Run what was asked for; return the exit status."""
    os.chdir(ROOT)
    found = {
        version: path
        for version, path in interpreters.find_interpreters().items()
        if version in interpreters.TESTED
    }
    if not found:
        say("This needs Python 3.11, 3.12 or 3.13 (with venv), and none was found.")
        return 1
    if arguments:
        return measure(arguments[0], found)
    with TemporaryDirectory() as folder:
        os.environ[TEMPLATE] = folder
        results = run_suite(found)
    return report(results)


def run_suite(found: dict[str, str]) -> list[Result]:
    """Run every step, as far as environments can be made."""
    versions = sorted(found, key=interpreters.as_numbers)
    missing = [version for version in interpreters.TESTED if version not in found]
    say(f"Python {', '.join(versions)} found" + (f"; no {', '.join(missing)}." if missing else "."))
    main = os.environ.get("EVENNIA_AI_E2E") or versions[-1]
    pending: list[Future[Result]] = []
    results: list[Result] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for version in sorted(versions, key=lambda one: one != main):
            try:
                install(version, found[version])
            except environment.InstallError as error:
                results.append(broken_installation(version, error))
                continue
            steps = tests_beside_others(version, main, oldest=versions[0])
            pending += [pool.submit(run, step, version) for step in steps]
        results += [future.result() for future in pending]
    if environment.is_current(VENVS / main, EXTRAS):
        results.append(run(timed_tests(main), main))
    return results


def tests_beside_others(version: str, main: str, oldest: str) -> list[Step]:
    """What is run on an interpreter, the longest first: on ``main`` everything, on the oldest lint
    and types too."""
    if version == main:
        tests = [end_to_end_tests(version), unit_tests(version)]
    else:
        tests = [brief_tests(version) if version == oldest else game_tests(version)]
    return tests + (static_checks() if version == oldest else [])


def install(version: str, interpreter: str) -> None:
    """Make the version's environment unless it is there and up to date."""
    if environment.is_current(VENVS / version, EXTRAS):
        return
    say(f"Installing for Python {version} ...")
    environment.make_environment(VENVS / version, interpreter, EXTRAS)


def static_checks() -> list[Step]:
    """Lint, format and types, once, in the oldest environment."""
    return [
        Step("ruff check", ("-m", "ruff", "check", ".")),
        Step("ruff format --check", ("-m", "ruff", "format", "--check", ".")),
        Step("mypy", ("-m", "mypy")),
    ]


def unit_tests(version: str) -> Step:
    """The pure and the game tier."""
    return pytest_step(f"pure and game tests on {version}", "-m", "not e2e and not bench")


def brief_tests(version: str) -> Step:
    """The same, for one more interpreter."""
    marks = "not e2e and not bench and not once"
    return pytest_step(f"pure and game tests on {version}", "-m", marks)


def game_tests(version: str) -> Step:
    """What needs Evennia and a database, for an interpreter between two others."""
    return pytest_step(f"game tests on {version}", "-m", "game and not once and not bench")


def end_to_end_tests(version: str) -> Step:
    """The tier with real servers."""
    title = f"end-to-end tests on {version}"
    return pytest_step(title, "-m", "e2e and not timed", "tests/e2e")


def timed_tests(version: str) -> Step:
    """Those of them that measure time."""
    return pytest_step(f"timed tests on {version}", "-m", "e2e and timed", "tests/e2e")


def pytest_step(title: str, *arguments: str) -> Step:
    """A step that is a run of pytest."""
    own_cache = f"cache_dir=.pytest_cache/{re.sub('[^a-z0-9.]+', '-', title)}"
    return Step(title, ("-m", "pytest", "--color=no", "-o", own_cache, *arguments), is_pytest=True)


def run(step: Step, version: str) -> Result:
    """Run a step in a version's environment and say how it went, with its output if badly."""
    say(f"  running  {step.title}")
    began = time.monotonic()
    done = subprocess.run(
        [str(environment.venv_python(VENVS / version)), *step.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    result = Result(step, done.returncode, done.stdout, time.monotonic() - began)
    say(*([f"\n{done.stdout}"] if done.returncode else []), describe(result))
    return result


def broken_installation(version: str, error: environment.InstallError) -> Result:
    """The failure of an environment that could not be made."""
    result = Result(Step(f"installation for {version}", ()), 1, str(error), 0.0)
    say(str(error), describe(result))
    return result


def describe(result: Result) -> str:
    """Sum a step up in one line."""
    verdict = "FAILED " if result.status else "ok     "
    return f"  {verdict}  {result.step.title}: {result.closing_line} [{result.seconds:.0f} s]"


def report(results: list[Result]) -> int:
    """Print one closing line for each step and the sum of all; return the exit status."""
    say("", *(describe(result) for result in results), "")
    passed = sum(result.counts[0] for result in results)
    failed = sum(result.counts[1] for result in results)
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def measure(what: str, found: dict[str, str]) -> int:
    """Run the measurements of this name with their output shown; return the exit status."""
    if what not in MEASUREMENTS:
        say(f"There is no '{what}' to run; there are: {', '.join(MEASUREMENTS)}.")
        return 2
    version = max(found, key=interpreters.as_numbers)
    try:
        install(version, found[version])
    except environment.InstallError as error:
        say(str(error))
        return 1
    python = str(environment.venv_python(VENVS / version))
    marks, folder = MEASUREMENTS[what]
    command = [python, "-m", "pytest", folder, "-s", "-m", marks]
    status = subprocess.run(command, check=False).returncode
    if status == NOTHING_COLLECTED:
        say(f"There is nothing to measure under '{what}' yet.")
        return 0
    return status


def say(*lines: str) -> None:
    """Print lines at once and together, whichever thread they come from."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

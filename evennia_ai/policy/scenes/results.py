"""The results of scenes that were played, as rates, as a table, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.scenes.checks import Answer, Verdict
from evennia_ai.policy.scenes.format import Line, Scene
from evennia_ai.policy.text_width import filled, fitting

WIDTH = 78
LONGEST_LINE = 400
FIGURES = "{}{:>7}{:>8}{:>7}  {}"
HEAD = FIGURES.format(filled("scene", 47), "runs", "passed", "least", "")


@dataclass(frozen=True)
class PlayedStep:
    """A line, its answer, and the verdicts on it."""

    line: Line
    answer: Answer
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Run:
    """One playing of a scene."""

    steps: tuple[PlayedStep, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Return True if every check held."""
        return all(verdict.holds for step in self.steps for verdict in step.verdicts)


@dataclass(frozen=True)
class SceneResult:
    """All runs of a scene."""

    scene: Scene
    runs: tuple[Run, ...]

    @property
    def passed(self) -> int:
        """Return how many runs passed."""
        return sum(run.passed for run in self.runs)

    @property
    def holds(self) -> bool:
        """Return True if enough runs passed."""
        return self.passed / len(self.runs) >= self.scene.least

    @property
    def seconds(self) -> float:
        """Return how long all runs took."""
        return sum(run.seconds for run in self.runs)

    def rates(self) -> dict[tuple[int, str], tuple[int, int]]:
        """Return by step and check how often it held, and how often it was asked."""
        rates: dict[tuple[int, str], tuple[int, int]] = {}
        for run in self.runs:
            for number, step in enumerate(run.steps, 1):
                for verdict in step.verdicts:
                    held, asked = rates.get((number, verdict.check), (0, 0))
                    rates[number, verdict.check] = held + verdict.holds, asked + 1
        return rates


def table(results: Sequence[SceneResult]) -> list[str]:
    """Return the results as lines of at most `WIDTH` columns: scenes, and checks that failed."""
    lines = [HEAD.rstrip(), "-" * WIDTH]
    for result in results:
        title = filled(one_line(result.scene.scene), 47)
        least, state = f"{result.scene.least:.0%}", "" if result.holds else "FAILED"
        row = FIGURES.format(title, len(result.runs), result.passed, least, state)
        lines.append(row.rstrip())
        for (number, check), (held, asked) in result.rates().items():
            if held < asked:
                label = filled(one_line(f"step {number}: {check}"), 59)
                lines.append(f"  {label}{f'{held} of {asked}':>15}")
    return lines


def _shown(text: str, columns: int) -> str:
    return fitting(one_line(text), columns)


def _transcript(scene: Scene, run: Run) -> Iterator[str]:
    """Yield the lines of a run: what was said and done, and each check that failed."""
    name = scene.name or scene.character
    for number, step in enumerate(run.steps, 1):
        yield f"{number}. {step.line.who} {_manner(step.line.kind, False)}: {step.line.text}"
        yield from (f"   {name} {_manner(s.kind, s.private)}: {s.text}" for s in step.answer.spoken)
        for act in step.answer.acts:
            if act.name not in ("say", "whisper", "emote"):
                told = ", ".join(f"{key}={value}" for key, value in act.arguments.items())
                yield f"   {name} calls {act.name} ({told}): {act.state}"
        yield from (f"   a reply was refused: {why}" for why in step.answer.refused)
        for verdict in step.verdicts:
            if not verdict.holds:
                yield f"   FAILED {verdict.check}: {verdict.why}"


def _manner(kind: str, private: bool) -> str:
    return "whispers" if private or kind == "whisper" else {"emote": "acts out"}.get(kind, "says")


def failure_lines(result: SceneResult) -> list[str]:
    """Return the transcript of the first run that failed, safe for a terminal and for XML."""
    failed = next((run for run in result.runs if not run.passed), None)
    lines = _transcript(result.scene, failed) if failed else ()
    insets = ((line, len(line) - len(line.lstrip(" "))) for line in lines)
    return [" " * inset + _shown(line, LONGEST_LINE) for line, inset in insets]


def junit(results: Sequence[SceneResult], file: str) -> str:
    """Return JUnit XML with a test case for each scene, as the usual CI systems read it."""
    failures = sum(not result.holds for result in results)
    counts = {"tests": str(len(results)), "failures": str(failures), "errors": "0"}
    took = f"{sum(result.seconds for result in results):.3f}"
    root = Element("testsuites", counts, time=took)
    suite = SubElement(root, "testsuite", counts, name=_shown(file, 200), time=took)
    for result in results:
        names = {"name": _shown(result.scene.scene, 200), "classname": _shown(file, 200)}
        case = SubElement(suite, "testcase", names, time=f"{result.seconds:.3f}")
        if not result.holds:
            told = f"{result.passed} of {len(result.runs)} runs passed"
            failure = SubElement(case, "failure", message=told, type="checks")
            failure.text = "\n".join(failure_lines(result))
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def progress_line(result: SceneResult, number: str) -> str:
    """Return a line about a scene that was just played."""
    state = "ok" if result.holds else "FAILED"
    ending = f"{result.passed} of {len(result.runs)} passed, {result.seconds:.1f} s  {state}"
    return f"{number} {_shown(result.scene.scene, WIDTH - len(number) - len(ending) - 3)}  {ending}"

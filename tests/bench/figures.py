"""Measured figures and their bars, shown as one table for people and one JSON file for machines.

A bar on a ratio, a share or a count is asserted. A bar on a time is a goal: it is shown and not
asserted, since a time depends on the machine and on what else runs there. A benchmark may assert a
time with ``asserted``, such as a median or a CPU time far below its bar.
"""

import json
import math
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
LATEST = RESULTS / "latest.json"
HEADINGS = ("benchmark", "figure", "value", "bar", "")
SHOWN_PACKAGES = ("evennia", "django", "twisted", "openai")
TIMES = ("s", "ms", "µs")
# P6 of the design: at the 99th percentile, nothing holds the reactor longer than this.
LONG_MS = 50.0
MOST_LONG_PERCENT = 1.0
# Of a normal distribution: 95 % lie below this many standard deviations over the mean.
ONE_SIDED_95 = 1.645


@dataclass(frozen=True)
class Figure:
    """One measured value.

    ``at_most`` is its bar; None if there is none. ``chance`` is how far chance alone may carry the
    value over the bar. ``asserted`` makes the bar of a time binding.
    """

    benchmark: str
    name: str
    value: float
    unit: str
    at_most: float | None = None
    chance: float = 0.0
    asserted: bool = False

    @property
    def is_goal(self) -> bool:
        """True if the bar is shown and not asserted."""
        return self.unit in TIMES and not self.asserted

    @property
    def holds(self) -> bool:
        """False if the value exceeds its bar by more than chance explains."""
        return self.at_most is None or self.value - self.chance <= self.at_most

    @property
    def verdict(self) -> str:
        """How the value stands to its bar, in one word; empty without a bar."""
        if self.at_most is None:
            return ""
        if self.holds:
            return "holds"
        return "over goal" if self.is_goal else "MISSED"

    def as_row(self) -> tuple[str, ...]:
        """Return the cells of the figure's line in the table."""
        bar = "" if self.at_most is None else f"<= {in_words(self.at_most)} {self.unit}".rstrip()
        error = f" ± {in_words(self.chance)}" if self.chance else ""
        shown = f"{in_words(self.value)}{error} {self.unit}".rstrip()
        return (self.benchmark, self.name, shown, bar, self.verdict)


class Sheet:
    """The figures of one benchmark, in the order of their measurement."""

    def __init__(self, benchmark: str, book: list[Figure]) -> None:
        self._benchmark = benchmark
        self._book = book
        self._own: list[Figure] = []

    def add(
        self,
        name: str,
        value: float,
        unit: str = "",
        at_most: float | None = None,
        *,
        asserted: bool = False,
    ) -> None:
        """Keep a figure, whether it holds or not."""
        self._keep(Figure(self._benchmark, name, float(value), unit, at_most, asserted=asserted))

    def add_spread(self, name: str, values: Sequence[float], p99_at_most: float = math.inf) -> None:
        """Keep the median, the 99th percentile and the highest of many times in ms."""
        goal = p99_at_most if p99_at_most < math.inf else None
        self.add(f"{name}, median of {len(values):,}", statistics.median(values), "ms")
        self.add(f"{name}, p99", percentile(values, 99), "ms", goal)
        self.add(f"{name}, max", max(values), "ms")

    def add_held(self, name: str, stretches_ms: Sequence[float], p99_at_most: float) -> None:
        """Keep how long the reactor was held; at most 1 % of the stretches may last over 50 ms."""
        self.add_spread(name, stretches_ms, p99_at_most)
        long = sum(ms > LONG_MS for ms in stretches_ms)
        share = 100 * long / len(stretches_ms)
        self.add(f"{name}, over {LONG_MS:.0f} ms", share, "%", MOST_LONG_PERCENT)

    def add_share(self, name: str, failed: int, asked: int, at_most: float | None = None) -> None:
        """Keep the share of failures, in per cent of what was asked, with its sampling error.

        The error is one-sided at 95 %, by the normal approximation at the bar.
        """
        chance = 0.0
        if at_most is not None:
            bar = at_most / 100
            chance = 100 * ONE_SIDED_95 * math.sqrt(bar * (1 - bar) / asked)
        share = 100 * failed / asked
        self._keep(Figure(self._benchmark, f"{name}, of {asked:,}", share, "%", at_most, chance))

    def _keep(self, figure: Figure) -> None:
        self._own.append(figure)
        self._book.append(figure)

    def check(self) -> None:
        """Raise AssertionError that names every missed bar; goals are not checked."""
        missed = [f for f in self._own if not (f.holds or f.is_goal)]
        assert not missed, "missed: " + "; ".join(" | ".join(f.as_row()[1:4]) for f in missed)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that ``percent`` per cent of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def in_words(value: float) -> str:
    """Return a number as text, with three significant digits."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def table(figures: Iterable[Figure]) -> str:
    """Return all figures in columns, with a rule between benchmarks."""
    rows = [figure.as_row() for figure in figures]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    rule = "  ".join("-" * width for width in widths).rstrip()
    lines = [in_columns(HEADINGS, widths)]
    previous = None
    for row in rows:
        if row[0] != previous:
            lines.append(rule)
        shown = row if row[0] != previous else ("", *row[1:])
        lines.append(in_columns(shown, widths))
        previous = row[0]
    return "\n".join(lines)


def in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return one line of the table, with values and bars aligned to the right."""
    padded = [
        cell.rjust(width) if number in (2, 3) else cell.ljust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def surroundings() -> dict[str, Any]:
    """Return what the figures were measured on: versions, system, cores and load."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in SHOWN_PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def write_json(figures: Sequence[Figure], file: Path = LATEST) -> None:
    """Write the figures over those of the last run, and into a dated copy beside them."""
    around = surroundings()
    rows = [asdict(figure) | {"holds": figure.holds} for figure in figures]
    text = json.dumps(around | {"figures": rows}, indent=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    stamp = around["at"].replace(":", "").replace("+0000", "Z")
    for target in (file, file.with_name(f"{stamp}.json")):
        target.write_text(text + "\n")

"""Figures, their bars, and how they are shown: one table for people, one JSON file for machines."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Figure:
    """One measured value; ``at_most`` is its bar, None where it is only reported."""

    benchmark: str
    name: str
    value: float
    unit: str
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """False where the bar is missed."""
        return self.at_most is None or self.value <= self.at_most

    def as_row(self) -> tuple[str, ...]:
        """The figure as a line of the table."""
        bar = "" if self.at_most is None else f"<= {in_words(self.at_most)} {self.unit}".rstrip()
        verdict = "" if self.at_most is None else ("holds" if self.holds else "MISSED")
        shown = f"{in_words(self.value)} {self.unit}".rstrip()
        return (self.benchmark, self.name, shown, bar, verdict)


class Sheet:
    """The figures of one benchmark, in the order they were taken."""

    def __init__(self, benchmark: str, book: list[Figure]) -> None:
        self._benchmark = benchmark
        self._book = book
        self._own: list[Figure] = []

    def add(self, name: str, value: float, unit: str = "", at_most: float | None = None) -> None:
        """Write a figure down, whether it is good or bad."""
        figure = Figure(self._benchmark, name, float(value), unit, at_most)
        self._own.append(figure)
        self._book.append(figure)

    def add_spread(
        self,
        name: str,
        values: Sequence[float],
        unit: str,
        p99_at_most: float | None = None,
        max_at_most: float | None = None,
    ) -> None:
        """Write down the median, the 99th percentile and the highest of many values."""
        self.add(f"{name}, median of {len(values)}", statistics.median(values), unit)
        self.add(f"{name}, p99", percentile(values, 99), unit, p99_at_most)
        self.add(f"{name}, max", max(values), unit, max_at_most)

    def check(self) -> None:
        """Raise AssertionError that names every missed bar."""
        missed = [" | ".join(figure.as_row()[1:4]) for figure in self._own if not figure.holds]
        assert not missed, "missed: " + "; ".join(missed)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that ``percent`` per cent of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def in_words(value: float) -> str:
    """A number with as many digits as mean something."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def table(figures: Iterable[Figure]) -> str:
    """All figures in columns, a line between benchmarks."""
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
    """One line of the table; values and bars stand at the right of their columns."""
    padded = [
        cell.rjust(width) if number in (2, 3) else cell.ljust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def surroundings() -> dict[str, Any]:
    """What the figures were taken on; without it they mean nothing."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in SHOWN_PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def write_json(figures: Sequence[Figure], file: Path = LATEST) -> None:
    """Write the figures, replacing those of the last run; a dated copy stays beside them."""
    around = surroundings()
    rows = [asdict(figure) | {"holds": figure.holds} for figure in figures]
    text = json.dumps(around | {"figures": rows}, indent=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    stamp = around["at"].replace(":", "").replace("+0000", "Z")
    for target in (file, file.with_name(f"{stamp}.json")):
        target.write_text(text + "\n")

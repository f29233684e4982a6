"""The table of `make real`: a row for each figure, with its bar. Pure."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

UNKNOWN = "–"


@dataclass(frozen=True)
class Row:
    """One row of the table; ``holds`` is None if the row has no bar, or nothing was measured."""

    name: str
    value: str
    bar: str = ""
    holds: bool | None = None

    @property
    def verdict(self) -> str:
        """Return the last cell."""
        return {None: "", True: "pass", False: "FAIL"}[self.holds]


def none_of(name: str, found: int, total: int, is_measured: bool) -> Row:
    """Return a row whose bar is 0; without a measurement it neither passes nor fails."""
    return Row(name, f"{found} of {total}", "0", found == 0 if is_measured else None)


def share(name: str, found: Sequence[object], total: int, bar: float, at_least: bool = True) -> Row:
    """Return a row with a share in per cent; without a total nothing was measured."""
    sign = "≥" if at_least else "≤"
    if not total:
        return Row(name, UNKNOWN, f"{sign} {bar:g} %")
    percent = 100 * len(found) / total
    holds = percent >= bar if at_least else percent <= bar
    return Row(name, f"{percent:.0f} % ({len(found)} of {total})", f"{sign} {bar:g} %", holds)


def at_most(
    name: str,
    values: Sequence[float],
    bar: float | None,
    pick: Callable[[Sequence[float]], float] = statistics.median,
) -> Row:
    """Return a row with one of many values, the median unless told otherwise."""
    shown = "" if bar is None else f"≤ {bar:g}"
    if not values:
        return Row(name, UNKNOWN, shown)
    value = pick(values)
    return Row(name, number(value), shown, None if bar is None else value <= bar)


def number(value: float | None) -> str:
    """Return a number as text."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.2f}"


def table(found: Iterable[Row]) -> str:
    """Return rows as a Markdown table."""
    cells = [(row.name, row.value, row.bar, row.verdict) for row in found]
    lines = ["| figure | value | bar | |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells)]) + "\n"

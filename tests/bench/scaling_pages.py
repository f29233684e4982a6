"""The pictures and tables of docs/operations.md, from the rows of `scaling`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.charts import Chart, Points, draw
from tests.bench.scaling_rows import Row

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "operations.md"
IMAGES = DOCS / "images"
TABLE = "(<!-- begin {0} -->\n).*?(<!-- end {0} -->)"
SHOWN = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "none": ""}
SIZE = 1_000  # of the capacity table
LINE_EVERY_S = 30


class Picture(NamedTuple):
    """One picture: a curve, and its lines by the names of their figures."""

    file: str
    title: str
    curve: str
    x_name: str
    figures: Mapping[str, str]


PICTURES = (
    Picture(
        "scaling-start.svg",
        "Start and reload, seconds",
        "assistants",
        "assistants in the game",
        {"start": "start_s", "reload": "reload_s"},
    ),
    Picture(
        "scaling-memory.svg",
        "Memory of the server, MB",
        "assistants",
        "assistants in the game",
        {"started": "rss_mb_started", "all talked": "rss_mb_talked"},
    ),
    Picture(
        "scaling-stalls.svg",
        "Reactor held at the 99th percentile, ms",
        "assistants",
        "assistants in the game",
        {
            "idle": "stall_p99_ms idle",
            "1 % awake": "stall_p99_ms 1%",
            "10 % awake": "stall_p99_ms 10%",
            "100 % awake": "stall_p99_ms 100%",
        },
    ),
    Picture(
        "scaling-longest-stalls.svg",
        "Reactor held at most, ms",
        "assistants",
        "assistants in the game",
        {
            "idle": "stall_max_ms idle",
            "1 % awake": "stall_max_ms 1%",
            "10 % awake": "stall_max_ms 10%",
            "100 % awake": "stall_max_ms 100%",
        },
    ),
    Picture(
        "scaling-turns.svg",
        "Turns a second at most, and CPU of a turn in ms",
        "assistants",
        "assistants in the game",
        {"turns a second": "turns_a_second", "ms a turn": "cpu_ms_a_turn"},
    ),
    Picture(
        "scaling-room.svg",
        "A line to a room, ms",
        "room",
        "assistants in the room",
        {"CPU of all": "cpu_ms_a_turn", "until asked": "heard_to_asked_ms"},
    ),
    Picture(
        "scaling-history.svg",
        "From a line to the model call, ms",
        "history",
        "messages in the log",
        {"first": "first_heard_to_asked_ms", "later": "heard_to_asked_ms"},
    ),
    Picture(
        "scaling-memories.svg",
        "A search in memory, ms",
        "memories",
        "memories of one character",
        {"median": "search_p50_ms", "95 %": "search_p95_ms"},
    ),
)
WAYS = {
    "bare exchange": "a bare exchange of 20 messages, without a game",
    "contrib": "`evennia.contrib.rpg.llm`",
    "ours": "`evennia_ai`",
}


def lines_of(picture: Picture, rows: Sequence[Row]) -> dict[str, Points]:
    """Return the lines of a picture, one for each figure on each database."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, figure in picture.figures.items():
        for row in rows:
            if (row.curve, row.figure) == (picture.curve, figure):
                line = f"{name}, {SHOWN[row.database]}".rstrip(", ")
                lines.setdefault(line, []).append((row.size, row.value))
    return {name: sorted(line) for name, line in lines.items()}


def images(rows: Sequence[Row]) -> dict[str, str]:
    """Return all pictures by their file names."""
    return {
        picture.file: draw(Chart(picture.title, picture.x_name, lines_of(picture, rows)))
        for picture in PICTURES
    }


def value(
    rows: Sequence[Row], curve: str, database: str, figure: str, size: int
) -> tuple[int, float]:
    """Return the largest measured size that is not above ``size``, and a figure at it."""
    found = [
        (row.size, row.value)
        for row in rows
        if (row.curve, row.database, row.figure) == (curve, database, figure) and row.size <= size
    ]
    if not found:
        raise ValueError(f"There is no {figure} of {curve} on {database}.")
    return max(found)


def beside_table(rows: Sequence[Row]) -> str:
    """Return the table of what stands beside us, as Markdown."""
    found = {(row.curve, row.figure): row.value for row in rows if row.curve in WAYS}
    lines = ["| what | a second | CPU of each, ms | held p99, ms | held at most, ms |"]
    lines.append("|---|---|---|---|---|")
    for way, name in WAYS.items():
        names = ("turns_a_second", "cpu_ms_a_turn", "stall_p99_ms", "stall_max_ms")
        cells = [short(found.get((way, figure))) for figure in names]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def short(number: float | None) -> str:
    """Return a number with two or three significant digits; "" for None."""
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def capacity_table(rows: Sequence[Row]) -> str:
    """Return the capacity table, as Markdown."""

    def at(database: str, figure: str, size: int = SIZE) -> float:
        return value(rows, "assistants", database, figure, size)[1]

    sizes = sorted({row.size for row in rows if row.curve == "assistants"})
    most = sizes[-1]
    turns = {name: at(name, "turns_a_second") for name in ("sqlite", "postgresql")}
    cpu = {name: at(name, "cpu_ms_a_turn") for name in turns}
    stored = {name: at(name, "kb_a_turn") for name in turns}
    grown_mb = at("sqlite", "rss_mb_started", most) - at("sqlite", "rss_mb_started", sizes[0])
    idle_kb = 1_000 * grown_mb / max(most - sizes[0], 1)
    memories, search = value(rows, "memories", "none", "search_p95_ms", 100_000)
    players = turns["sqlite"] * LINE_EVERY_S
    cells = [
        ("what is used", "by what", "full at", "then"),
        ("---",) * 4,
        (
            "the game's thread, SQLite",
            f"{short(cpu['sqlite'])} ms a turn",
            (
                f"{short(turns['sqlite'])} turns a second, such as {short(players)} players who "
                f"speak every {LINE_EVERY_S} s"
            ),
            "a second server for a part of the rooms, both on PostgreSQL",
        ),
        (
            "the game's thread, PostgreSQL",
            f"{short(cpu['postgresql'])} ms a turn",
            f"{short(turns['postgresql'])} turns a second",
            "one server more",
        ),
        (
            "memory",
            f"{short(idle_kb)} kB for each character that nobody visits",
            f"{short(1e6 / max(idle_kb, 0.01))} of them in 1 GB",
            "more memory, or a second server",
        ),
        (
            "disk",
            (
                f"{short(stored['sqlite'])} kB a turn on SQLite, "
                f"{short(stored['postgresql'])} kB on PostgreSQL"
            ),
            f"{short(stored['sqlite'] * 86_400 / 1e6)} GB a day at one turn a second",
            "a shorter `RETENTION`, or PostgreSQL with a disk of its own",
        ),
        (
            "the search of memories",
            f"{short(search)} ms at the 95th percentile, among {memories:,} of one character",
            "each turn searches",
            "a lower limit of `Message` in `RETENTION`",
        ),
        (
            "the model",
            "one call a turn, and one more for each tool whose result it needs",
            "its parallel requests, divided by the seconds of a reply, in turns a second",
            "a larger machine for the model, or several behind a proxy",
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def conditions(told: Sequence[str]) -> str:
    """Return the sentence that says when and with what all was measured."""
    return f"Measured {'; '.join(dict.fromkeys(told))}.\n"


def filled(page: str, rows: Sequence[Row], told: Sequence[str]) -> str:
    """Return the page with its tables as the rows have them."""
    tables = {
        "conditions": conditions(told),
        "beside": beside_table(rows),
        "capacity": capacity_table(rows),
    }
    for name, table in tables.items():
        pattern = re.compile(TABLE.format(name), re.S)
        page = pattern.sub(lambda match, table=table: match[1] + table + match[2], page)
    return page


def write_pages(rows: Sequence[Row], told: Sequence[str]) -> None:
    """Write the pictures and the tables."""
    for name, picture in images(rows).items():
        (IMAGES / name).write_text(picture, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, rows, told), encoding="utf-8")

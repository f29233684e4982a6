"""How one machine's game grows: measures, keeps the figures, draws them, and fills the tables.

    python -m tests.bench.scaling sweep [folder]  # all sizes on both databases: an hour
    python -m tests.bench.scaling short [folder]  # small sizes, to try it: some minutes
    python -m tests.bench.scaling some assistants sqlite 1000 10000  # these sizes of one curve
    python -m tests.bench.scaling draw            # pictures and tables from the figures kept

``sweep`` is for a machine with nothing beside; it replaces `FIGURES`, and then draws. ``some``
replaces the rows of its sizes there, and draws; the curve of the memories has the database "none".
``short`` writes only into the folder. Games go into the folder, which may be deleted afterwards.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from tests.bench import scaling_runs as runs
from tests.bench.scaling_pages import write_pages
from tests.bench.scaling_rows import FIGURES, Row, conditions, read_rows, replace_rows, write_rows
from tests.bench.stores import DATABASES, Games, games_on


class Sizes(NamedTuple):
    """The sizes of each curve."""

    assistants: Sequence[int]
    rooms: Sequence[int]
    histories: Sequence[int]
    memories: Sequence[int]


FULL = Sizes(
    (1, 10, 100, 1_000, 10_000),
    (1, 2, 5, 10, 20, 40),
    (100, 1_000, 10_000, 100_000, 1_000_000),
    (100, 1_000, 10_000, 100_000, 1_000_000),
)
TRIAL = ": a trial of small sizes"
SHORT = Sizes((1, 20), (1, 5), (100, 4_000), (100, 1_000))

Run = Callable[[], Iterable[Row]]


def runs_on(games: Games, sizes: Sizes) -> Iterator[tuple[str, Run]]:
    """Yield what is measured on one database, each with a name."""
    for size in sizes.assistants:
        yield f"{size:,} assistants", partial(runs.of_assistants, games, size)
    if sizes.rooms:
        yield "rooms", partial(runs.of_rooms, games, sizes.rooms)
    if sizes.histories:
        yield "histories", partial(runs.of_histories, games, sizes.histories)


def measure(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Measure everything; say on the way what each run takes."""
    for database in DATABASES:
        with games_on(database, made(folder / database)) as games:
            for name, run in runs_on(games, sizes):
                yield from timed(f"{database}, {name}", run)
            if database == DATABASES[0]:
                beside = partial(runs.of_ways, games, made(folder / "beside"))
                yield from timed("beside contrib.rpg.llm", beside)
    yield from timed("memories", partial(runs.of_memories, sizes.memories))


def measure_some(curve: str, database: str, sizes: Sequence[int]) -> Iterator[Row]:
    """Measure some sizes of one curve on one database."""
    if curve == "memories":
        yield from timed(curve, partial(runs.of_memories, sizes))
        return
    wanted = Sizes((), (), (), ())._replace(**{curve: sizes})
    with games_on(database, Path(mkdtemp(prefix="scaling"))) as games:
        for name, run in runs_on(games, wanted):
            yield from timed(f"{database}, {name}", run)


def made(folder: Path) -> Path:
    """Return a folder that exists."""
    folder.mkdir(parents=True)
    return folder


def timed(name: str, run: Run) -> Iterator[Row]:
    """Yield the rows of a run, and print them with the time it took."""
    began = time.monotonic()
    for row in run():
        print(
            f"  {row.curve} {row.size:,} on {row.database}: {row.figure} {row.value:g}", flush=True
        )
        yield row
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def main(what: str = "", *rest: str) -> int:
    """Do what the command line asks for; return the exit status."""
    if what not in {"sweep", "short", "some", "draw"}:
        print(__doc__)
        return 2
    if what == "some":
        curve, database, *numbers = rest
        replace_rows([*measure_some(curve, database, list(map(int, numbers)))], conditions())
    elif what != "draw":
        folder = Path(rest[0] if rest else mkdtemp(prefix="scaling"))
        file = folder / FIGURES.name
        folder.mkdir(parents=True, exist_ok=True)
        sizes, note = (FULL, "") if what == "sweep" else (SHORT, TRIAL)
        write_rows(measure(sizes, folder / "games"), file, note)
        print(f"The figures are in {file}")
        if what == "short":
            return 0
        FIGURES.write_text(file.read_text())
    write_pages(*read_rows())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The measurements behind the scaling curves; `scaling` runs them and keeps what they give."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from evennia_ai.memory import embedders
from evennia_ai.memory.index import MemoryIndex
from tests.bench.clones import LINE
from tests.bench.figures import percentile
from tests.bench.probed import ProbedServer, Record
from tests.bench.scaling_rows import Row
from tests.bench.stores import Games
from tests.bench.talks import AT_A_TIME, SAID
from tests.provider import FaultyProvider

HISTORY = 20
IDLE_S, TALK_S = 10.0, 12.0
LINE_EVERY_S = 30.0  # of each player who talks
TALKERS, ROUNDS = 300, 2
SHARES = (1, 10, 100)  # percent of all assistants
LINES = 20
SEARCHES = 200
BESIDE, EXCHANGES = 100, 1_000
GENERATED = '{"results": [{"text": "The bridge was always dear."}]}'
SIZE_OF = {
    "sqlite": "SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database()) AS size",
}


class Point:
    """Makes the rows of one size of a curve."""

    def __init__(self, curve: str, database: str, size: int) -> None:
        self._of = (curve, database, size)

    def __call__(self, figure: str, value: float) -> Row:
        """Return a row, with four significant digits."""
        return Row(*self._of, figure, float(f"{value:.4g}"))


def bytes_of(server: ProbedServer, database: str) -> int:
    """Return the size of a game's database."""
    return int(server.game.sql(SIZE_OF[database])[0]["size"])


def stalls(row: Point, name: str, record: Record) -> Iterator[Row]:
    """Yield how long the reactor was held since the last snapshot."""
    held = [max(ms, 0.01) for _, ms in record["gaps"]]
    yield row(f"stall_p50_ms{name}", median(held))
    yield row(f"stall_p99_ms{name}", percentile(held, 99))
    yield row(f"stall_max_ms{name}", max(held))


def of_assistants(games: Games, size: int) -> Iterator[Row]:
    """Measure a server with so many assistants, each alone with a player who may be away."""
    row = Point("assistants", games.database, size)
    server = games.make([(1, HISTORY)] * size, "beat")
    began = time.monotonic()
    with server:
        yield row("start_s", time.monotonic() - began)
        time.sleep(2.0)
        yield row("rss_mb_started", server.order("memory")["mb"])
        server.order("snapshot")
        time.sleep(IDLE_S)
        yield from stalls(row, " idle", server.order("snapshot"))
        yield row("reload_s", server.game.reload())
        server.order("think_at_once")
        yield from closed_talk(row, server, games.database, min(size, TALKERS))
        for share in SHARES:
            awake = size * share // 100
            if awake:
                server.order("bring_players", awake)
                yield from open_talk(row, server, awake, share)
        yield row("rss_mb_talked", server.order("memory")["mb"])


def closed_talk(row: Point, server: ProbedServer, database: str, talkers: int) -> Iterator[Row]:
    """Measure the most turns a second: each player speaks again as soon as the answer is stored."""
    server.order("bring_players", talkers)
    server.order("talk", 0, talkers, 1)
    rounds = max(ROUNDS, LINES // talkers)
    stored = bytes_of(server, database)
    figures = server.order("talk", 0, talkers, rounds)
    turns = figures["turns"]
    yield row("turns_a_second", turns / figures["wall_s"])
    yield row("cpu_ms_a_turn", 1000 * figures["cpu_s"] / turns)
    yield row("kb_a_turn", max((bytes_of(server, database) - stored) / 1000 / turns, 0.01))


def open_talk(row: Point, server: ProbedServer, awake: int, share: int) -> Iterator[Row]:
    """Measure the reactor while so many players say a line every `LINE_EVERY_S`."""
    server.order("snapshot")
    spoken = server.order("speak", awake, TALK_S, LINE_EVERY_S)
    name = f" {share}%"
    yield from stalls(row, name, server.order("snapshot"))
    yield row(f"turns_a_second{name}", max(spoken["in_time"], 1) / TALK_S)
    if spoken["turns"] >= LINES:  # of fewer, the probe's own time would be a part
        yield row(f"cpu_ms_a_turn{name}", 1000 * spoken["cpu_s"] / spoken["turns"])
    yield row(f"answered_after_s{name}", spoken["last_s"])


def of_rooms(games: Games, sizes: list[int]) -> Iterator[Row]:
    """Measure lines in rooms with so many assistants and one player."""
    with games.make([(size, HISTORY) for size in sizes], "beat") as server:
        server.order("think_at_once")
        server.order("bring_players", len(sizes))
        for place, size in enumerate(sizes):
            row = Point("room", games.database, size)
            server.order("talk", place, place + 1, 2)
            server.order("snapshot")
            yield from answers(row, server, place)
            yield from stalls(row, "", server.order("snapshot"))


def of_histories(games: Games, sizes: list[int]) -> Iterator[Row]:
    """Measure answers of assistants with so many messages in their logs."""
    with games.make([(1, size) for size in sizes]) as server:
        server.order("think_at_once")
        server.order("bring_players", len(sizes))
        for place, size in enumerate(sizes):
            row = Point("history", games.database, size)
            first = server.order("heard_to_asked", place, 1)["asked_ms"]
            yield row("first_heard_to_asked_ms", first[0])
            yield row("log_read_s", server.order("read_log", place)["seconds"])
            yield from answers(row, server, place)


def answers(row: Point, server: ProbedServer, place: int) -> Iterator[Row]:
    """Measure some answers to the player of one room."""
    talk = server.order("heard_to_asked", place, LINES)
    yield row("heard_to_asked_ms", median(talk["asked_ms"]))
    yield row("cpu_ms_a_turn", 1000 * talk["cpu_s"] / talk["turns"])


def of_memories(sizes: list[int]) -> Iterator[Row]:
    """Measure searches in one index that grows to so many memories."""
    embedder = embedders.default()
    index, held = MemoryIndex(embedder), 0
    for size in sizes:
        row = Point("memories", "none", size)
        began, added = time.process_time(), size - held
        for number in range(held, size):
            text = f"{LINE.format(number)} {SAID[number % len(SAID)]}."
            index.add(f"m{number}", text, f"Guest {number % 300}", 1.6e9 + 60 * number)
        held = size
        yield row("add_cpu_ms", 1000 * (time.process_time() - began) / added)
        took = sorted(timed_search(index, number * size // SEARCHES) for number in range(SEARCHES))
        yield row("search_p50_ms", percentile(took, 50))
        yield row("search_p95_ms", percentile(took, 95))
        yield row("bytes_each", index.nbytes / size)


def timed_search(index: MemoryIndex, number: int) -> float:
    """Return the ms of a search, with the words of some memory."""
    began = time.perf_counter()
    index.find(f"Who said that the toll is {number} pennies?", 10, now=1.7e9)
    return (time.perf_counter() - began) * 1000


def of_ways(games: Games, folder: Path) -> Iterator[Row]:
    """Measure talk by evennia_ai and by `evennia.contrib.rpg.llm`, and bare exchanges, in one run.

    All ask the same provider, which answers at once. The size is the number of players.
    """
    with FaultyProvider(folder / "requests.jsonl") as stub:
        stub.control(pages={"POST /api/v1/generate": {"raw": GENERATED}})
        address = stub.base_url.removesuffix("/v1")
        rooms = [(1, HISTORY)] * BESIDE + [(0, 0)] * BESIDE
        settings = (f"LLM_HOST = {address!r}",)
        with games.make(rooms, "beat", stub.base_url, settings) as server:
            server.order("bring_players", 2 * BESIDE)
            server.order("bring_contrib", BESIDE, 2 * BESIDE)
            for way, order, first in (("ours", "talk", 0), ("contrib", "contrib_talk", BESIDE)):
                row = Point(way, games.database, BESIDE)
                server.order(order, first, first + BESIDE, 1)
                server.order("snapshot")
                figures = server.order(order, first, first + BESIDE, ROUNDS)
                yield row("turns_a_second", figures["turns"] / figures["wall_s"])
                yield row("cpu_ms_a_turn", 1000 * figures["cpu_s"] / figures["turns"])
                yield from stalls(row, "", server.order("snapshot"))
        row = Point("bare exchange", "none", BESIDE)
        figures = bare_exchanges(stub.base_url)
        yield row("turns_a_second", EXCHANGES / figures["wall_s"])
        yield row("cpu_ms_a_turn", 1000 * figures["cpu_s"] / EXCHANGES)


def bare_exchanges(base_url: str) -> dict[str, float]:
    """Return the wall and CPU seconds of many exchanges over loopback, without any library."""
    numbers = [str(number) for number in (EXCHANGES, AT_A_TIME, HISTORY)]
    command = [sys.executable, "-m", "tests.bench.call_paths", "socket", base_url, *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures

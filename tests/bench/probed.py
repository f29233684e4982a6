"""A game server with the probe in it, and the records that the probe writes."""

import itertools
import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from server import running
from tests.bench import public_talks
from tests.e2e.harness import GameServer, ServerTrouble

HERE = Path(__file__).parent
COPIED = {f"{name}.py": f"bench_{name}.py" for name in ("probe", "inserts", "talks", "clones")}
MODULE = "world.bench_probe"
SETTINGS = (
    f"SERVER_SERVICES_PLUGIN_MODULES = [{MODULE!r}]",
    f"AT_SERVER_STARTSTOP_MODULE = ['world.hooks', {MODULE!r}]",
)
ORDER_TIMEOUT_S = 1_800.0  # a log of a million lines is read and indexed in 12 minutes

Record = dict[str, Any]


class ProbedServer:
    """A `GameServer` that the probe measures; as a context manager it kills the server at the end.

    Args:
        template: A stopped game directory.
        folder: Where to put the copy.
        measure: ``queries``, ``beat``, or both.
        settings: Further lines for its settings.
        options: As `GameServer`'s.
    """

    def __init__(
        self, template: Path, folder: Path, measure: str, settings: Any = (), **options: Any
    ) -> None:
        options["env"] = {**options.get("env", {}), "BENCH_PROBE": measure}
        lines = [*SETTINGS, *settings]
        self.game = GameServer.copy_of(template, folder, settings=lines, **options)
        for name, copy in COPIED.items():
            shutil.copy(HERE / name, folder / "world" / copy)
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        try:
            self.game.start()
        except BaseException:
            self.game.discard()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        self.game.discard()

    @property
    def pid(self) -> int:
        """Return the id of the server process."""
        pid = running.server_pid(self.game.folder)
        if pid is None:
            raise ServerTrouble(f"There is no server to measure.\n{self.game.last_words()}")
        return pid

    def furnish(self, rooms: Sequence[tuple[int, int]]) -> None:
        """Fill the game, which does not run, with public dialogues if they are here."""
        dialogues = str(public_talks.find_file() or "")
        snippet = f"from world.bench_clones import furnish; furnish({list(rooms)!r}, {dialogues!r})"
        self.game.python(snippet, ORDER_TIMEOUT_S)

    def records(self) -> list[Record]:
        """Return all records of the probe."""
        file = self.game.folder / "bench.jsonl"
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def find(self, what: str, **fields: Any) -> Record | None:
        """Return the latest record of a kind with these fields, or None."""
        wanted = {"what": what, **fields}.items()
        return next((r for r in reversed(self.records()) if wanted <= flat(r).items()), None)

    def await_record(self, what: str, timeout_s: float = ORDER_TIMEOUT_S, **fields: Any) -> Record:
        """Wait for a record of a kind with these fields and return it."""
        if not self.game.wait_until(lambda: self.find(what, **fields), timeout_s):
            raise ServerTrouble(f"The probe never wrote {what} {fields}.\n{self.game.last_words()}")
        found = self.find(what, **fields)
        assert found is not None
        return found

    def order(self, do: str, *numbers: float) -> Record:
        """Run a command of the probe in the server with these arguments; return its result.

        Raises ServerTrouble if the command raised, with its traceback.
        """
        number = next(self._numbers)
        (self.game.folder / "bench.order").write_text(
            json.dumps({"do": do, "number": number, "numbers": numbers})
        )
        os.kill(self.pid, signal.SIGUSR2)
        result = self.await_record("obeyed", order=number)
        if "error" in result:
            raise ServerTrouble(f"The probe's {do!r} failed:\n{result['error']}")
        return result

    def started_at(self) -> float:
        """Return when the running server was up, in unix seconds."""
        return float(self.await_record("server started", pid=self.pid)["at"])


def flat(record: Record) -> Record:
    """Return a record without its lists and dictionaries."""
    return {key: value for key, value in record.items() if not isinstance(value, (list, dict))}


def longest_gap(record: Record, since: float = 0.0) -> float:
    """Return the longest stretch, in ms, that ended after a unix time."""
    return max((ms for at, ms in record["gaps"] if at >= since), default=0.0)

"""Games on either database, for benchmarks that compare them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.bench import worlds
from tests.bench.probed import ProbedServer
from tests.e2e.harness import GameServer
from tests.postgresql import URL, running_server

DATABASES = ("sqlite", "postgresql")
NOBODY = "http://127.0.0.1:9/v1"
SETTINGS = (
    # Players come in at once and say more than a person could.
    "MAX_CONNECTION_RATE = 100000",
    "MAX_COMMAND_RATE = 100000",
    "AUTO_PUPPET_ON_LOGIN = False",
    "PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']",
)

Rooms = Sequence[tuple[int, int]]


def thinking_at(base_url: str = NOBODY) -> dict[str, Any]:
    """Return AI_ASSISTANT for a game whose assistants only answer, by a model at this address."""
    return {
        "profile": "stub",
        "PROFILES": {"stub": {"client": "openai", "base_url": base_url, "model": "stub"}},
        "autonomous_calls_per_hour": 0,
        "GAME_TOKENS_PER_DAY": None,
    }


class Games:
    """Makes games on one kind of database, all as new as after a first start."""

    def __init__(self, database: str, folder: Path, url: str = "") -> None:
        self.database = database
        self._folder, self._url = folder, url
        self._numbers = count(1)
        first = GameServer.first_start(folder / "first", env=self._env(url))
        first.python(worlds.EMPTY)

    def make(
        self, rooms: Rooms, measure: str = "", base_url: str = NOBODY, settings: Sequence[str] = ()
    ) -> ProbedServer:
        """Return a server that does not run yet, with these rooms; see `clones.furnish`."""
        name = f"game{next(self._numbers)}"
        server = ProbedServer(
            self._folder / "first",
            self._folder / name,
            measure,
            (*SETTINGS, *settings),
            assistant=thinking_at(base_url),
            env=self._env(self._copy(name)),
        )
        server.furnish(rooms)
        return server

    @staticmethod
    def _env(url: str) -> dict[str, str]:
        return {URL: url} if url else {}

    def _copy(self, name: str) -> str:
        """Copy the first database on its server; return the address of the copy, "" for a file."""
        if not self._url:
            return ""
        import psycopg2

        first = urlsplit(self._url)
        admin = psycopg2.connect(first._replace(path="/template1").geturl())
        admin.autocommit = True
        with admin.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE {first.path.lstrip('/')}")
        admin.close()
        return first._replace(path=f"/{name}").geturl()


@contextmanager
def games_on(database: str, folder: Path) -> Iterator[Games]:
    """Yield what makes games on such a database; its server stops at the end."""
    if database == "sqlite":
        yield Games(database, folder)
    else:
        with running_server() as url:
            yield Games(database, folder, url)

"""How much the database grows with each answered line, by table, on either database."""

import random
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from pytest_django import DjangoDbBlocker

from evennia_ai import models
from evennia_ai.apps import prepare_sqlite
from tests.bench.figures import Sheet
from tests.facts import FACT, Teller, some_fact
from tests.faults.own_database import IS_POSTGRESQL, on_own_database
from tests.game import conftest as game_tier

pytestmark = [pytest.mark.game, pytest.mark.timeout(3_000)]

service, model, game = game_tier.service, game_tier.model, game_tier.game

WARM_UP, TURNS = 100, 500  # the first rows of a table fill whole pages
MOST_BYTES = 5_000
IN_SQLITE = """
    SELECT m.tbl_name, s.name <> m.tbl_name, sum(s.pgsize)
    FROM dbstat s JOIN sqlite_master m ON m.name = s.name GROUP BY 1, 2
"""
IN_POSTGRESQL = """
    SELECT relname, 0, pg_total_relation_size(oid) - pg_indexes_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    UNION SELECT relname, 1, pg_indexes_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


@pytest.fixture
def db(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path: Path
) -> Generator[None]:
    """Use a database of its own, with a game's settings."""
    with django_db_blocker.unblock(), on_own_database(tmp_path):
        prepare_sqlite(connection)
        yield
        game_tier.forget_everything()  # what is cached is of a database that is gone


def sizes() -> Counter[tuple[str, bool]]:
    """Return the bytes of each table, and with True of its indices."""
    with connection.cursor() as cursor:
        cursor.execute(IN_POSTGRESQL if IS_POSTGRESQL else IN_SQLITE)
        return Counter({(table, bool(is_index)): size for table, is_index, size in cursor})


def test_what_an_answered_line_adds(game: Any, sheet: Callable[[str], Sheet]) -> None:
    room = game.room(desc="The common room is low, warm and older than the harbour wall. " * 6)
    mira = game.assistant("Mira", room, "You are Mira, who keeps the Gilded Gull. " * 25)
    players = [game.player(name, room) for name in ("Ann", "Bob")]
    rng = random.Random(17)
    game.model.script = Teller(rng)
    before = sizes()
    for number in range(WARM_UP + TURNS):
        if number == WARM_UP:
            answered, before = models.Turn.objects.count(), sizes()
        line = rng.choice([f"Mira, hear this. {FACT.format(**some_fact(rng))}", "Mira, who knows?"])
        rng.choice(players).do(f"say {line}")
        game.run(63)
    turns, grown = models.Turn.objects.count() - answered, sizes() - before
    assert turns >= 0.95 * TURNS
    assert mira.assistant.is_on
    paper = sheet(f"growth on {connection.vendor}, {turns} turns")
    ours = {one._meta.db_table for one in apps.get_app_config("evennia_ai").get_models()}
    for table in sorted({name for name, _ in grown}, key=lambda name: -grown[name, False]):
        rows, indices = grown[table, False] / turns, grown[table, True] / turns
        name = table.removeprefix("evennia_ai_") if table in ours else f"{table} (Evennia's)"
        paper.add(name, rows, "bytes a turn")
        paper.add("  its indices", indices, "bytes a turn")
    messages = models.Message.objects.count() / models.Turn.objects.count()
    paper.add("messages", messages, "a turn")
    paper.add("all", grown.total() / turns, "bytes a turn", MOST_BYTES)
    paper.check()

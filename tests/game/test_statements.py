"""How many statements the database gets for one turn."""

from contextlib import contextmanager

import pytest
from django.db import connection

from tests.scripted import call

pytestmark = pytest.mark.engine

MOST = 26  # with the begin of each transaction; the model's time is not counted


@contextmanager
def counting():
    statements = []

    def note(execute, sql, *rest):
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield statements


@pytest.mark.django_db(transaction=True)
def test_a_turn(game, ann, mira):
    def speak():
        game.model.add(call("say", text="Six pence."))
        ann.do("say Mira, what is a nail?")
        game.run()
        assert ann.last() == 'Mira says, "Six pence."'

    for _ in range(3):
        speak()
        game.run(1)
    with counting() as statements:
        speak()
    assert len(statements) <= MOST, "\n".join(statement[:100] for statement in statements)
    assert not any("SAVEPOINT" in statement for statement in statements)

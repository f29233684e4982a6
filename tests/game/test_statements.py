"""How many statements the database gets for one turn."""

from contextlib import contextmanager

import pytest
from django.db import connection

from tests.scripted import call

pytestmark = pytest.mark.engine

MOST = 26  # with both ends of each transaction; the model's time is not counted


@contextmanager
def counting():
    statements = []

    def note(execute, sql, *rest):
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield statements


def test_a_turn(game, ann, mira, django_capture_on_commit_callbacks):
    def speak():
        game.model.add(call("say", text="Six pence."))
        with django_capture_on_commit_callbacks(execute=True):
            ann.do("say Mira, what is a nail?")
            game.run()
        assert ann.last() == 'Mira says, "Six pence."'

    for _ in range(3):
        speak()
        game.run(1)
    with counting() as statements:
        speak()
    assert len(statements) <= MOST, "\n".join(statement[:100] for statement in statements)
    assert sum("SAVEPOINT" in statement for statement in statements) <= 8

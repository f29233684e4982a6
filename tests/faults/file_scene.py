"""A test database in a file of its own, as a game's SQLite database is."""

import pytest

from tests.faults.own_database import on_file


@pytest.fixture
def file(tmp_path):
    return tmp_path / "game.db3"


@pytest.fixture
def db(django_db_setup, django_db_blocker, file):
    with django_db_blocker.unblock(), on_file(file):
        yield

"""Connect Evennia to pytest-django, and mark tests by their folder.

`pytest -p no:django tests/policy tests/turn` runs the pure tests without loading Django.
"""

import fcntl
import gc
import io
import os
import ssl
import sys
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A slow machine fails no test. Each run tries examples of its own, `make soak` ten times as many.
settings.register_profile(
    "any machine", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("any machine"), max_examples=300)
settings.load_profile("any machine")

HERE = Path(__file__).parent
FOLDER_MARKERS = ("game", "e2e", "bench")
NAMED_MARKERS = ("soak", "real")
QUICK_IMPORTS = "tests.e2e.site.sitecustomize"
SHARED_FOLDER = "EVENNIA_AI_TEMPLATE"  # of all processes of a call of `run`
IMPORTING = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Fill in Evennia's shortcuts (`evennia.create_object` and others), which are None before.

    Of processes side by side one at a time imports: the first one compiles what the next ones load,
    instead of each the same (13 s of CPU).
    Hundreds of tests open an HTTP client, which would read all certificates anew (26 ms of CPU).
    """
    if folder := os.environ.get(SHARED_FOLDER):
        path = Path(folder, f"importing-3.{sys.version_info.minor}")
        config.stash[IMPORTING] = os.open(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(config.stash[IMPORTING], fcntl.LOCK_EX)
    ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]
    if find_spec("numpy"):
        import_module("tests.known_vectors").keep_vectors()
        import_module("tests.known_vectors").keep_weights()
    if not config.pluginmanager.hasplugin("django"):
        return
    import_module(QUICK_IMPORTS)
    import evennia
    from django.conf import settings as django_settings
    from django.db import connections
    from django.db.utils import ConnectionHandler
    from pytest_django.plugin import blocking_manager_key

    from tests.quick_evennia import make_quick

    django_settings.TEST_ENVIRONMENT = True
    # Evennia queries the database here, before the test database exists; give it an empty one.
    empty = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
    kept = connections["default"]
    connections["default"] = ConnectionHandler({"default": empty})["default"]
    with config.stash[blocking_manager_key].unblock(), redirect_stdout(io.StringIO()):
        evennia._init()  # prints that the database has no tables
    connections["default"].close()
    connections["default"] = kept
    make_quick()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of tests/game, tests/e2e and tests/bench by their folder's name.

    Deselect soak tests, and those with a real model, unless the command line names their mark.
    """
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        if folder in FOLDER_MARKERS:
            item.add_marker(getattr(pytest.mark, folder))
    for mark in NAMED_MARKERS:
        if mark not in config.option.markexpr:
            left_out = [item for item in items if item.get_closest_marker(mark)]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def django_db_use_migrations() -> bool:
    """Create the tables from the models: 119 migrations take ten times as long.

    `test_migrations` compares both, and each end-to-end server runs the migrations.
    """
    return False


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep all objects that exist by now out of garbage collection.

    Evennia collects garbage whenever its cache is emptied, which Django does for each app when it
    makes the tables, and some tests do. Without this, each collection takes 0.1 s. Python's own
    collections, 7 % of the CPU of game tests, come after ten times as many objects.
    """
    if IMPORTING in session.config.stash:
        os.close(session.config.stash[IMPORTING])
    gc.collect()
    gc.freeze()
    gc.set_threshold(10 * gc.get_threshold()[0], *gc.get_threshold()[1:])


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Make the test database; keep what came with it out of garbage collection, too."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def embedder_setting() -> str:
    """Return the setting EMBEDDER of the game: a model's thread takes real time, and no fake one.

    It stands here, since other folders borrow the game of tests/game. To test recall by meaning,
    set ``service.memory.embedder`` to one that answers at once.
    """
    return "none"


@pytest.fixture(scope="session")
def spare_players(django_db_setup: None, django_db_blocker: Any) -> None:
    """Make the players of `tests.game.players` ahead of all tests that use its game."""
    from django.test import override_settings

    from tests.game.conftest import HASHERS
    from tests.game.players import make_spares

    with django_db_blocker.unblock(), override_settings(PASSWORD_HASHERS=HASHERS):
        make_spares()

"""Wires Evennia into pytest-django, and marks tests by the folder they are in.

`pytest -p no:django tests/policy tests/turn` runs the pure tiers without loading Django at all.
"""

from __future__ import annotations

import gc
import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDER_MARKERS = ("game", "e2e", "bench")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Fill in Evennia's shortcuts (`evennia.create_object` and so on), which are None before."""
    if not config.pluginmanager.hasplugin("django"):
        return
    import evennia
    from django.conf import settings
    from django.db import connection
    from pytest_django.plugin import blocking_manager_key

    settings.TEST_ENVIRONMENT = True
    # Evennia looks into the database here, before there is a test database: never into the demo's.
    connection.settings_dict["NAME"] = ":memory:"
    with config.stash[blocking_manager_key].unblock(), redirect_stdout(io.StringIO()):
        evennia._init()  # says that there is no database, which we know
        connection.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark everything in tests/game, tests/e2e and tests/bench by its folder's name, and leave out
    what is marked as a soak unless the marks that were asked for name it."""
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        if folder in FOLDER_MARKERS:
            item.add_marker(getattr(pytest.mark, folder))
    if "soak" not in config.option.markexpr:
        long = [item for item in items if "soak" in item.keywords]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Take what is there by now out of the collector's sight: Evennia collects garbage whenever it
    empties its cache, as every game test does, which took a third of a second each."""
    gc.collect()
    gc.freeze()

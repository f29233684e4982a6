"""Long games are played by `make soak` alone."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked as a soak, unless the marks that were asked for name it."""
    if "soak" in config.getoption("markexpr", default=""):
        return
    long = [item for item in items if item.path.is_relative_to(HERE) and "soak" in item.keywords]
    items[:] = [item for item in items if item not in long]
    config.hook.pytest_deselected(items=long)

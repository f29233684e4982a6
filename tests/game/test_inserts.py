"""The benchmark of inserts fits the stores; its figures are taken in a server."""

import pytest
from django.db import connection

from tests.bench.inserts import Size, measure_inserts


@pytest.mark.skipif(connection.vendor != "sqlite", reason="it sets SQLite's modes")
@pytest.mark.parametrize("kind", ["message", "event"])
def test_inserts_are_timed_at_both_ends(mira, kind):
    figures = measure_inserts(Size(timed=5, rows=40))[kind]
    assert figures["rows"] == 40
    assert len(figures["first"]) == len(figures["last"]) == 5

"""Storing a message or an inbox event costs the same at the 10th row and at the 100,000th."""

from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.bench import inserts
from tests.bench.figures import Sheet, percentile
from tests.bench.probed import ProbedServer, Record

SIZE = inserts.Size()
MOST_TIMES = 2.0
LABELS = {"message": "TableConversation.append", "event": "TableInbox.put"}


@pytest.fixture(scope="module")
def measured(demo_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return what `inserts` measured in a running server."""
    with ProbedServer(demo_template, tmp_path_factory.mktemp("inserts") / "game", "") as server:
        figures = server.order("inserts")
        outside = server.game.sql("SELECT COUNT(*) FROM evennia_ai_message")[0][0]
    assert outside == SIZE.rows, "other processes do not see what the server writes"
    assert figures["journal_mode"] == "wal"
    return figures


@pytest.mark.parametrize("kind", LABELS)
def test_an_insert_costs_the_same_at_the_100_000th_row(
    kind: str, measured: Record, sheet: Callable[[str], Sheet]
) -> None:
    figures = measured[kind]
    assert figures["rows"] == SIZE.rows
    first, last = median(figures["first"]), median(figures["last"])
    paper = sheet(LABELS[kind])
    paper.add(f"rows 10 to {SIZE.timed + 10:,}, median", first, "ms")
    paper.add("  p99", percentile(figures["first"], 99), "ms")
    paper.add(f"the last {SIZE.timed:,} up to row {SIZE.rows:,}, median", last, "ms")
    paper.add("  p99", percentile(figures["last"], 99), "ms")
    paper.add("  times the first", last / first, "", MOST_TIMES)
    if kind == "message":
        paper.add("first view of 99,000 messages", figures["load_ms"], "ms")
        paper.add(
            "PRAGMA synchronous (2: a flush to disk at every commit)", measured["synchronous"]
        )
    paper.check()

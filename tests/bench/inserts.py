"""Time inserts at few and at many rows, in a server's own process and on its own connection.

Only there does SQLite run as it does in a game. `probed.ProbedServer` copies this file into a game
directory beside the probe.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

WARM_UP = 10
CHUNK = 5_000
TEXT = "The ferryman says the river will freeze before the week is out, and nobody believes him."


class Size(NamedTuple):
    """How many inserts are timed at each end, and how many rows there are at the last."""

    timed: int = 1_000
    rows: int = 100_000


def now() -> datetime:
    """Return the time for the stores."""
    return datetime.now(UTC)


def timed(insert: Callable[[], Any], count: int) -> list[float]:
    """Return the milliseconds of each of many inserts."""
    took = []
    for _ in range(count):
        began = time.perf_counter()
        insert()
        took.append((time.perf_counter() - began) * 1000)
    return took


def first_and_last(
    model: Any, assistant_id: int, size: Size, insert: Callable[[], Any], load: Callable[[], Any]
) -> dict[str, Any]:
    """Time the first inserts and those up to the last row; the rows between are copies.

    ``load`` is called before each, so that memory holds what it holds in a game.
    """
    load()
    for _ in range(WARM_UP):
        insert()
    first = timed(insert, size.timed)
    fill(model, assistant_id, size.rows - size.timed)
    began = time.perf_counter()
    load()
    load_ms = (time.perf_counter() - began) * 1000
    last = timed(insert, size.timed)
    rows = model.objects.filter(assistant_id=assistant_id).count()
    return {"first": first, "last": last, "rows": rows, "load_ms": load_ms}


def fill(model: Any, assistant_id: int, upto: int) -> None:
    """Copy an assistant's last row until it has ``upto`` rows."""
    pattern = model.objects.filter(assistant_id=assistant_id).order_by("-id").first()
    copied = [f.attname for f in model._meta.fields if f.name not in ("id", "token")]
    fields = {name: getattr(pattern, name) for name in copied}
    missing = upto - model.objects.filter(assistant_id=assistant_id).count()
    for start in range(0, missing, CHUNK):
        model.objects.bulk_create([model(**fields) for _ in range(min(CHUNK, missing - start))])


def pragma(name: str) -> Any:
    """Return SQLite's answer to a PRAGMA on the server's connection."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


def measure_inserts(size: Size = Size()) -> dict[str, Any]:  # noqa: B008  # it is a constant
    """Measure both stores of one assistant. The server does nothing else meanwhile."""
    from evennia.scripts.models import ScriptDB

    from evennia_ai import models
    from evennia_ai.messages import IncomingEvent, make_message
    from evennia_ai.store.conversation import TableConversation
    from evennia_ai.store.inbox import TableInbox

    assistant_id = ScriptDB.objects.filter(db_key="assistant").first().id
    conversation = TableConversation(assistant_id, now)
    inbox = TableInbox(assistant_id, now)
    message = make_message("user", f"Ann says: {TEXT}", speaker="#5", audience=["#5", "#6"])
    heard = IncomingEvent("say", "#5", "Ann", TEXT, frozenset({"#5", "#6"}))

    def say() -> None:
        conversation.append([message])

    def read_view() -> None:
        conversation.forget_view()
        conversation.view()

    def hear() -> None:
        inbox.put(heard)

    return {
        "message": first_and_last(models.Message, assistant_id, size, say, read_view),
        "event": first_and_last(models.Event, assistant_id, size, hear, lambda: None),
        "journal_mode": pragma("journal_mode"),
        "synchronous": pragma("synchronous"),
    }

"""Times inserts at few and at many rows, in a server's own process and on its own connection.

Only there does SQLite run as it does in a game. Copied into game directories beside the probe.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

WARM_UP = 10
TIMED = 1_000
ROWS = 100_000
CHUNK = 5_000
TEXT = "The ferryman says the river will freeze before the week is out, and nobody believes him."


def now() -> datetime:
    """The clock of the stores."""
    return datetime.now(UTC)


def timed(insert: Callable[[], Any], count: int = TIMED) -> list[float]:
    """Milliseconds of each of many inserts."""
    took = []
    for _ in range(count):
        began = time.perf_counter()
        insert()
        took.append((time.perf_counter() - began) * 1000)
    return took


def first_and_last(
    model: Any, assistant_id: int, insert: Callable[[], Any], remember: Callable[[], Any]
) -> dict[str, Any]:
    """Time the first 1,000 inserts and those up to the 100,000th row; what lies between is copied.

    ``remember`` is called before each, to have in memory what a living assistant has there.
    """
    remember()
    for _ in range(WARM_UP):
        insert()
    first = timed(insert)
    fill(model, assistant_id, ROWS - TIMED)
    began = time.perf_counter()
    remember()
    remembering = (time.perf_counter() - began) * 1000
    last = timed(insert)
    rows = model.objects.filter(assistant_id=assistant_id).count()
    return {"first": first, "last": last, "rows": rows, "remembering_ms": remembering}


def fill(model: Any, assistant_id: int, upto: int) -> None:
    """Copy an assistant's last row until there are so many."""
    pattern = model.objects.filter(assistant_id=assistant_id).order_by("-id").first()
    fields = {f.attname: getattr(pattern, f.attname) for f in model._meta.fields if f.name != "id"}
    missing = upto - model.objects.filter(assistant_id=assistant_id).count()
    for start in range(0, missing, CHUNK):
        model.objects.bulk_create([model(**fields) for _ in range(min(CHUNK, missing - start))])


def pragma(name: str) -> Any:
    """What SQLite says to a PRAGMA on the connection that the server uses."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


def measure_inserts() -> dict[str, Any]:
    """Measure both stores of one assistant; holds the server for as long as that takes."""
    from evennia.scripts.models import ScriptDB

    from evennia_ai import models
    from evennia_ai.messages import Heard, make_message
    from evennia_ai.store.conversation import TableConversation
    from evennia_ai.store.inbox import TableInbox

    assistant_id = ScriptDB.objects.filter(db_key="assistant").first().id
    conversation = TableConversation(assistant_id, now)
    inbox = TableInbox(assistant_id, now)
    message = make_message("user", f"Ann says: {TEXT}", speaker="#5", audience=["#5", "#6"])
    heard = Heard("say", "#5", "Ann", TEXT, frozenset({"#5", "#6"}))

    def read_anew() -> None:
        conversation.forget_view()
        conversation.view()

    return {
        "message": first_and_last(
            models.Message, assistant_id, lambda: conversation.append([message]), read_anew
        ),
        "event": first_and_last(
            models.Event, assistant_id, lambda: inbox.put(heard), inbox.waiting
        ),
        "journal_mode": pragma("journal_mode"),
        "synchronous": pragma("synchronous"),
    }

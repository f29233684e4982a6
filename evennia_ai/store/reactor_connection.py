"""The database connection of the reactor's thread: it waits for little and is opened again.

Django mends connections at the start of a web request; the reactor has none. PostgreSQL waits for
a lock without a limit.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any

from django.db import Error, connection
from django.db.backends.signals import connection_created

# For all queries of the game, also Evennia's own, which are not tried again. The limits that a game
# set in OPTIONS or for its user stay.
LIMITS_MS = {"lock_timeout": 300, "statement_timeout": 10_000}
SET = "SELECT set_config(name, %s, false) FROM pg_settings WHERE name = %s AND source = 'default'"

_reactor_threads: set[int] = set()


def guard_reactor() -> None:
    """Limit the waits of this thread's connection, now and whenever it is opened."""
    _reactor_threads.add(get_ident())
    connection_created.connect(prepare_connection, dispatch_uid="evennia_ai.reactor")
    if connection.connection is not None:
        prepare_connection(connection)


def is_reactor_thread() -> bool:
    """Return True in the thread that called `guard_reactor`."""
    return get_ident() in _reactor_threads


def prepare_connection(connection: Any, **kwargs: Any) -> None:
    """Limit the waits of an open connection to PostgreSQL, if it is the reactor's."""
    if connection.vendor != "postgresql" or not is_reactor_thread():
        return
    with connection.cursor() as cursor:
        for name, limit_ms in LIMITS_MS.items():
            cursor.execute(SET, [str(limit_ms), name])
    if mend not in connection.execute_wrappers:
        connection.execute_wrappers.append(mend)


def mend(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Run a statement; after an error, drop the connection if the server has closed it."""
    try:
        return execute(sql, params, many, context)
    except Error:
        drop_if_lost(context["connection"])
        raise


def drop_if_lost(connection: Any) -> None:
    """Close a connection that cannot be used any more; the next use opens another."""
    if connection.connection is None or connection.in_atomic_block:  # Django mends a transaction
        return
    is_closed = getattr(connection.connection, "closed", None)  # PostgreSQL's drivers know it
    if is_closed or (is_closed is None and not connection.is_usable()):
        connection.close()

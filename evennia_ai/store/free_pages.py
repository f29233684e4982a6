"""Giving the space of deleted rows in an SQLite file back to the disk, in small steps.

`VACUUM` would hold every write for 1.4 s in a file of 95 MB (measured), also Evennia's own, which
wait on the reactor. An incremental one is a transaction of a few ms, and as often as one likes. A
file allows it if it was made with this package's app, or written anew by `store.erased_bytes`; in
others the space stays in the file, for new rows.
"""

from __future__ import annotations

from django.db import connection

from evennia_ai.store.brief_transaction import brief_transaction

INCREMENTAL = 2  # of PRAGMA auto_vacuum
PAGES = 64  # in a step, of 4 kB each
KEPT = 0.1  # of all pages, for the rows of the next days


def give_back_pages() -> bool:
    """Give some free pages back; returns whether more may follow. Raises StoreUnavailable."""
    if connection.vendor != "sqlite":
        return False
    with brief_transaction(), connection.cursor() as cursor:
        mode, free, all_pages = (
            int(cursor.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("auto_vacuum", "freelist_count", "page_count")
        )
        spare = min(PAGES, free - int(KEPT * all_pages))
        if mode != INCREMENTAL or spare <= 0:
            return False
        for _ in range(spare):  # one for all would end after its first page: it returns no rows
            cursor.execute("PRAGMA incremental_vacuum(1)")
    return spare == PAGES

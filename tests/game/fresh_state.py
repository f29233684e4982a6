"""What a test leaves in memory and in the counters of rows, taken away for the next one."""

import gc
from itertools import count

from django.apps import apps
from django.db import connection
from django.dispatch import Signal

from evennia_ai import signals

FLUSHES = count(1)
FLUSHES_A_COLLECTION = 20


def forget_everything():
    """Empty Evennia's caches of instances and of merged command sets.

    Evennia keeps instances that hold ndb data, and the rows of the next test have the same numbers.
    The cache of command sets goes by `id()` and would return the exits of an earlier test.
    Evennia's own `flush_cache` also collects garbage, which takes some ms in each test.
    """
    from evennia.commands import cmdhandler
    from evennia.utils.idmapper.models import SharedMemoryModel

    from evennia_ai.store import call_records

    cmdhandler._CMDSET_MERGE_CACHE.clear()
    call_records.noted_on.clear()  # a test whose transactions end deletes the rows behind it
    for model in leaves(SharedMemoryModel):
        model.flush_instance_cache(force=True)
    if next(FLUSHES) % FLUSHES_A_COLLECTION == 0:
        gc.collect()
        gc.freeze()  # later collections skip what is left


def restart_numbers():
    """Number our rows from 1 in each test; PostgreSQL does not take back a number."""
    if connection.vendor != "postgresql":
        return
    tables = apps.get_app_config("evennia_ai").get_models()
    own = [table._meta.db_table for table in tables if table._meta.auto_field]
    again = ", ".join(f"setval(pg_get_serial_sequence('{name}', 'id'), 1, false)" for name in own)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {again}")


def leaves(model):
    """Return the classes below a model that have no subclasses."""
    children = model.__subclasses__()
    return [leaf for child in children for leaf in leaves(child)] if children else [model]


def listening():
    """Return who listens to each of the package's signals."""
    known = [value for value in vars(signals).values() if isinstance(value, Signal)]
    return {signal: [*signal.receivers] for signal in known}


def keep_listening(listeners):
    """Let nobody else listen: what a test let listen waits for garbage collection."""
    for signal, receivers in listeners.items():
        signal.receivers = receivers
        signal.sender_receivers_cache.clear()

"""The server processes that share one database, and which of them runs each assistant."""

from __future__ import annotations

from typing import Any

from django.db import models

from evennia_ai.models.fields import CharField, JSONField


class ServerProcess(models.Model):
    """One server process, from its start until it stops or another finds that it died.

    ``slot`` names the server: a new process of the same server replaces the old one. ``beats``
    grows while the process lives. ``shared`` is what it tells the others with each beat.
    """

    epoch: int = models.BigIntegerField(primary_key=True)
    slot: str = CharField(max_length=255)
    beats: int = models.BigIntegerField(default=0)
    shared: dict[str, Any] = JSONField(default=dict)


class Lease(models.Model):
    """Which process (``epoch``) ran an assistant last; ``busy`` is True during a tick.

    ``wanted_by`` is the process that found it busy, 0 if none did. ``changed`` is True once another
    process may have changed the assistant, by a command.
    """

    assistant_id: int

    assistant = models.OneToOneField(
        "scripts.ScriptDB", primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    epoch: int = models.BigIntegerField()
    busy: bool = models.BooleanField(default=True)
    wanted_by: int = models.BigIntegerField(default=0)
    changed: bool = models.BooleanField(default=False)

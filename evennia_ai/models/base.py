"""What every row of an assistant's log has."""

from __future__ import annotations

from datetime import datetime

from django.db import models


class OwnedByAssistant(models.Model):
    """A row of one assistant's log."""

    assistant_id: int

    id: int = models.BigAutoField(primary_key=True)
    assistant = models.ForeignKey("scripts.ScriptDB", on_delete=models.CASCADE, related_name="+")
    at: datetime = models.DateTimeField()

    class Meta:
        abstract = True

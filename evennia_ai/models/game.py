"""What is no talk: hearsay, reports, lore, shared personas, sleep passes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models

from evennia_ai.models.fields import (
    CharField,
    JSONField,
    OrderedJSONField,
    OwnedByAssistant,
    TextField,
)


class SleepPass(OwnedByAssistant):
    """One sleep pass, stored at its start.

    If ``ended_at`` stays empty, a crash interrupted the pass. ``reason`` is one of those in
    `policy.sleep_schedule`; ``outcome`` is done, woken (ended early, since somebody was
    waiting) or stopped. ``results`` holds figures by sleep step; ``errors``, by sleep step, may
    quote what somebody said.
    """

    reason: str = CharField(max_length=12)
    ended_at: datetime | None = models.DateTimeField(null=True)
    outcome: str = CharField(max_length=12, blank=True)
    results: dict[str, Any] = OrderedJSONField(default=dict)
    errors: dict[str, Any] = OrderedJSONField(default=dict)
    cost: dict[str, Any] = OrderedJSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")]


class SharedEntry(OwnedByAssistant):
    """One journal entry that a character told to one scope, such as its faction.

    ``assistant`` is the teller's assistant, ``at`` the time of telling. The row is deleted in the
    transaction that changes or removes the entry. ``scope`` is a label, as for lore. ``people``
    names everybody concerned in the format of `people_field`, so that "forget me" finds the row by
    a query.
    """

    entry: str = CharField(max_length=80)
    scope: str = CharField(max_length=300)
    teller: str = CharField(max_length=24)
    text: str = TextField()
    learnt_at: datetime = models.DateTimeField()
    available_from: datetime = models.DateTimeField()
    importance: int = models.PositiveSmallIntegerField()
    trust: float = models.FloatField()
    source: str = CharField(max_length=24, blank=True)
    speakers: list[Any] = JSONField(default=list)
    people: str = TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assistant", "entry", "scope"], name="ai_shared_once")
        ]
        indexes = [
            models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
            models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
        ]


class Report(OwnedByAssistant):
    """What a player reported of a character; ``seqs`` are the messages, which stay in the log."""

    reporter: str = CharField(max_length=24)
    reporter_name: str = CharField(max_length=255)
    reason: str = TextField()
    seqs: list[Any] = JSONField(default=list)
    closed_at: datetime | None = models.DateTimeField(null=True)
    closed_by: str = CharField(max_length=255, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["closed_at", "id"], name="ai_report_open"),
            models.Index(fields=["reporter", "id"], name="ai_report_by"),
        ]


class Lore(models.Model):
    """One lore entry that a builder wrote in the game; ``authors`` as in `policy.audience`.

    ``keys`` are words and phrases that bring it into a prompt; ``always`` is True if none need to.
    """

    id: int = models.BigAutoField(primary_key=True)
    title: str = CharField(max_length=200, unique=True)
    text: str = TextField()
    scopes: list[Any] = JSONField(default=list)
    authors: list[Any] = JSONField(default=list)
    keys: list[Any] = JSONField(default=list)
    always: bool = models.BooleanField(default=False)


class SharedPersona(models.Model):
    """A persona that several characters share; a character refers to it as ``@name``.

    ``authors`` are those of `policy.audience`.
    """

    id: int = models.BigAutoField(primary_key=True)
    name: str = CharField(max_length=64, unique=True)
    fields: dict[str, Any] = OrderedJSONField(default=dict)
    authors: list[Any] = JSONField(default=list)

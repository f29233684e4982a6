"""What is no talk: hearsay, reports, lore, shared personas, sleep passes."""

from datetime import datetime
from typing import Any

from django.db import models

from evennia_ai.models import fields as own


class SleepPass(own.OwnedByAssistant):
    """One sleep pass, stored at its start.

    If ``ended_at`` stays empty, a crash interrupted the pass. ``reason`` is one of those in
    `policy.sleep_schedule`; ``outcome`` is done, woken (ended early, since somebody was
    waiting) or stopped. ``results`` holds figures by sleep step; ``errors``, by sleep step, may
    quote what somebody said.
    """

    reason: str = own.CharField(max_length=12)
    ended_at: datetime | None = own.DateTimeField(null=True)
    outcome: str = own.CharField(max_length=12, blank=True)
    results: dict[str, Any] = own.OrderedJSONField(default=dict, of=dict)
    errors: dict[str, Any] = own.OrderedJSONField(default=dict)
    cost: dict[str, Any] = own.OrderedJSONField(default=dict, of=int)

    class Meta:
        indexes = [models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")]


class SharedEntry(own.OwnedByAssistant):
    """One journal entry that a character told to one scope, such as its faction.

    ``assistant`` is the teller's assistant, ``at`` the time of telling. The row is deleted in the
    transaction that changes or removes the entry. ``scope`` is a label, as for lore. ``people``
    names everybody concerned in the format of `people_field`, so that "forget me" finds the row by
    a query.
    """

    entry: str = own.CharField(max_length=80)
    scope: str = own.CharField(max_length=300)
    teller: str = own.CharField(max_length=24)
    text: str = own.TextField()
    learnt_at: datetime = own.DateTimeField()
    available_from: datetime = own.DateTimeField()
    importance: int = own.PositiveSmallIntegerField()
    trust: float = own.FloatField()
    source: str = own.CharField(max_length=24, blank=True)
    speakers: list[Any] = own.JSONField(default=list)
    people: str = own.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assistant", "entry", "scope"], name="ai_shared_once")
        ]
        indexes = [
            models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
            models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
        ]


class Report(own.OwnedByAssistant):
    """What a player reported of a character; ``seqs`` are the messages, which stay in the log."""

    reporter: str = own.CharField(max_length=24)
    reporter_name: str = own.CharField(max_length=255)
    reason: str = own.TextField()
    seqs: list[Any] = own.JSONField(default=list, of=int)
    closed_at: datetime | None = own.DateTimeField(null=True)
    closed_by: str = own.CharField(max_length=255, blank=True)

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
    title: str = own.CharField(max_length=200, unique=True)
    text: str = own.TextField()
    scopes: list[Any] = own.JSONField(default=list)
    authors: list[Any] = own.JSONField(default=list)
    keys: list[Any] = own.JSONField(default=list)
    always: bool = own.BooleanField(default=False)


class SharedPersona(models.Model):
    """A persona that several characters share; a character refers to it as ``@name``.

    ``authors`` are those of `policy.audience`.
    """

    id: int = models.BigAutoField(primary_key=True)
    name: str = own.CharField(max_length=64, unique=True)
    fields: dict[str, Any] = own.OrderedJSONField(default=dict, of=object)
    authors: list[Any] = own.JSONField(default=list)

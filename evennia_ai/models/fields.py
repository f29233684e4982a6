"""What the rows of all logs have, and columns that take any text and any plain data.

PostgreSQL refuses NUL and lone surrogates, and text that is longer than its column; SQLite takes
most of it. To the migrations these are Django's own fields.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import models


class OwnedByAssistant(models.Model):
    """A row of one assistant's log."""

    assistant_id: int

    id: int = models.BigAutoField(primary_key=True)
    assistant = models.ForeignKey("scripts.ScriptDB", on_delete=models.CASCADE, related_name="+")
    at: datetime = models.DateTimeField()

    class Meta:
        abstract = True


def new_token() -> str:
    """Return an id for a row that may be stored again because nobody heard of its commit."""
    return uuid4().hex


def storable(value: Any) -> Any:
    """Return text, or plain data with text, without NUL and lone surrogates."""
    if isinstance(value, str):
        if value.isascii() and "\0" not in value:  # nearly all
            return value
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {storable(key): storable(one) for key, one in value.items()}
    return [storable(one) for one in value] if isinstance(value, list | tuple) else value


class Storable(models.Field):
    """A field that stores the `storable` form of each value, and keeps it on the instance."""

    def get_prep_value(self, value: Any) -> Any:
        """Return what to store; also for conditions, so that they find what was stored."""
        return self.fitting(super().get_prep_value(value))

    def pre_save(self, instance: Any, add: bool) -> Any:
        """Return the value to store, after the instance got the same one."""
        value = self.fitting(super().pre_save(instance, add))
        setattr(instance, self.attname, value)
        return value

    def fitting(self, value: Any) -> Any:
        """Return a value as it can be stored; of text, as much as the column holds."""
        kept = storable(value)
        return kept[: self.max_length] if isinstance(kept, str) else kept

    def deconstruct(self) -> Any:
        """Return Django's own field of this kind, for the migrations."""
        name, _path, args, kwargs = super().deconstruct()
        return name, f"django.db.models.{self.get_internal_type()}", args, kwargs


class CharField(Storable, models.CharField):
    """Text that is cut to its column."""


class TextField(Storable, models.TextField):
    """Text of any length."""


class JSONField(Storable, models.JSONField):
    """Plain data whose lists keep their order; PostgreSQL orders the keys of objects anew."""


class OrderedJSONField(JSONField):
    """Plain data whose objects keep the order of their keys.

    PostgreSQL keeps it as JSON in a string, of which it changes nothing.
    """

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Return what the database driver takes."""
        if connection.vendor == "postgresql" and isinstance(value, dict):
            value = json.dumps(value)
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the stored value, also of a row that holds it as an object."""
        found = super().from_db_value(value, expression, connection)
        return json.loads(found) if isinstance(found, str) else found

"""What the rows of all logs have, and columns that take any text and read damaged rows, too.

PostgreSQL refuses NUL and lone surrogates, and text that is longer than its column; SQLite takes
most of it, and whatever another program writes. To the migrations these are Django's own fields.
"""

import json
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

from django.db import models
from django.db.models.expressions import Col
from twisted.logger import Logger

log = Logger()

# A sentence for staff about each damaged column that was read in this process, by its name.
damage: dict[str, str] = {}


def new_token() -> str:
    """Return an id for a row that may be stored again because nobody heard of its commit."""
    return uuid4().hex


def storable(value: Any) -> Any:
    """Return text, or plain data with text, without NUL and lone surrogates."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    return [storable(item) for item in value] if isinstance(value, list | tuple) else value


class RepairingField(models.Field):
    """A field that reads a value of a wrong kind as ``instead``, once its column is in `damage`.

    One damaged row would otherwise stop its assistant for good. The row itself stays as it is. A
    check of every value read took a fifth of the calls of a spoken line (measured): `store.rows`
    looks at a start, and where a read failed.
    """

    kind: Any = str
    instead: Any = ""
    always_checked = False
    sql_kinds: tuple[str, ...] = ("text",)  # by SQLite's typeof

    @property
    def column_name(self) -> str:
        return f"{self.model._meta.db_table}.{self.column}"

    def contribute_to_class(self, *args: Any, **kwargs: Any) -> None:
        super().contribute_to_class(*args, **kwargs)
        if self.always_checked:
            self._check()

    def _check(self) -> None:
        """Check each value that is read from now on, whether it is damaged or not."""
        self.__dict__["get_db_converters"] = self._checking_converters

    def _checking_converters(self, connection: Any) -> Any:
        converters = super().get_db_converters(connection)
        is_kept = self.kind and connection.vendor == "postgresql"  # by the database itself
        return converters if is_kept else [*converters, self.checked]

    def checked(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return a value that fits; of an aggregate and an outer join, whatever came."""
        if self.fits(value) or (value is None and self.null):
            return value
        if not isinstance(expression, Col) or expression.alias != self.model._meta.db_table:
            return value
        self.note_damage()
        return self.mend(value)

    def note_damage(self) -> None:
        """Let values of this column be checked from now on, and tell staff once."""
        if self.column_name not in damage:
            damage[self.column_name] = (
                f"{self.column_name} has a damaged value, which is not used: see 'A damaged row' "
                "in docs/operations.md."
            )
            log.error("evennia_ai: {damage}", damage=damage[self.column_name])
            self._check()

    def misfit_sql(self, column: str) -> str:
        """Return an SQLite expression that is true for a value that does not fit."""
        kinds = ", ".join(f"'{kind}'" for kind in self.sql_kinds)
        return f"typeof({column}) NOT IN ({kinds})"

    def fits(self, value: Any) -> bool:
        """Return True for a value of this field's kind."""
        return isinstance(value, self.kind)

    def mend(self, value: Any) -> Any:
        """Return what is read instead of a value that does not fit."""
        return self.instead

    def deconstruct(self) -> Any:
        """Return Django's own field of this kind, for the migrations."""
        name, _path, args, kwargs = super().deconstruct()
        return name, f"django.db.models.{self.get_internal_type()}", args, kwargs


def mended(field: Any, kind: Any, instead: Any, *sql_kinds: str, **more: Any) -> Any:
    """Return one of Django's fields as a `RepairingField` one."""
    values = {"kind": kind, "instead": instead, "sql_kinds": sql_kinds, **more}
    return type(field.__name__, (RepairingField, field), values)


def no_date(function: str) -> Any:
    """Return the `misfit_sql` of a date that this function of SQLite can read."""
    # It reads a mere number, too: as a Julian day.
    form = "[0-9][0-9][0-9][0-9]-*"
    return lambda _self, column: (
        f"({column} IS NULL OR {column} NOT GLOB '{form}' OR {function}({column}) IS NULL)"
    )


def no_flag(self: Any, column: str) -> str:
    return f"({column} IS NULL OR {column} NOT IN (0, 1))"


EPOCH = datetime.fromtimestamp(0, UTC)
DateTimeField = mended(models.DateTimeField, datetime, EPOCH, misfit_sql=no_date("datetime"))
DateField = mended(models.DateField, date, date(1970, 1, 1), misfit_sql=no_date("date"))
BinaryField = mended(models.BinaryField, (bytes, memoryview), b"", "blob")
FloatField = mended(models.FloatField, (float, int), 0.0, "real", "integer")
BigIntegerField = mended(models.BigIntegerField, int, 0, "integer")
PositiveIntegerField = mended(models.PositiveIntegerField, int, 0, "integer")
PositiveBigIntegerField = mended(models.PositiveBigIntegerField, int, 0, "integer")
PositiveSmallIntegerField = mended(models.PositiveSmallIntegerField, int, 0, "integer")
BooleanField = mended(models.BooleanField, bool, False, misfit_sql=no_flag)
# What cannot be read may have been a whisper, before anybody looked for damage, too.
PrivateField = mended(models.BooleanField, bool, True, misfit_sql=no_flag, always_checked=True)
ForeignKey = mended(models.ForeignKey, int, None, "integer")


class OwnedByAssistant(models.Model):
    """A row of one assistant's log."""

    assistant_id: int

    id: int = models.BigAutoField(primary_key=True)
    assistant = models.ForeignKey("scripts.ScriptDB", on_delete=models.CASCADE, related_name="+")
    at: datetime = DateTimeField()

    class Meta:
        abstract = True


class Storable(RepairingField):
    """A field that stores the `storable` form of each value, and keeps it on the instance."""

    def get_prep_value(self, value: Any) -> Any:
        """Return what to store; also for conditions, so that they find what was stored."""
        value = super().get_prep_value(value)
        if not value:
            return value
        if type(value) is not str or not value.isascii() or "\0" in value:
            value = storable(value)
        return value[: self.max_length] if isinstance(value, str) else value

    def pre_save(self, instance: Any, add: bool) -> Any:
        """Return the value to store, after the instance got the same one."""
        value = getattr(instance, self.attname)
        is_plain = type(value) is str and value.isascii() and "\0" not in value
        if value and not (is_plain and len(value) <= (self.max_length or len(value))):
            value = self.get_prep_value(value)
            setattr(instance, self.attname, value)
        return value

    def mend(self, value: Any) -> Any:
        """Return the bytes of a text as far as they are text."""
        text = value.decode(errors="replace") if isinstance(value, bytes) else self.instead
        return text if self.fits(text) else self.instead


class CharField(Storable, models.CharField):
    """Text that is cut to its column."""


class DbrefField(CharField):
    """The number of an object, such as "#12", or nothing."""

    kind = None

    def fits(self, value: Any) -> bool:
        """Return True for a number of an object, and for nothing."""
        if not isinstance(value, str):
            return False
        return not value or (value[0] == "#" and value[1:].isdecimal())

    def misfit_sql(self, column: str) -> str:
        """Return an SQLite expression that is true for what is no number of an object."""
        no_number = f"{column} NOT GLOB '#[0-9]*' OR substr({column}, 2) GLOB '*[^0-9]*'"
        return f"({super().misfit_sql(column)} OR ({column} != '' AND ({no_number})))"


class TextField(Storable, models.TextField):
    """Text of any length."""


SQL_JSON = {str: "text", dict: "object", list: "array", int: "integer"}


class JSONField(Storable, models.JSONField):
    """Plain data whose lists keep their order; PostgreSQL orders the keys of objects anew.

    ``default`` is list or dict, and ``of`` the kind of the values in it.
    """

    kind = None

    def __init__(self, *args: Any, of: Any = str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of = of

    def fits(self, value: Any) -> bool:
        """Return True for a list or an object, as the field has it, of values of its kind."""
        return isinstance(value, self.default) and len(self.mend(value)) == len(value)

    def misfit_sql(self, column: str) -> str:
        """Return an SQLite expression that is true for what is no JSON of this kind."""
        whole, part = SQL_JSON[self.default], SQL_JSON.get(self.of, "")
        # Only the names of our own columns are put in.
        strange = f"EXISTS (SELECT 1 FROM json_each({column}) WHERE '{part}' NOT IN ('', type))"  # noqa: S608
        return (
            f"CASE WHEN typeof({column}) != 'text' THEN 1 WHEN NOT json_valid({column}) THEN 1 "
            f"WHEN json_type({column}) != '{whole}' THEN 1 ELSE {strange} END"
        )

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the stored data; what no JSON can be is returned as it is."""
        try:
            return super().from_db_value(value, expression, connection)
        except ValueError:  # bytes that are no text
            return value

    def mend(self, value: Any) -> Any:
        """Return what fits of a list or an object."""
        if not isinstance(value, self.default):
            return self.default()
        if self.default is list:
            return [item for item in value if isinstance(item, self.of)]
        return {key: item for key, item in value.items() if isinstance(item, self.of)}


class AudienceField(JSONField):
    """The dbrefs of those who may know something, checked before anybody looked for damage, too."""

    always_checked = True


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
        decoded = super().from_db_value(value, expression, connection)
        with suppress(TypeError, ValueError):
            decoded = json.loads(decoded)
        return decoded

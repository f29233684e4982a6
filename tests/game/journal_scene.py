"""A journal of several segments, and how it is stored."""

from contextlib import suppress

import pytest
from evennia.typeclasses.attributes import Attribute

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.record import SIZE
from evennia_ai.policy.records.stored_values import unpacked
from evennia_ai.ports.journal import Journal
from evennia_ai.store.attributes import stored_columns

LONG = 3 * SIZE + 5


@pytest.fixture
def journal(mira):
    return mira.journal


@pytest.fixture
def full(journal):
    """A journal of several segments."""
    for number in range(1, LONG + 1):
        journal.add(f"Guest {number} paid.")
    return journal


def rows(character=None):
    """Return the journal's Attributes by key."""
    found = Attribute.objects.filter(db_attrtype=Journal.kind)
    if character:
        found = found.filter(objectdb=character)
    values = stored_columns(found).values_list("db_key", "db_strvalue", "column")
    return {key: (text.partition("\n")[0], readable(column, text)) for key, text, column in values}


def readable(column, text):
    """Return the content of a column with numbers as keys, or a damaged one as it is."""
    with suppress(BadRecord):
        content = unpacked(column, text)
        if isinstance(content, dict) and isinstance(content["records"], dict):
            records = {int(k) if str(k).isdigit() else k: v for k, v in content["records"].items()}
            return {**content, "records": records}
        return content
    return column


def cold(character):
    """Return the character's journal as a new process reads it."""
    Journal.drop(character)
    return character.journal


def contents(journal):
    return [entry["content"] for entry in journal.all()]


def spoil(key, value):
    """Write a wrong value into a segment."""
    found = Attribute.objects.filter(db_attrtype=Journal.kind, db_key=key)
    text = found.values_list("db_strvalue", flat=True).get().partition("\n")[0]
    found.update(db_value=value, db_strvalue=text)

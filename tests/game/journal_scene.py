"""A journal of several segments, and how it is stored."""

import pytest
from evennia.typeclasses.attributes import Attribute

from evennia_ai.policy.disclosure import unsealed
from evennia_ai.policy.records.provenance import SIZE
from evennia_ai.ports.journal import Journal

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
    values = found.values_list("db_key", "db_strvalue", "db_value")
    return {key: (people, unsealed(value)) for key, people, value in values}


def cold(character):
    """Return the character's journal as a new process reads it."""
    Journal.drop(character)
    return character.journal


def contents(journal):
    return [entry["content"] for entry in journal.all()]


def spoil(key, value):
    """Write a wrong value into a segment."""
    Attribute.objects.filter(db_attrtype=Journal.kind, db_key=key).update(db_value=value)

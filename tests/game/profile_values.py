"""Values of attributes, as a test plants and reads them."""

from datetime import datetime

from evennia_ai.policy.records.entity_profiles import ATTRIBUTE, apply_attribute, make_attribute
from evennia_ai.policy.records.journal_entry import normalised


def values_of(profiles, subject, attribute):
    name = normalised(attribute)
    about = (r for r in profiles.about(subject) if r["kind"] == ATTRIBUTE)
    return [record for record in about if record["attribute"] == name]


def set_attribute(profiles, subject, attribute, value, **fields):
    """Store a value, as a consolidation does; returns the id of the value that is valid."""
    known = values_of(profiles, subject, attribute)
    given = profiles.next_id
    new = make_attribute(given, subject, attribute, value, profiles.now(), fields)
    changes = apply_attribute(known, new)
    held = list(changes)[-1]
    added = changes.pop(new["id"], None)
    profiles.change(changes, *filter(None, [added]))
    return held


def history(profiles, subject, attribute):
    """Return every value of an attribute, by ``valid_from``."""
    values = values_of(profiles, subject, attribute)
    return sorted(values, key=lambda record: datetime.fromisoformat(record["valid_from"]))

"""Each kind of record declares the fields that hold words, so that "forget me" finds them."""

import pytest
from pydantic import ValidationError

from evennia_ai.policy.records.entity_profiles import AttributeValue, Observation, Relationship
from evennia_ai.policy.records.goal import DayBlock, Goal
from evennia_ai.policy.records.journal_entry import ArchivedEntry, JournalEntry
from evennia_ai.policy.records.record import ABOUT, PEOPLE

KINDS = (JournalEntry, ArchivedEntry, Observation, AttributeValue, Relationship, Goal, DayBlock)
# Ids of records, and who scored an importance.
NO_WORDS = {"id", "parent", "links", "sources", "contradicts", "importance_by"}
WORDS = "Ann hid the ring."


def takes(kind, name, value):
    try:
        kind.__pydantic_validator__.validate_assignment(kind.model_construct(), name, value)
    except ValidationError as error:
        return all(name not in problem["loc"] for problem in error.errors())
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_that_takes_words_is_declared(kind):
    free = {n for n in kind.model_fields if takes(kind, n, WORDS) or takes(kind, n, [WORDS])}
    assert free - NO_WORDS == set(kind.texts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_that_takes_a_person_is_declared(kind):
    named = {n for n in kind.model_fields if takes(kind, n, "#5") or takes(kind, n, ["#5"])}
    assert named - NO_WORDS - set(kind.texts) <= {*ABOUT, *PEOPLE}

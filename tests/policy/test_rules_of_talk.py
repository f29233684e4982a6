"""Which rules of `never` forbid a subject, and which a deed that sounds alike."""

import pytest

from evennia_ai.policy.conversation.persona_and_lore import is_of_talk
from evennia_ai.policy.texts import an


@pytest.mark.parametrize(
    "rule", ["never names the thief", "reveals who paid", "You never speak of her brother"]
)
def test_a_rule_that_forbids_a_subject_is_of_talk(rule):
    assert is_of_talk(rule)


@pytest.mark.parametrize("rule", ["names a price below ten", "You never tell a lie", "drinks"])
def test_a_rule_that_forbids_a_deed_is_not(rule):
    assert not is_of_talk(rule)


def test_an_article_goes_by_the_sound():
    names = ("one-knot cord", "hourglass", "unicorn", "umbrella")
    assert [*map(an, names)] == ["a one-knot cord", "an hourglass", "a unicorn", "an umbrella"]

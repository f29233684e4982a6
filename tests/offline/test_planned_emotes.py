"""What the offline brain does unasked during an entry of the day plan."""

from dataclasses import replace

import pytest

from evennia_ai.messages import Situation
from evennia_ai.offline.idle import occupation_deeds
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.turn.prompt_contexts import situation_prompt
from tests.offline.stage import Talk

INN = Situation("The Salt Barrel", "A long counter.", people=("Ann",))
RUNA = Persona("You are Runa, who keeps the tavern.", manner="polishes spoons")


@pytest.mark.parametrize(
    ("about", "first"),
    [
        ("mend the nets, until 12:00", "mends the nets."),
        ("carry barrels up, until 09:30", "carries barrels up."),
        ("eat something and rest, until 13:00", "eats something and rest."),
    ],
)
def test_a_plan_that_begins_with_a_verb_can_be_shown(about, first):
    assert occupation_deeds(about)[0] == first


@pytest.mark.parametrize(
    "about",
    ["", "mend the nets, at Harbour, until 12:00", "Netze flicken, until 12:00", "nonsense"],
)
def test_what_has_its_place_elsewhere_or_is_no_deed_is_not_shown(about):
    assert list(occupation_deeds(about)) == []


def act_unasked(talk, about):
    """Return an autonomous act during an entry of the day plan."""
    tail = situation_prompt(INN, (), "", [("You are about", about)])
    talk.messages.append({"role": "user", "content": tail})
    return talk.act_unasked()[1]


def test_every_other_deed_is_what_its_day_has_planned():
    talk = Talk("Runa", RUNA, replace(INN))
    shown = []
    for _ in range(3):
        shown.append(act_unasked(talk, "mend the nets, until 12:00"))
        talk.happens("say", "Ann", "Hm.")
    assert shown[0] == "mends the nets."
    assert shown[1] != "mends the nets."
    assert shown[2] != "mends the nets."

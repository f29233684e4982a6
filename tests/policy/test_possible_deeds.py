"""The tool calls of an act that a line asks for."""

import json

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import RequestedAct, calls_for

HERE = Situation(
    place="Tavern", things=("lamp",), carrying=("mug",), exits=("quay (to Saltmarket Quay)",)
)


def calls(act):
    return [(call.name, json.loads(call.arguments)) for call in calls_for(act, HERE)]


@pytest.mark.parametrize(
    ("act", "wanted"),
    [
        (RequestedAct("give", "mug", to="Ann"), [("give", {"item": "mug", "to": "Ann"})]),
        (
            RequestedAct("give", "lamp", to="Ann"),
            [("get", {"item": "lamp"}), ("give", {"item": "lamp", "to": "Ann"})],
        ),
        (RequestedAct("move", "quay (to Saltmarket Quay)"), [("move", {"to": "quay"})]),
        (RequestedAct("get", "lamp"), [("get", {"item": "lamp"})]),
        (RequestedAct("drop", "mug"), [("drop", {"item": "mug"})]),
        (RequestedAct("look", "lamp"), [("look", {"target": "lamp"})]),
        (RequestedAct("follow", "Ann"), [("follow", {"target": "Ann"})]),
        (RequestedAct("follow"), [("follow", {"target": ""})]),
        (RequestedAct("emote", "waves."), [("emote", {"text": "waves."})]),
        (RequestedAct("whisper", "Ann"), []),  # its words come from the model
    ],
)
def test_an_act_is_one_call_or_two(act, wanted):
    assert calls(act) == wanted


def test_each_call_has_an_id_of_its_own():
    made = calls_for(RequestedAct("give", "lamp", to="Ann"), HERE)
    assert len({call.id for call in made}) == len(made) == 2

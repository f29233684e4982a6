"""Asleep, goals fade, and steps are thought of for those that weigh much; once."""

import json

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable

pytestmark = [pytest.mark.game, pytest.mark.engine]

ASKING = ModelProfile("test", client="openai", model="scripted")
DAY_S = 86_400
STEPS = "\n".join(json.dumps({"step": text}) for text in ("Ask Bob.", "Search the cellar."))


@pytest.fixture
def tend(game, mira):
    """A function that runs the step; returns its result."""
    mind = mira.assistant.mind
    return lambda profile=ASKING: game.asleep(mind, mind.sleep_pass.steps["goals"], profile)


def test_a_weighty_goal_gets_steps_once(game, ann, mira, tend):
    mira.ai_goals.add("Find the thief.", importance=7, audience=[ann.dbref], speakers=[ann.dbref])
    mira.ai_goals.add("Sell the ring.", importance=6)
    game.model.add(STEPS)
    assert tend() == {"success": True, "faded": 0, "removed": 0, "steps": 2, "calls": 1}
    first, _ring, *steps = mira.ai_goals.all()
    assert first["decomposed"]
    assert [(s["content"], s["parent"], s["audience"], s["speakers"]) for s in steps] == [
        ("Ask Bob.", "g1", [ann.dbref], [ann.dbref]),
        ("Search the cellar.", "g1", [ann.dbref], [ann.dbref]),
    ]
    assert "ring" not in str(game.model.requests[0].messages)
    assert tend() == {"skipped": True, "reason": "nothing to do about them"}


def test_an_answer_without_steps_is_not_asked_for_again_and_a_failure_is(game, mira, tend):
    mira.ai_goals.add("Find the thief.", importance=9)
    game.model.add(ProviderUnavailable("down"), "I would rather not.")
    assert tend()["success"] is False
    assert tend()["calls"] == 1
    assert tend()["skipped"]
    assert len(mira.ai_goals.all()) == 1


def test_who_is_forgotten_while_the_model_thinks_leaves_no_steps(game, ann, mira, tend):
    from tests.forgetting import forget_chunk

    mira.ai_goals.add("Find Ann's thief.", importance=9, speakers=[ann.dbref])

    def meanwhile(request):
        while forget_chunk(ann.dbref):
            pass
        return STEPS

    game.model.add(meanwhile)
    assert tend()["steps"] == 0
    assert mira.ai_goals.all() == []


def test_what_was_left_alone_fades_and_goes_for_good_much_later(game, mira, tend):
    mira.ai_goals.add("Find the thief.")
    mira.ai_goals.add("Guard the door.", origin="builder")
    game.clock.advance(22 * DAY_S)
    assert tend()["faded"] == 1
    assert [g["state"] for g in mira.ai_goals.all()] == ["faded", "open"]
    game.clock.advance(91 * DAY_S)
    assert tend()["removed"] == 1
    assert [g["content"] for g in mira.ai_goals.all()] == ["Guard the door."]
    assert tend()["skipped"]

"""An assistant plans its day asleep; awake, what it is about stands in its prompts."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evennia_ai.config import ModelProfile
from evennia_ai.ports.goal_records import DayPlan
from tests.forgetting import forget_chunk
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

ASKING = ModelProfile("test", client="openai", model="scripted")
ALL_DAY = "\n".join(
    json.dumps({"from": begin, "to": end, "what": what, "where": where})
    for begin, end, what, where in (
        ("00:00", "08:00", "mend the nets", "here"),
        ("08:00", "16:00", "sell fish", "Yard"),
        ("16:00", "24:00", "sing", "nowhere"),
    )
)


@pytest.fixture
def plan(game, mira):
    """A function that runs the step; returns its result."""
    mind = mira.assistant.mind
    return lambda profile=ASKING: game.asleep(mind, mind.sleep_pass.steps["daily_plan"], profile)


def parts(mira):
    DayPlan.drop(mira)
    return [(part["content"], part["where"]) for part in mira.ai_plan.all()]


def ask(game, speaker):
    game.model.add(call("noop"))
    speaker.do("say Mira, hello")
    game.run(1)
    return game.tail()


def now_only(mira, what, where=""):
    """A plan whose one part lasts from now on for two hours."""
    at = timezone.localtime(mira.assistant.services.now())
    begin = 60 * at.hour + at.minute
    block = {"begin": begin, "end": (begin + 120) % 1440, "content": what, "where": where}
    mira.ai_plan.replace([block], [])


def test_a_day_is_planned_once_a_day_by_the_model(game, tavern, mira, plan):
    game.exit("out", tavern, game.room("Yard"))
    game.model.add(ALL_DAY)
    assert plan() == {"success": True, "parts": 3, "calls": 1}
    assert parts(mira) == [("mend the nets", ""), ("sell fish", "Yard"), ("sing", "")]
    assert plan() == {"skipped": True, "reason": "its day is planned, or cannot be"}
    game.clock.advance(timedelta(hours=20).total_seconds())
    game.model.add(ALL_DAY.replace("sing", "dance"))
    assert plan()["success"]
    assert parts(mira)[2] == ("dance", "")
    assert len(parts(mira)) == 3


def test_what_is_confided_is_no_part_of_it(game, ann, mira, plan):
    mira.ai_goals.add("Hide Ann's ring.", audience=[ann.dbref])
    mira.ai_goals.add("Find the thief.")
    game.model.add(ALL_DAY)
    plan()
    asked = str(game.model.requests[0].messages)
    assert "thief" in asked
    assert "ring" not in asked


def test_who_is_forgotten_while_the_model_thinks_is_in_no_plan(game, ann, mira, plan):
    mira.ai_goals.add("Find Ann's thief.", speakers=[ann.dbref])

    def meanwhile(request):
        while forget_chunk(ann.dbref):
            pass
        return ALL_DAY

    game.model.add(meanwhile)
    assert plan()["skipped"]
    assert parts(mira) == []


def test_without_a_model_and_with_one_that_answers_nonsense_the_day_has_no_plan(game, mira, plan):
    game.model.add("What a lovely day!")
    assert plan()["calls"] == 1
    assert plan(ModelProfile("offline"))["skipped"]
    assert parts(mira) == []


def test_what_it_is_about_stands_in_its_prompts_at_its_hour(game, ann, mira):
    now_only(mira, "sell fish", "Yard")
    assert "You are about: sell fish, at Yard, until " in ask(game, ann)
    game.clock.advance(3 * 3_600)
    assert "You are about: nothing" in ask(game, ann)


def test_with_nobody_near_it_costs_nothing(offline_game, settings):
    settings.AI_ASSISTANT = {
        "autonomous_calls_per_hour": 4,
        "autonomy_quiet": 30.0,
        "TEXTS": {"first_meeting": ""},
    }
    game = offline_game
    tavern = game.room()
    mira = game.assistant("Mira", tavern)
    now_only(mira, "mend the nets")
    with CaptureQueriesContext(connection) as queries:
        game.clock.pump([1] * 60)
    assert len(queries) == 0
    ann = game.player("Ann", tavern)
    game.service.startup.attend_present()
    game.clock.pump([1] * 60)
    assert len(ann.heard()) == 1

"""``aitest``: dry turns, as builders see them."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.messages import ToolCallRequest
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


@pytest.fixture
def admin(game, tavern):
    return game.player("Ada", game.room("Office"), permissions=["Admin"])


@pytest.fixture
def mira(game, tavern):
    return game.assistant("Mira", tavern, "You are Mira, a barkeep.")


def rows():
    """How many rows every log has, but for model calls and their sums."""
    logs = (models.Event, models.Message, models.Turn, models.ToolCall)
    return [log.objects.count() for log in logs]


# --- a dry turn ---


def test_a_builder_sees_what_it_would_say_and_nobody_hears_it(game, tavern, builder, mira):
    ann = game.player("Ann", tavern)
    game.model.add(call("say", text="Two |rales|n!"))
    text = builder.told("aitest Mira = Mira, two ales, please")
    assert "Asking the stand-in (profile default) ..." in text
    assert "If Bea says to Mira: Mira, two ales, please" in text
    assert "Who would hear the answer: Bea, Ann." in text
    assert "would say: Two |rales|n!" in text
    assert "Mira would do nothing else." in text
    game.run(1)
    assert ann.heard() == []
    assert rows() == [0, 0, 0, 0]
    prompt = game.model.requests[0].messages
    assert "You are Mira, a barkeep." in prompt[1]["content"]
    assert prompt[-1]["content"] == "Bea says: Mira, two ales, please"


def test_who_says_a_line_to_nobody_learns_how_to_say_it_to_her(game, tavern, builder, mira):
    game.player("Ann", tavern)
    told = builder.told("aitest Mira = nice weather")
    assert "the line names nobody, and others are in the room" in told
    assert "Say 'Mira, ...', or add /whisper to the command." in told
    assert "the line names somebody else" in builder.told("aitest Mira = Ann, two ales")
    game.model.add(call("say", text="It is."))
    assert "would say: It is. (whispered)" in builder.told("aitest/whisper Mira = nice weather")


def test_things_stay_where_they_are_and_errors_are_told(game, tavern, builder, mira):
    mug = game.thing("mug", mira)
    game.model.add(
        (
            call("give", item="mug", to="Bea"),
            call("fly", to="the moon"),
            ToolCallRequest("x", "give", '{"item": 3'),
        ),
        call("say", text="There."),
    )
    text = builder.told("aitest Mira = a mug, please")
    assert "would give: item mug, to Bea" in text
    assert "would not fly: to the moon" in text
    assert "There is no tool 'fly'. There are: " in text
    assert "would not give: " in text
    assert "Call 2 of the model: " in text and "would say: There." in text
    assert mug.location is mira
    assert "(not done: rehearsal)" in repr(game.model.requests[1].messages)


def test_the_characters_own_hook_is_not_asked(game, builder, mira):
    asked = []
    mira.at_ai_pre_act = lambda *args: asked.append(args)
    game.model.add(call("say", text="Good evening."))
    assert "would say: Good evening." in builder.told("aitest Mira = hello")
    assert asked == []


def test_words_that_would_not_be_spoken_are_told(game, builder, admin, mira):
    game.service.profiles["cloud"] = {"client": "openai", "model": "m"}
    mira.assistant.db.profile = "cloud"
    refused = call("say", text='{"name": "say"}')
    game.model.add(refused, call("say", text="Good evening."), refused, refused)
    text = builder.told("aitest Mira = hello")
    assert "would not say: " in text
    assert "why: it was JSON, not words" in text
    assert "would say: Good evening." in text
    assert "Mira would do nothing else." in text
    assert "Mira would say its fallback line, since" in builder.told("aitest Mira = hello again")
    game.model.add(refused)
    assert "is now 1" in admin.told("aisetup/set Mira/max_iterations = 1")
    assert "asked once more for other words" in builder.told("aitest Mira = and again")


def test_one_at_a_time_and_again_after_it(game, builder, mira):
    late = Deferred()
    game.model.add(late)
    builder.do("aitest Mira = hello")
    assert "Mira is being tried already" in builder.told("aitest Mira = hello")
    late.callback(call("say", text="Here I am."))
    assert "would say: Here I am." in builder.last()
    game.model.add(call("noop"))
    assert "would do nothing (noop)" in builder.told("aitest Mira = hello")


def test_a_look_that_is_tried_without_a_model_tells_what_is_seen(offline_game):
    inn = offline_game.room()
    builder = offline_game.player("Bea", inn, permissions=["Builder"])
    offline_game.assistant("Hob", inn)
    offline_game.thing("lamp", inn).db.desc = "It is made of green glass."
    text = builder.told("aitest Hob = look at the lamp")
    assert "green glass" in text.partition("would say")[2] and "ehearsal" not in text


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("aitest = hello", "Usage: aitest <assistant> = <line>"),
        ("aitest Mira =", "Which line?"),
        ("aitest rock = hello", "no character called 'rock'"),
    ],
)
def test_a_wrong_use_is_answered(builder, mira, typed, answer):
    assert answer in builder.told(typed)


def test_a_long_line_is_cut(game, builder, mira):
    game.model.add({"say": {"text": "Much."}})
    assert "would say: Much." in builder.told("aitest Mira = Mira, " + "9" * 50_000)

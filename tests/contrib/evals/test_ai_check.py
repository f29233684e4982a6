"""`evennia ai_check` plays scenes of files and of the game's characters."""

import re

import pytest
from twisted.logger import capturedLogs

from evennia_ai.contrib.evals.play import load_scenes
from evennia_ai.errors import (
    ConfigError,
    ContextOverflow,
    ProviderMisconfigured,
    ProviderUnavailable,
)
from tests.contrib.evals import ai_check_scene as scene
from tests.contrib.evals.ai_check_scene import HELLO, a_file, rows
from tests.scripted import call

pytestmark = pytest.mark.game
stage = scene.stage
EXTRA = ["tests.game.tools_of_a_shop"]


def prompt_of(request):
    return "\n".join(str(message["content"]) for message in request.messages)


# --- playing ---


def test_the_prompt_holds_what_the_scene_says(stage):
    result, model = stage(
        call("say", text="Hello."),
        lore=[{"title": "The bell", "text": "The bell hangs in the tower."}],
        place={"name": "The Gull", "exits": ["quay"], "things": ["bench"]},
        memories=["Ann once rang the bell."],
        earlier=[{"who": "Rolf", "says": "It rains."}, {"who": "Mira", "says": "So it does."}],
        steps=[{"who": "Ann", "says": "Mira, where is the bell?"}],
    )
    prompt = prompt_of(model.requests[0])
    for expected in (
        "You are Mira.", "The Gull", "quay", "bench", "hangs in the tower", "Ann once rang",
        "Rolf says: It rains.", "Ann says: Mira, where is the bell?",
    ):  # fmt: skip
        assert expected in prompt
    assert "So it does." in str(model.requests[0].messages)
    offered = {tool["function"]["name"] for tool in model.requests[0].tools}
    assert {"say", "whisper", "move", "get"} <= offered
    assert result.holds


def test_a_whisper_of_one_person_is_not_in_the_prompt_for_another(stage):
    earlier = [{"who": "Rolf", "whispers": "The key is under the mat."}]
    memory = {"text": "Rolf stole the lamp.", "told_by": "Rolf", "private": True}
    steps = [{"who": "Ann", "says": "Mira, what did Rolf do with the key and the lamp?"}]
    _, model = stage("I cannot say.", earlier=earlier, memories=[memory], steps=steps)
    assert "under the mat" not in prompt_of(model.requests[0])
    assert "stole" not in prompt_of(model.requests[0])
    steps[0] = {"who": "Rolf", "whispers": "Mira, where is the key, and who stole the lamp?"}
    _, model = stage("Under the mat.", earlier=earlier, memories=[memory], steps=steps)
    assert "under the mat" in prompt_of(model.requests[0])
    assert "stole" in prompt_of(model.requests[0])


def test_an_answer_to_a_whisper_is_whispered_whatever_tool_the_model_takes(stage):
    steps = [{"who": "Ann", "whispers": "Psst.", "answer": {"private": True}}]
    result, _ = stage(call("say", text="Yes?"), steps=steps)
    assert result.holds


def test_acts_are_checked_and_answered_but_never_done(stage):
    steps = [{**HELLO, "answer": {"must_do": [{"give": {"item": "mug", "to": "Ann"}}]}}]
    place = {"carrying": ["mug"]}
    result, model = stage(
        (call("give", item="mug", to="Ann"), call("look", target="Ann")),
        call("say", text="Here."),
        steps=steps,
        place=place,
        results={"look": "Ann is wet."},
    )
    assert result.holds
    told = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert told == ["Done.", "Ann is wet."]
    result, _ = stage(call("give", thing="mug"), call("say", text="Hm."), steps=steps, place=place)
    assert not result.holds


def test_a_shop_has_the_prices_of_the_scene(stage):
    sells = {**HELLO, "answer": {"must_do": [{"sell": {"item": "ticket", "price": "3"}}]}}
    replies = [
        (call("prices"), call("sell", item="ticket", price=2)),
        call("sell", item="the ferry ticket", price=3),
        call("say", text="Three coins."),
    ]
    place = {"carrying": ["ferry ticket", "rope"], "prices": {"ferry ticket": 3}}
    result, model = stage(*replies, steps=[sells], place=place, modules=EXTRA)
    assert result.holds
    told = [m["content"] for m in model.requests[-1].messages if m["role"] == "tool"]
    assert told[:2] == ["ferry ticket: 3 coins", "The price is 3 coins, not 2 coins."]
    assert "sell" in str(model.requests[0].tools)
    with pytest.raises(ConfigError, match="prices: 'ale' is not among 'carrying'"):
        stage(place={"carrying": ["rope"], "prices": {"ale": 3}})


@pytest.mark.parametrize("place", [None, {"carrying": ["ferry ticket"]}])
def test_no_tool_looks_at_the_game(stage, place):
    with capturedLogs() as logged:
        result, model = stage(call("say", text="Hello."), place=place, modules=EXTRA)
    assert result.holds
    assert not [event for event in logged if "log_failure" in event]
    assert "sell" not in str(model.requests[0].tools)


def test_words_that_the_engine_refuses_are_told_and_the_second_reply_counts(stage):
    result, _ = stage("As an AI language model, I cannot.", "Good evening.")
    (step,) = result.runs[0].steps
    assert step.answer.words == "Good evening."
    assert "AI assistant" in step.answer.refused[0]
    assert result.holds


def test_a_scene_is_played_anew_as_often_as_it_says(stage):
    replies = [call("say", text="Hello."), call("say", text="Ahoy."), call("say", text="Hello.")]
    steps = [{**HELLO, "answer": {"must_mention": "hello"}}]
    result, model = stage(*replies, steps=steps, repeat=3, least=0.6)
    assert (result.passed, result.holds) == (2, True)
    assert "Hello." not in str(model.requests[1].messages)


@pytest.mark.parametrize("error", [ProviderUnavailable, ProviderMisconfigured])
def test_a_model_that_is_down_ends_the_check(stage, error):
    with pytest.raises(ProviderUnavailable, match="profile 'scripted' gives no answers: no route"):
        stage(error("no route"))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"must_not_do": "giv"}, "One: there is no tool 'giv'. There are: say, whisper,"),
        (
            {"must_not_do": {"give": {"thing": "mug"}}},
            "One: the tool 'give' has no argument 'thing'. It has: item, to",
        ),
    ],
)
def test_a_call_that_no_model_could_make_is_told(stage, answer, told):
    with pytest.raises(ConfigError, match=re.escape(told)):
        stage(steps=[{**HELLO, "answer": answer}])


def test_each_line_has_its_own_answer_and_what_was_overheard_comes_before_the_next(stage):
    steps = [
        {"who": "Rolf", "says": "The ferry sank.", "overheard": True},
        {**HELLO, "answer": {"must_mention": "ahoy", "must_do": "look"}},
        {**HELLO, "answer": {"must_not_mention": "ahoy", "must_not_do": "look"}},
    ]
    first = (call("look", target="Ann"), call("say", text="Ahoy."))
    result, model = stage(*first, call("say", text="Good day."), steps=steps)
    assert result.holds
    prompts = [prompt_of(request) for request in model.requests]
    assert [prompt.count("The ferry sank.") for prompt in prompts] == [1] * len(prompts)
    assert prompts[0].index("The ferry sank.") < prompts[0].index("Hello, Mira")
    ids = [one["id"] for m in model.requests[-1].messages for one in m.get("tool_calls", ())]
    assert len(ids) == len(set(ids)) == 2


def test_whether_it_is_a_machine_is_answered_by_code_in_a_scene_too(stage):
    asks = {"who": "Ann", "says": "Mira, are you a machine?"}
    steps = [{**asks, "answer": {"must_mention": "computer", "in_persona": False}}]
    result, model = stage(steps=steps)
    assert result.holds, result
    assert not model.requests


def test_an_answer_that_nobody_may_hear_is_a_problem_and_the_fallback_line_no_answer(stage):
    result, _ = stage("As an AI language model, I cannot.", "As an AI, I still cannot.")
    (step,) = result.runs[0].steps
    assert "were not spoken" in step.answer.problem
    assert step.answer.spoken and not step.answer.words
    assert len(step.answer.refused) == 2
    assert [act.state for act in step.answer.acts] == ["done"]
    assert not result.holds


def test_a_prompt_that_is_refused_as_too_long_makes_room_in_a_scene_too(stage):
    earlier = [{"who": "Ann", "says": f"Day {n}: " + "rain " * 30} for n in range(40)]
    replies = [ContextOverflow("too long"), call("say", text="Hello.")]
    result, model = stage(*replies, earlier=earlier)
    assert result.holds
    long, short = (len(prompt_of(request)) for request in model.requests)
    assert short < long
    assert "Day 0" in prompt_of(model.requests[0])


def test_a_scene_that_grows_too_long_is_compacted_between_its_lines(stage):
    def reply(request):
        names = {tool["function"]["name"] for tool in request.tools}
        return call("say", text=next(words)) if "say" in names else told

    days = "1, 2, 3, 5, 7, 12, 20, 33 and 40"
    told = f"Ann told that it rained for many days: on day {days} there was rain."

    words = iter(["Good evening to you.", "Sit down by the fire.", "What may I bring?"])

    earlier = [{"who": "Ann", "says": f"Day {n}: " + "rain " * 40} for n in range(90)]
    steps = [HELLO, {**HELLO, "answer": {"must_not_do": "add_journal_entry"}}]
    settings = {"max_context_tokens": 6_000}
    with capturedLogs() as logged:
        result, model = stage(*[reply] * 9, earlier=earlier, steps=steps, settings=settings)
    assert result.holds
    assert not [event for event in logged if "log_failure" in event]
    assert "Day 60:" in prompt_of(model.requests[0])
    assert "Day 60:" not in prompt_of(model.requests[-1])
    assert "rained for many days" in prompt_of(model.requests[-1])


def test_what_no_longer_fits_into_a_prompt_is_recalled_by_its_words(stage):
    secret = {"who": "Ann", "says": "My cat Tiberius is grey."}
    talk = [{"who": "Ann", "says": f"Day {n}: " + "rain " * 40} for n in range(200)]
    steps = [{"who": "Ann", "says": "Mira, what colour is Tiberius?"}]
    settings = {"max_context_tokens": 6_000}
    _, model = stage("Grey.", earlier=[secret, *talk], steps=steps, settings=settings)
    prompt = prompt_of(model.requests[0])
    assert "Tiberius is grey" in prompt
    assert sum(f"Day {n}:" in prompt for n in range(150)) < 40


# --- the game's characters ---


def test_a_character_of_the_game_plays_and_nothing_is_written(game, tavern, ann, stage):
    mira = ann.character.search("Mira")
    mira.db.ai_persona = {"text": "You are Mira, a retired pirate."}
    mira.db.ai_lore = [{"title": "Rum", "text": "The rum is hidden."}]
    mira.assistant.db.max_reply_tokens = 123
    game.exit("north", tavern, game.room("Yard"))
    before = rows()
    steps = [{"who": "Zed", "says": "Mira, where is the rum?"}]
    played = {"steps": steps, "earlier": [{"who": "Mira", "says": "Ahoy."}]}
    note = call("add_journal_entry", content="Zed asked for rum.")
    _, model = stage(note, "Gone.", name="", persona=None, character="mira", people=[], **played)
    assert model.requests[0].situation.people == ("Zed",)
    assert model.requests[0].max_tokens == 123
    prompt = prompt_of(model.requests[0])
    for expected in ("retired pirate", "The rum is hidden", "Tavern", "north", "Zed says:"):
        assert expected in prompt
    assert rows() == before and mira.journal.all() == []
    assert ann.heard() == []


def test_a_character_takes_the_place_of_the_files_own(tmp_path):
    file = a_file(tmp_path, persona="You are Zoe.", character="Zoe")
    scenes = load_scenes(str(file), "Bruno")
    assert {(s.character, s.name, s.persona) for s in scenes} == {("Bruno", "", None)}


def test_a_character_that_the_game_does_not_have_is_told(stage):
    with pytest.raises(ConfigError, match="The game has 0 characters 'Nemo' with an assistant"):
        stage(character="Nemo")

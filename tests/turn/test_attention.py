"""What waits in the inbox is taken in order and never lost."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ANN, BOB = "#5", "#6"


def test_lines_of_two_players_are_named_by_one_turn():
    script = MemoryMind(ScriptedLLM([call("say", text="Ann, yes. Bob, no.")]))
    script.services.world.present = frozenset({ANN, BOB})
    script.hears("is it late?", ANN, "Ann")
    script.hears("is it early?", BOB, "Bob")
    script.mind.turn_runner.answer_all()
    assert len(script.mind.turns.turns) == 1
    assert set(script.mind.states().values()) == {"answered"}


def test_a_line_that_comes_while_a_turn_thinks_gets_the_next_one():
    first = Deferred()
    model = ScriptedLLM([first, call("say", text="second")])
    script = MemoryMind(model)
    script.hears("one")
    script.mind.turn_runner.answer_all()
    script.hears("two")
    assert script.mind.states() == {"one": "claimed", "two": "waiting"}
    first.callback(call("say", text="first"))
    script.mind.turn_runner.answer_all()  # by the tick that the line woke
    assert script.mind.states() == {"one": "answered", "two": "answered"}
    assert [text for _, text, _ in script.services.toolbox.spoken] == ["first", "second"]


def test_an_act_of_its_own_waits_for_no_place_at_the_model():
    script = MemoryMind(ScriptedLLM([call("noop"), call("noop")]))
    script.mind.turn_runner.act_alone()
    script.hears("hello")
    script.mind.turn_runner.answer_all()
    alone, asked = [request.caller for request in script.services.gateway.requests]
    assert (alone.background, asked.background) == (True, False)
    assert not alone.may_wait


def test_what_was_overheard_is_in_the_next_prompt_in_its_order():
    model = ScriptedLLM([call("say", text="yes")])
    script = MemoryMind(model)
    script.hears("rain again", addressed=False)
    script.hears("isn't it, Mira?")
    script.mind.turn_runner.answer_all()
    words = [m["content"] for m in model.requests[0].messages if m["role"] == "user"]
    assert words[1] == "Ann says: rain again"
    assert words[-1] == "Ann says: isn't it, Mira?"
    assert len(words) == 4  # the first is the persona, the third the situation
    assert script.mind.states()["rain again"] == "noted"


def test_old_words_expire_with_a_reason_and_are_not_answered():
    model = ScriptedLLM([])
    script = MemoryMind(model)
    script.hears("hello?")
    script.services.clock.advance(301)
    script.mind.turn_runner.answer_all()
    assert script.mind.inbox.rows[0].state == "expired"
    assert script.mind.inbox.rows[0].reason == "too old to answer"
    assert model.requests == []


@pytest.mark.parametrize(
    ("age_s", "present", "told"), [(301, ANN, True), (301, BOB, False), (3_601, ANN, False)]
)
def test_who_is_still_there_is_told_that_words_of_the_last_hour_were_not_heard(
    age_s, present, told
):
    script = MemoryMind(ScriptedLLM())
    script.hears("hello?")
    script.services.world.present = frozenset({present})
    script.services.clock.advance(age_s)
    script.mind.turn_runner.answer_all()
    assert script.status.told == [("unheard", ANN)] * told


def test_who_has_left_is_answered_when_he_comes_back_in_time():
    script = MemoryMind(ScriptedLLM([call("say", text="there you are")]))
    script.services.world.present = frozenset()
    script.hears("wait for me")
    script.mind.turn_runner.answer_all()
    assert script.mind.states() == {"wait for me": "waiting"}
    script.services.world.present = frozenset({ANN})
    script.mind.turn_runner.answer_all()
    assert script.mind.states() == {"wait for me": "answered"}


def test_who_leaves_before_the_model_failed_is_answered_when_he_comes_back():
    failing = Deferred()
    script = MemoryMind(ScriptedLLM([failing, call("say", text="there you are")]))
    script.hears("wait for me")
    script.mind.turn_runner.answer_all()
    script.services.world.present = frozenset()
    failing.callback(ProviderUnavailable("down"))
    assert script.mind.states() == {"wait for me": "waiting"}
    assert [turn.outcome for turn in script.mind.turns.turns] == ["unheard"]
    script.services.world.present = frozenset({ANN})
    script.mind.turn_runner.answer_all()
    assert script.mind.states() == {"wait for me": "answered"}


def test_an_answer_that_may_have_been_heard_before_a_crash_is_closed_by_an_excuse():
    model = ScriptedLLM([])
    script = MemoryMind(model)
    script.settings.profile = ModelProfile("far", client="openai", model="m")  # with a stand-in
    number = script.hears("what did you say?")
    script.mind.inbox.close([number], "doubtful")
    script.mind.turn_runner.answer_all()
    assert script.mind.inbox.rows[0].state == "excused"
    assert [text for _, text, _ in script.services.toolbox.spoken] == ["(fallback)"]
    assert model.requests == []


def test_lines_that_wait_beside_a_doubtful_one_are_answered_after_its_excuse():
    script = MemoryMind(ScriptedLLM([call("say", text="Ale.")]))
    script.hears("what have you?")
    script.mind.inbox.close([script.hears("what did you say?")], "doubtful")
    script.mind.turn_runner.answer_all()
    assert list(script.mind.states().values()) == ["answered", "excused"]
    assert [text for _, text, _ in script.services.toolbox.spoken] == ["(fallback)", "Ale."]


def test_a_second_attempt_finds_its_words_in_the_log_once():
    model = ScriptedLLM([Deferred(), call("say", text="at last")])
    script = MemoryMind(model)
    number = script.hears("hello")
    script.mind.turn_runner.answer_all().addErrback(lambda failure: None)
    script.mind.inbox.close([number], "waiting")
    script.mind.turn_runner.answer_all()
    heard = [m for m in script.conversation.messages if m["role"] == "user"]
    assert len(heard) == 1
    assert script.mind.inbox.rows[0].event.attempts == 2

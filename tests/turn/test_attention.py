"""What waits in the inbox is taken in order and never lost."""

from twisted.internet.defer import Deferred

from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.turn.answer_events import answer_events
from tests.scripted import ScriptedLLM, call

ANN, BOB = "#5", "#6"


def test_lines_of_two_players_are_named_by_one_turn():
    script = StandInScript(ScriptedLLM([call("say", text="Ann, yes. Bob, no.")]))
    script.services.world.present = frozenset({ANN, BOB})
    script.hears("is it late?", ANN, "Ann")
    script.hears("is it early?", BOB, "Bob")
    answer_events(script)
    assert len(script.turns.turns) == 1
    assert set(script.inbox.states().values()) == {"answered"}


def test_a_line_that_comes_while_a_turn_thinks_gets_the_next_one():
    first = Deferred()
    model = ScriptedLLM([first, call("say", text="second")])
    script = StandInScript(model)
    script.hears("one")
    answer_events(script)
    script.hears("two")
    assert script.inbox.states() == {"one": "claimed", "two": "waiting"}
    first.callback(call("say", text="first"))
    assert script.inbox.states() == {"one": "answered", "two": "answered"}
    assert [text for _, text, _ in script.services.toolbox.spoken] == ["first", "second"]


def test_what_was_overheard_is_in_the_next_prompt_in_its_order():
    model = ScriptedLLM([call("say", text="yes")])
    script = StandInScript(model)
    script.hears("rain again", addressed=False)
    script.hears("isn't it, Mira?")
    answer_events(script)
    words = [m["content"] for m in model.requests[0].messages if m["role"] == "user"]
    assert words[1] == "Ann says: rain again"
    assert words[-1] == "Ann says: isn't it, Mira?"
    assert len(words) == 4  # the first is the persona, the third the situation
    assert script.inbox.states()["rain again"] == "noted"


def test_old_words_expire_with_a_reason_and_are_not_answered():
    model = ScriptedLLM([])
    script = StandInScript(model)
    script.hears("hello?")
    script.services.clock.advance(301)
    answer_events(script)
    assert script.inbox.rows[0].state == "expired"
    assert script.inbox.rows[0].reason == "too old to answer"
    assert model.requests == []


def test_who_has_left_is_answered_when_he_comes_back_in_time():
    script = StandInScript(ScriptedLLM([call("say", text="there you are")]))
    script.services.world.present = frozenset()
    script.hears("wait for me")
    answer_events(script)
    assert script.inbox.states() == {"wait for me": "waiting"}
    script.services.world.present = frozenset({ANN})
    answer_events(script)
    assert script.inbox.states() == {"wait for me": "answered"}


def test_an_answer_that_may_have_been_heard_before_a_crash_is_closed_by_an_excuse():
    model = ScriptedLLM([])
    script = StandInScript(model)
    number = script.hears("what did you say?")
    script.inbox.close([number], "doubtful")
    answer_events(script)
    assert script.inbox.rows[0].state == "excused"
    assert [text for _, text, _ in script.services.toolbox.spoken] == ["(fallback)"]
    assert model.requests == []


def test_a_second_attempt_finds_its_words_in_the_log_once():
    model = ScriptedLLM([Deferred(), call("say", text="at last")])
    script = StandInScript(model)
    number = script.hears("hello")
    answer_events(script).addErrback(lambda failure: None)
    script.inbox.close([number], "waiting")
    answer_events(script)
    heard = [m for m in script.conversation.messages if m["role"] == "user"]
    assert len(heard) == 1
    assert script.inbox.rows[0].event.attempts == 2

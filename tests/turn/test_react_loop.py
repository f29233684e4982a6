"""One turn of thought, on the real engine with a scripted model."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.errors import NothingDone, ProviderRejected, ProviderUnavailable, TurnAborted
from evennia_ai.messages import LLMReply
from evennia_ai.policy.conversation.tool_call_rules import GAVE_UP
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

FALLBACK = "(fallback)"


def assistant(*lines, **config):
    model = ScriptedLLM(lines)
    return MemoryMind(model, AssistantConfig(**config)), model


def run(script):
    """Answer what waits; the turns must end by themselves."""
    fired = []
    script.mind.turn_runner.answer_all().addBoth(fired.append)
    assert fired, "the turn did not end"
    if not isinstance(fired[0], int):
        fired[0].raiseException()
    return fired[0]


def said(script):
    return [text for _tool, text, _audience in script.services.toolbox.spoken]


def test_a_tool_call_is_done_and_the_utterance_is_answered():
    script, model = assistant(call("say", text="Hello!"))
    script.hears("hi")
    assert run(script) == 1
    assert said(script) == ["Hello!"]
    assert script.mind.states() == {"hi": "answered"}
    assert len(model.requests) == 1


def test_the_lines_of_a_turn_are_taken_into_memory_after_its_answer():
    sizes = []

    def answer(_request):
        sizes.append(len(script.memories))
        return call("say", text="Hello!")

    script, _ = assistant(answer, answer)
    for line in ("hi", "hi again"):
        script.hears(line)
        run(script)
    assert sizes == [0, 1]
    assert len(script.memories) == 2


def test_plain_text_is_speech_for_models_without_tool_calls():
    script, _ = assistant("<think>who is that?</think>Mira: “Good evening, Ann.”")
    script.hears("hi")
    run(script)
    assert said(script) == ["Good evening, Ann."]
    assert script.conversation.messages[-1]["content"] == "Good evening, Ann."


def test_free_tools_chain_and_the_model_sees_their_results():
    script, model = assistant(call("look", target="door"), call("say", text="It is shut."))
    script.services.toolbox.behaviours["look"] = lambda context, arguments: "a shut door"
    script.hears("is the door open?")
    run(script)
    results = [m for m in model.requests[1].messages if m["role"] == "tool"]
    assert [m["content"] for m in results] == ["a shut door"]
    assert said(script) == ["It is shut."]


def test_an_error_of_a_tool_goes_back_to_the_model_which_may_mend_it():
    def refuse(context, arguments):
        raise NothingDone("You carry no mug.")

    script, model = assistant(call("give", item="mug", to="Ann"), call("say", text="No mug left."))
    script.services.toolbox.behaviours["give"] = refuse
    script.hears("a beer please")
    run(script)
    assert model.requests[1].messages[-1]["content"] == "You carry no mug."
    assert said(script) == ["No mug left."]


def test_an_unknown_tool_is_an_error_result():
    script, model = assistant(call("fly"), call("say", text="I cannot fly."))
    script.hears("fly!")
    run(script)
    assert "There is no tool 'fly'" in model.requests[1].messages[-1]["content"]


def test_the_same_call_again_and_again_stops_the_turn():
    script, model = assistant(*[call("look", target="x")] * 10)
    script.hears("hm")
    run(script)
    assert len(model.requests) == 3
    assert script.mind.states() == {"hm": "excused"}


def test_the_next_prompt_shows_that_a_call_in_a_loop_left_the_line_unanswered():
    script, model = assistant(*[call("look", target="x")] * 3, call("say", text="Yes."))
    script.hears("hm")
    run(script)
    script.hears("well?")
    run(script)
    texts = [str(message["content"]) for message in model.requests[-1].messages]
    assert texts.count(GAVE_UP) == 1
    assert texts.index(GAVE_UP) < next(n for n, text in enumerate(texts) if "well?" in text)
    assert said(script) == [FALLBACK, "Yes."]


def test_a_turn_has_a_maximum_of_model_calls():
    script, model = assistant(*[call("look", target=str(n)) for n in range(10)], max_iterations=4)
    script.hears("hm")
    run(script)
    assert len(model.requests) == 4
    assert said(script) == [FALLBACK]


def test_silence_that_was_chosen_is_noted_with_its_reason():
    script, _ = assistant(call("noop", reason="not for me"))
    script.hears("hm")
    run(script)
    assert script.mind.inbox.rows[0].state == "noted"
    assert script.mind.inbox.rows[0].reason == "it chose silence"
    assert said(script) == []


@pytest.mark.parametrize("empty", ["", "<think>only thoughts", LLMReply("", finish_reason="stop")])
def test_a_reply_with_nothing_in_it_ends_in_the_fallback_line(empty):
    script, _ = assistant(empty)
    script.hears("hi")
    run(script)
    assert said(script) == [FALLBACK]
    assert script.mind.states() == {"hi": "excused"}


@pytest.mark.parametrize("error", [ProviderUnavailable("down"), ProviderRejected("no")])
def test_a_model_that_fails_is_made_good_by_the_fallback_line(error):
    script, _ = assistant(error)
    script.hears("hi")
    run(script)
    assert said(script) == [FALLBACK]
    turn = script.mind.turns.turns[0]
    assert (turn.outcome, turn.detail) == ("excused", f"{error.kind}: {error}")
    assert turn.model_calls[0].error == str(error)


def test_a_failure_after_the_answer_leaves_the_answer_as_it_was():
    script, _ = assistant(call("give", item="mug", to="Ann"), ProviderUnavailable("down"))
    script.hears("a beer")
    run(script)
    assert script.mind.states() == {"a beer": "answered"}
    assert said(script) == []


def test_an_error_of_our_own_never_leaves_the_player_without_a_line():
    script, _ = assistant(lambda request: 1 / 0)
    script.hears("hi")
    run(script)
    assert said(script) == [FALLBACK]
    assert script.mind.turns.turns[0].detail == "internal error: ZeroDivisionError"


def test_every_act_has_its_intent_before_and_its_outcome_after():
    seen = []
    script, _ = assistant(call("say", text="Hello"))
    script.services.toolbox.behaviours["say"] = lambda context, arguments: seen.append(
        [act.state for act in script.mind.turns.acts]
    )
    script.hears("hi")
    run(script)
    assert seen == [["intended"]]
    assert [act.state for act in script.mind.turns.acts] == ["done"]


def test_a_lease_that_was_lost_during_an_act_ends_its_turn_unanswered():
    script, _ = assistant(call("say", text="Hello!"))
    script.services.toolbox.behaviours["say"] = lambda context, a: script.turns.lose_lease()
    script.hears("hi")
    with pytest.raises(TurnAborted):
        run(script)
    assert script.mind.states() == {"hi": "claimed"}
    assert [act.state for act in script.mind.turns.acts] == ["done"]


def test_a_reply_that_comes_after_the_lease_was_lost_does_nothing():
    late = Deferred()
    script, _ = assistant(late)
    script.hears("hi")
    failures = []
    script.mind.turn_runner.answer_all().addErrback(failures.append)
    script.mind.turns.may_go_on = lambda: False
    late.callback(call("say", text="too late"))
    assert said(script) == []
    assert script.mind.turns.acts == []
    assert script.mind.states() == {"hi": "claimed"}
    assert failures[0].type.__name__ == "TurnAborted"


def test_what_a_tool_did_as_the_lease_was_lost_is_kept_and_no_later_call_runs():
    late = Deferred()
    script, _ = assistant([call("look"), call("say", text="too late")])
    script.services.toolbox.behaviours["look"] = lambda context, arguments: late
    script.hears("hi")
    script.mind.turn_runner.answer_all().addErrback(lambda failure: None)
    script.mind.turns.may_go_on = lambda: False
    late.callback("a shut door")
    assert [(act.state, act.result) for act in script.mind.turns.acts] == [("done", "a shut door")]
    assert said(script) == []


def test_the_whole_turn_has_one_deadline():
    script, model = assistant(call("look"), call("say", text="x"), turn_deadline=7.0)
    script.services.toolbox.behaviours["look"] = lambda c, a: script.services.clock.advance(3) or ""
    script.hears("hi")
    run(script)
    assert model.deadlines == [7.0, 7.0]


def no_mug(context, arguments):
    raise NothingDone("You carry no mug.")


HERE_YOU_ARE = (call("give", item="mug", to="Ann"), call("say", text="Here is your mug."))


@pytest.mark.parametrize("reply", [HERE_YOU_ARE, HERE_YOU_ARE[::-1]])
def test_words_of_an_act_that_failed_are_not_said_and_the_model_hears_why(reply):
    script, model = assistant(reply, call("say", text="I have no mug."))
    script.services.toolbox.behaviours["give"] = no_mug
    script.hears("a mug, please")
    run(script)
    assert said(script) == ["I have no mug."]
    assert "You carry no mug." in str(model.requests[1].messages)
    assert "Here is your mug." not in str(model.requests[1].messages)


def test_words_that_were_said_while_the_reply_arrived_are_put_right():
    def arriving(request):
        request.on_call(HERE_YOU_ARE[1])
        return LLMReply("", HERE_YOU_ARE[::-1], "tool_calls")

    script, _ = assistant(arriving, call("say", text="Oh, I have no mug."))
    script.services.toolbox.behaviours["give"] = no_mug
    script.hears("a mug, please")
    run(script)
    assert said(script) == ["Here is your mug.", "Oh, I have no mug."]
    assert script.mind.states() == {"a mug, please": "answered"}

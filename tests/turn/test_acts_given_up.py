"""A tool that does not come to an end: what it may have done is not done again (P2)."""

from dataclasses import replace

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from evennia_ai.errors import OutcomeUnknown, StoreUnavailable, ToolError
from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.conversation.tool_call_rules import ONCE
from evennia_ai.policy.replies import speech
from evennia_ai.ports import ToolSpec
from evennia_ai.turn.react_loop import remember_earlier
from evennia_ai.turn.tool_call_runner import unlogged
from evennia_ai.turn.tool_executor import FAILED, UNKNOWN, failed_call, give_time
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call
from tests.simulation.restart import after_restart

LONG_S = 100


def hang(context, arguments):
    return Deferred()


def script_whose_tool_hangs(name, *lines):
    script = MemoryMind(ScriptedLLM(lines))
    script.services.toolbox.behaviours[name] = hang
    return script


def restart(script):
    """The next process: the same rows, nothing in memory."""
    turns = after_restart(script.turns, script.services.now)
    script.rebuild(turns=turns, log=turns.conversation, inbox=turns.inbox)
    turns.recover_open_turns()


def spoken(script):
    return [text for _, text, _ in script.services.toolbox.spoken]


def test_words_that_may_have_been_heard_are_followed_by_a_short_excuse_only():
    script = script_whose_tool_hangs("say", call("say", text="one"), call("whisper", text="two"))
    script.hears("hello")
    done = script.mind.turn_runner.answer_all()
    script.services.toolbox.behaviours.clear()
    script.services.clock.advance(LONG_S)
    assert done.called
    assert spoken(script) == ["(fallback)"]
    assert script.mind.states() == {"hello": "excused"}
    assert [act.state for act in script.mind.turns.acts] == ["unknown", "done"]


def test_speech_that_hangs_may_have_been_heard_though_its_tool_is_declared_to_change_nothing():
    script, failed = script_whose_tool_hangs("say"), []
    turn = script.mind.turns.begin((), frozenset(), False, "tick")
    context = script.mind.tool_executor.context_for(turn, frozenset(), False, None)
    running = script.mind.tool_executor.perform(
        turn, context, speech.spoken("Hm.", "1"), False, unlogged
    )
    running.addErrback(failed.append)
    script.services.clock.advance(LONG_S)
    assert failed[0].check(OutcomeUnknown)


def test_an_act_that_may_have_been_done_is_not_done_again_in_its_turn():
    given = []
    lines = [call("give", item="mug"), call("give", item="mug"), call("say", text="Well.")]
    script = script_whose_tool_hangs("give", *lines)
    script.hears("a mug, please")
    script.mind.turn_runner.answer_all()
    script.services.toolbox.behaviours["give"] = lambda context, arguments: given.append(1)
    script.services.clock.advance(LONG_S)
    assert given == []
    assert spoken(script) == ["Well."]
    assert [act.state for act in script.mind.turns.acts] == ["unknown", "refused", "done"]


def test_an_act_that_may_have_been_done_is_not_done_again_after_a_crash():
    given = []
    lines = [
        call("give", item="mug"),
        Deferred(),
        call("give", item="mug"),
        call("say", text="So."),
    ]
    script = script_whose_tool_hangs("give", *lines)
    script.hears("a mug, please")
    script.mind.turn_runner.answer_all()
    script.services.clock.advance(LONG_S)
    restart(script)
    script.services.toolbox.behaviours["give"] = lambda context, arguments: given.append(1)
    script.mind.turn_runner.answer_all()
    assert given == []
    assert spoken(script) == ["So."]


@pytest.mark.parametrize("error", [CancelledError(), StoreUnavailable("locked"), ToolError("no")])
def test_an_act_whose_error_came_after_it_began_may_have_been_done(error):
    assert failed_call(error, in_doubt=True).state == UNKNOWN
    assert failed_call(error, in_doubt=False).state == FAILED


def test_a_tool_without_effects_that_hangs_has_failed():
    script = script_whose_tool_hangs("look", call("look"), call("say", text="I see nothing."))
    script.hears("what is here?")
    script.mind.turn_runner.answer_all()
    script.services.clock.advance(LONG_S)
    assert [act.state for act in script.mind.turns.acts] == ["failed", "done"]


def test_when_an_excuse_is_lost_the_answer_is_in_doubt_still():
    script = script_whose_tool_hangs("say", call("say", text="one"))
    script.hears("hello")
    script.mind.turn_runner.answer_all()
    restart(script)
    excused = script.mind.inbox.open_events().doubtful
    script.mind.turns.begin(excused, frozenset({"#5"}), False, "excuse")
    restart(script)
    assert script.mind.states() == {"hello": "doubtful"}


def test_words_that_may_have_been_heard_by_who_left_then_are_not_said_anew():
    script = script_whose_tool_hangs("say", call("say", text="one"), call("say", text="two"))
    script.hears("hello")
    script.mind.turn_runner.answer_all()
    turn = script.mind.turns.turns[0].record
    script.mind.turns.give_back(turn.id)
    assert script.mind.states() == {"hello": "doubtful"}


def test_what_a_stopped_turn_had_under_way_reads_unknown():
    script = script_whose_tool_hangs("say", call("say", text="one"))
    script.hears("hello")
    script.mind.turn_runner.answer_all()
    script.mind.turns.finish(script.mind.turns.current, "expired", "it was stopped")
    assert [act.state for act in script.mind.turns.acts] == ["unknown"]


def test_a_tool_that_ends_in_time_is_not_given_up_later():
    clock, running, given_up, results = Clock(), Deferred(), [], []
    give_time(running, 5.0, clock, lambda: given_up.append(1)).addBoth(results.append)
    running.callback("Done.")
    clock.advance(10.0)
    assert (results, given_up) == (["Done."], [])


def test_an_act_that_may_be_repeated_does_not_bind_the_next_attempt():
    script = script_whose_tool_hangs("give")
    turn = script.mind.turns.begin((), frozenset(), False, "tick")
    acts = tuple(ToolCallRequest(name, name, "{}") for name in ("give", "follow"))
    specs = {
        "give": ToolSpec("give", ONCE, True, False, {}),
        "follow": ToolSpec("follow", ONCE, True, True, {}),
    }
    loop = remember_earlier(replace(turn, done_before=acts), specs)
    assert loop.limited == {"give"}

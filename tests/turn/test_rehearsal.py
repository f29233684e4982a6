"""A dry turn: the real prompt, the real plan, and nothing done or stored."""

import copy
import json

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ProviderUnavailable, TurnAborted
from evennia_ai.messages import IncomingEvent, LLMReply, Usage
from evennia_ai.mind.dry_run import NOT_DONE, run_dry
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call


def assistant(*lines, **config):
    model = ScriptedLLM(lines)
    return MemoryMind(model, AssistantConfig(**config)), model


def line(text="two ales, please", private=False, speaker="#5"):
    kind = "whisper" if private else "say"
    return IncomingEvent(kind, speaker, "Ann", text, frozenset({speaker}), private, addressed=True)


def run(script, heard=None):
    fired = []
    run_dry(script.mind.around, heard or line()).addBoth(fired.append)
    assert fired, "the rehearsal did not end"
    if not hasattr(fired[0], "steps"):
        fired[0].raiseException()
    return fired[0]


def state_of(script):
    return copy.deepcopy(
        (
            script.conversation.messages,
            script.mind.inbox.rows,
            script.mind.turns.turns,
            script.mind.turns.acts,
            script.services.toolbox.spoken,
        )
    )


def wanted(step):
    return [(item.call.name, item.would_be_tried, item.result.text) for item in step.calls]


def test_it_shows_what_would_be_said_and_does_nothing():
    script, model = assistant(call("say", text="Here you are."))
    before = state_of(script)
    result = run(script)
    assert wanted(result.steps[0]) == [("say", True, NOT_DONE)]
    assert result.ended
    assert result.audience == {"#5"}
    assert state_of(script) == before
    assert len(model.requests) == 1


def test_the_prompt_is_that_of_a_real_turn():
    script, model = assistant(call("noop"), call("noop"), call("noop"))
    script.hears("good evening")
    script.mind.turn_runner.answer_all()
    run(script)
    script.hears("two ales, please")
    script.mind.turn_runner.answer_all()
    dry, real = model.requests[1], model.requests[2]
    assert dry.messages == real.messages
    assert dry.tools == real.tools
    assert dry.situation == real.situation
    assert [event.heard for event in dry.events] == [event.heard for event in real.events]
    assert (dry.max_tokens, dry.temperature) == (real.max_tokens, real.temperature)


def test_what_was_overheard_stands_in_the_prompt_and_stays_for_the_real_turn():
    script, model = assistant(call("noop"))
    script.hears("the cellar floods", addressed=False, speaker="#6", name="Ben")
    run(script)
    assert "Ben says: the cellar floods" in [m["content"] for m in model.requests[0].messages]
    assert script.mind.states() == {"the cellar floods": "overheard"}


def test_its_cost_is_recorded_without_a_turn():
    reply = LLMReply("Good evening.", usage=Usage(100, 7), model="big")
    script, _ = assistant(reply)
    result = run(script)
    (cost,) = script.mind.turns.loose_calls
    assert (cost.purpose, cost.usage, cost.model) == ("rehearsal", Usage(100, 7), "big")
    assert cost.estimated_tokens > 50
    assert result.steps[0].cost == cost
    assert script.mind.turns.turns == []


def test_plain_text_is_shown_as_it_would_be_spoken():
    script, _ = assistant("<think>who?</think>Mira: “Good |revening.”")
    result = run(script)
    assert json.loads(result.steps[0].calls[0].call.arguments) == {"text": "Good |revening."}
    assert result.ended


def test_what_is_not_done_is_fed_back_once():
    script, model = assistant(call("look"), call("look", target="x"), call("say", text="never"))
    result = run(script)
    assert len(result.steps) == 2
    assert not result.ended
    results = [m for m in model.requests[1].messages if m["role"] == "tool"]
    assert [m["content"] for m in results] == [NOT_DONE]
    assert model.requests[1].messages[-1]["role"] == "tool"


def test_what_only_reads_is_really_read():
    script, model = assistant(call("look", target="door"), call("say", text="It is shut."))
    script.services.toolbox.reading = {"look"}
    script.services.toolbox.behaviours["look"] = lambda context, arguments: "a shut door"
    run(script)
    results = [m for m in model.requests[1].messages if m["role"] == "tool"]
    assert [m["content"] for m in results] == ["a shut door"]


def test_a_game_that_allows_one_model_call_gets_one():
    script, _ = assistant(call("look"), max_iterations=1)
    assert len(run(script).steps) == 1


def test_what_would_be_refused_is_told_with_its_reason():
    script, model = assistant(
        (call("fly", to="moon"), call("give", item="a", to="b"), call("give", item="c", to="d")),
        call("say", text="No."),
    )
    result = run(script)
    first = wanted(result.steps[0])
    assert first[0] == ("fly", False, "There is no tool 'fly'.")
    assert first[1] == ("give", True, NOT_DONE)
    assert first[2][:2] == ("give", False)
    assert "it was not done again" in first[2][2]
    fed_back = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert fed_back[0] == "There is no tool 'fly'."


def test_a_whisper_is_for_its_speaker_alone():
    script, model = assistant(call("whisper", text="Hush."))
    script.services.world.present = frozenset({"#5", "#6"})
    seen, real = [], script.services.toolbox.run

    def watched(context, wanted, dry=False):
        seen.append((context.whispered, context.audience, dry))
        return real(context, wanted, dry)

    script.services.toolbox.run = watched
    result = run(script, line(private=True))
    assert result.audience == {"#5"}
    assert seen == [(True, {"#5"}, True)]
    assert model.requests[0].events[0].heard.private


def test_what_somebody_present_may_not_know_is_not_in_the_prompt():
    script, model = assistant(call("noop"), call("noop"))
    script.whispered("the safe is open")
    script.mind.turn_runner.answer_all()
    script.services.world.present = frozenset({"#5", "#6"})
    run(script)
    assert "the safe is open" not in repr(model.requests[1].messages)


def test_a_speaker_who_stands_elsewhere_counts_as_present():
    script, _ = assistant(call("noop"))
    script.services.world.present = frozenset({"#6"})
    assert run(script).audience == {"#5", "#6"}


def test_an_error_of_the_model_is_told_and_recorded():
    script, _ = assistant(ProviderUnavailable("Nothing listens there."))
    result = run(script)
    assert (result.steps, result.problem) == ((), "Nothing listens there.")
    assert script.mind.turns.loose_calls[0].error_kind == "unavailable"


def test_an_error_after_the_first_step_leaves_the_first():
    script, _ = assistant(call("look"), ProviderUnavailable("down"))
    result = run(script)
    assert (len(result.steps), result.problem) == (1, "down")


def test_a_reply_for_an_assistant_that_is_gone_is_dropped_uncounted():
    late = Deferred()
    script, _ = assistant(late)
    alive = [True]
    failures = []
    run_dry(script.mind.around, line(), lambda: alive[0]).addErrback(failures.append)
    alive[0] = False
    late.callback("too late")
    assert failures[0].check(TurnAborted)
    assert script.mind.turns.loose_calls == []


def test_the_deadline_is_that_of_a_turn():
    script, model = assistant(call("look"), call("noop"), turn_deadline=7.0)
    run(script)
    assert model.deadlines == [7.0, 7.0]


@pytest.mark.parametrize("empty", ["", "<think>only thoughts"])
def test_a_reply_with_nothing_in_it_is_shown_as_such(empty):
    script, _ = assistant(empty)
    result = run(script)
    assert result.steps[0].calls == ()


@pytest.mark.parametrize("words", ['{"act": "none"}', "As an AI language model, I cannot say."])
def test_words_that_would_not_be_spoken_are_told_and_asked_for_again(words):
    for bad in (words, call("say", text=words)):
        script, model = assistant(bad, call("say", text="Good evening."))
        script.mind.settings.profile = ModelProfile("far", client="openai", model="m")
        result = run(script)
        (refused,), (said,) = (step.calls for step in result.steps)
        assert (refused.would_be_tried, said.would_be_tried) == (False, True)
        assert result.steps[0].refused == refused.result.text
        assert refused.result.text in str(model.requests[1].messages)
        assert words not in str(model.requests[1].messages)
        assert result.ended

"""Excuses: who may hear them, and that no model reads them."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import Busy, OutcomeUnknown, ProviderUnavailable
from evennia_ai.policy.conversation.batching import MAX_ATTEMPTS
from evennia_ai.sleep.compaction.compact import compact_conversation_history
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ANN, BOB = "#5", "#6"
SECRET = "the gold is under the stone"


@pytest.fixture
def script():
    """Ann has whispered something, and then asks aloud while nobody else is there."""
    script = MemoryMind(ScriptedLLM([call("whisper", text="I keep it.")]))
    script.mind.settings.profile = ModelProfile("far", client="openai", model="m")
    script.whispered(SECRET)
    script.mind.turn_runner.answer_all()
    script.hears("what did I tell you?")
    return script


def contexts_of_speech(script):
    """The contexts in which it will speak from now on."""
    seen = []
    script.services.toolbox.behaviours["say"] = lambda context, arguments: seen.append(context)
    return seen


def test_who_comes_in_while_the_stand_in_thinks_is_not_among_those_who_may_hear(script):
    spare = Deferred()
    script.services.gateway.add(ProviderUnavailable("down"), spare)
    seen = contexts_of_speech(script)
    script.mind.turn_runner.answer_all()
    script.services.world.present = frozenset({ANN, BOB})
    spare.callback(f"You told me that {SECRET}.")
    assert [(context.audience, context.private) for context in seen] == [(frozenset({ANN}), True)]


def test_a_line_that_no_prompt_led_to_is_for_everybody_who_is_there(script):
    failed = Deferred()
    script.services.gateway.add(failed, ProviderUnavailable("down"))
    seen = contexts_of_speech(script)
    script.mind.turn_runner.answer_all()
    script.services.world.present = frozenset({ANN, BOB})
    failed.callback(ProviderUnavailable("down"))
    expected = [(frozenset({ANN, BOB}), False)]
    assert [(context.audience, context.private) for context in seen] == expected


def failing(kind=ProviderUnavailable, lines=1, **settings):
    """An assistant whose model failed for some lines of Ann's, and what it said to them."""
    model = ScriptedLLM([kind("down") for _ in range(lines)])
    script = MemoryMind(model, AssistantConfig(**settings))
    script.mind.settings.profile = ModelProfile(
        "own", client="offline", model="offline"
    )  # so nobody stands in
    script.services.text = lambda key: f"{key} a\n{key} b\n\n{key} c"
    script.rebuild()
    for number in range(lines):
        script.hears(f"line {number}, Mira?")
        script.mind.turn_runner.answer_all()
    return script, [text for _, text, _ in script.services.toolbox.spoken]


def test_who_may_have_heard_an_answer_gets_no_other(script):
    script.services.text = lambda key: key
    script.services.gateway.add(call("say", text="It is ten."))
    spoken = []

    def say(context, arguments):
        spoken.append(arguments["text"])
        if spoken == ["It is ten."]:
            raise OutcomeUnknown("say came to no end")

    script.services.toolbox.behaviours["say"] = say
    asked = len(script.services.gateway.requests)
    script.mind.turn_runner.answer_all()
    assert spoken == ["It is ten.", "fallback"]
    assert len(script.services.gateway.requests) == asked + 1


def test_a_line_that_was_tried_too_often_asks_no_model():
    script, _said = failing(lines=0)
    script.hears("Mira?")
    (row,) = script.mind.inbox.rows
    row.event = replace(row.event, attempts=MAX_ATTEMPTS)
    script.mind.turn_runner.answer_all()
    assert not script.services.gateway.requests
    assert [text for _, text, _ in script.services.toolbox.spoken] == ["fallback a"]


@pytest.mark.parametrize(("kind", "key"), [(ProviderUnavailable, "fallback"), (Busy, "busy")])
def test_the_games_lines_take_turns(kind, key):
    _script, said = failing(kind, 5)
    assert said == [f"{key} {variant}" for variant in "abcab"]


def test_a_builders_own_line_is_one_text():
    assert failing(lines=2, fallback_line="One\ntext")[1] == ["One\ntext"] * 2


def test_an_excuse_is_logged_as_one_and_is_in_no_prompt():
    script, (said,) = failing()
    assert [m["content"] for m in script.conversation.current.excuses] == [said]
    assert script.conversation.messages[-1]["metadata"]["type"] == "excuse"
    script.services.gateway.add(call("say", text="Yes."))
    script.hears("Mira, again?")
    script.mind.turn_runner.answer_all()
    assert said not in str(script.services.gateway.requests[-1].messages)


def test_an_excuse_to_a_whisper_is_told_and_stored_in_private():
    script, _said = failing(lines=0)
    script.services.gateway.add(ProviderUnavailable("down"))
    seen = contexts_of_speech(script)
    script.whispered(SECRET)
    script.mind.turn_runner.answer_all()
    assert [context.private for context in seen] == [True]
    assert script.conversation.messages[-1]["metadata"]["private"]


def test_an_excuse_is_in_no_summary():
    script, said = failing(lines=8, max_context_tokens=2_000, max_reply_tokens=100)
    for number in range(12):
        script.hears(f"word {number} " + "and so on " * 20, addressed=False)
    script.services.gateway.add(call("noop"))
    script.hears("Well?")
    script.mind.turn_runner.answer_all()
    script.services.gateway.add(*["Ann asked eight things."] * 3)
    done = []
    compact_conversation_history(script, script, True, keep_recent=2).addBoth(done.append)
    assert done[0]["success"] is True
    asked = str(script.services.gateway.requests[-1].messages)
    assert "word 3" in asked
    assert not any(line in asked for line in said)

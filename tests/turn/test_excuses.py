"""Words that stand in for an answer keep confidences as answers do (P9)."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.testing.scripted import ScriptedLLM, call
from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.turn.answer_events import answer_events

ANN, BOB = "#5", "#6"
SECRET = "the gold is under the stone"


@pytest.fixture
def script():
    """Ann has whispered something, and then asks aloud while nobody else is there."""
    script = StandInScript(ScriptedLLM([call("whisper", text="I keep it.")]))
    script.profile = ModelProfile("far", client="openai", model="m")
    script.whispered(SECRET)
    answer_events(script)
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
    answer_events(script)
    script.services.world.present = frozenset({ANN, BOB})
    spare.callback(f"You told me that {SECRET}.")
    assert [(context.audience, context.private) for context in seen] == [(frozenset({ANN}), True)]


def test_a_line_that_no_prompt_led_to_is_for_everybody_who_is_there(script):
    failed = Deferred()
    script.services.gateway.add(failed, ProviderUnavailable("down"))
    seen = contexts_of_speech(script)
    answer_events(script)
    script.services.world.present = frozenset({ANN, BOB})
    failed.callback(ProviderUnavailable("down"))
    expected = [(frozenset({ANN, BOB}), False)]
    assert [(context.audience, context.private) for context in seen] == expected

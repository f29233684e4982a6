"""Calls of a reply that run while the rest of it is still arriving."""

import json

import pytest
from twisted.internet.defer import Deferred, fail

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import LLMReply, ToolCallRequest, Usage
from evennia_ai.testing.scripted import ScriptedLLM, call
from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.turn.answer_events import answer_events


def say(text):
    """A sentence of one speech: all have its id."""
    return ToolCallRequest("a", "say", json.dumps({"text": text}))


def streamed(early, *calls, **reply):
    """A reply whose first ``early`` calls arrive before its end."""

    def answer(request):
        for each in calls[:early]:
            request.on_call(each)
        return LLMReply("", calls, **reply)

    return answer


def breaks_off(*calls):
    def answer(request):
        for each in calls:
            request.on_call(each)
        return fail(ProviderUnavailable("it broke off", begun=True))

    return answer


def play(*lines):
    script = StandInScript(ScriptedLLM(lines))
    script.profile = ModelProfile("p", client="openai", model="stub")
    script.hears("hi")
    answer_events(script)
    return script


def said(script):
    return [text for _tool, text, _audience in script.services.toolbox.spoken]


def acts(script):
    return [(act.call.name, act.state) for act in script.turns.acts]


@pytest.mark.parametrize("early", [0, 1, 2, 3])
def test_each_sentence_is_said_once_and_in_its_order_whenever_it_arrives(early):
    sentences = ["Good evening, Ann.", "What will it be?", "Ale?"]
    script = play(streamed(early, *map(say, sentences)))
    assert said(script) == sentences
    assert len({act.call.id for act in script.turns.acts}) == 3
    assert script.inbox.states() == {"hi": "answered"}


def test_words_are_heard_before_the_reply_has_ended():
    rest = Deferred()

    def answer(request):
        request.on_call(say("Good evening."))
        return rest

    script = play(answer)
    assert said(script) == ["Good evening."]
    assert script.inbox.states() == {"hi": "claimed"}
    rest.callback(LLMReply("", (say("Good evening."),)))
    assert said(script) == ["Good evening."]
    assert script.inbox.states() == {"hi": "answered"}


def test_a_reply_that_breaks_off_after_words_were_spoken_gets_no_excuse():
    script = play(breaks_off(say("Good evening.")))
    assert said(script) == ["Good evening."]
    assert script.inbox.states() == {"hi": "answered"}
    assert script.turns.turns[0].detail.startswith("cut short: ")


def test_a_full_window_reported_at_the_end_repeats_no_words_that_were_spoken():
    full = Usage(10**6, 5)
    script = play(streamed(1, say("Good evening."), usage=full), call("say", text="never"))
    assert said(script) == ["Good evening."]
    assert acts(script) == [("say", "done")]
    assert len(script.services.gateway.requests) == 1
    assert script.inbox.states() == {"hi": "answered"}


def test_words_that_are_refused_while_they_arrive_end_the_reply():
    label = say("say({'text': 'hello'})")
    script = play(streamed(2, label, say("More.")), call("say", text="Hello, Ann."))
    assert said(script) == ["Hello, Ann."]
    assert acts(script) == [("say", "refused"), ("say", "done")]
    assert "was not spoken" in script.services.gateway.requests[1].messages[-1]["content"]

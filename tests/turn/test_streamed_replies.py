"""A reply that arrives in parts: each finished sentence is said once, and only while it may be."""

import json

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import NothingDone, ProviderUnavailable
from evennia_ai.messages import Delta, LLMReply, ToolCallRequest, Usage, make_message
from evennia_ai.policy.tool_call_modes.form import PLAIN, TOOLS
from tests.minds import MemoryMind
from tests.reading import ReplyClient

FIRST, SECOND, THIRD = "The ferry leaves at noon today.", "Bring two coins.", "And mind the dog."
SPEECH = f"{FIRST} {SECOND} {THIRD}"


class Streaming:
    """A model whose replies a test sends in parts, and a stand-in that says nothing."""

    def __init__(self):
        self.requests, self.replies = [], []
        self.stand_in = succeed(LLMReply(""))

    def complete(self, request, profile, deadline_at=None):
        if profile.client == "offline":
            return self.stand_in
        self.requests.append(request)
        self.replies.append(Deferred())
        return self.replies[-1]

    def send(self, text="", index=None, name=""):
        delta = Delta(text) if index is None else Delta("", index, name, text)
        self.requests[-1].on_delta(delta)

    def end(self, content="", *calls, **more):
        calls = tuple(ToolCallRequest(f"c{n}", *call) for n, call in enumerate(calls))
        self.replies[-1].callback(LLMReply(content, calls, **more))

    def fail(self, error):
        self.replies[-1].errback(error)


def assistant(form=TOOLS, **config):
    model = Streaming()
    gateway = ReplyClient(model, lambda function, *args: function(*args))
    script = MemoryMind(gateway, AssistantConfig(**config))
    script.mind.settings.profile = ModelProfile("p", client="openai", model="m", form=form)
    script.hears("when does the ferry leave?")
    ended = script.mind.turn_runner.answer_all()
    return script, model, ended


def said(script):
    return [text for _tool, text, _audience in script.services.toolbox.spoken]


def arguments(text):
    return json.dumps({"text": text})


def test_sentences_are_said_before_the_reply_has_ended_and_once():
    script, model, ended = assistant()
    for character in arguments(SPEECH):
        model.send(character, 0, "say")
    assert said(script)[:2] == [FIRST, SECOND] and not ended.called
    model.end("", ("say", arguments(SPEECH)))
    assert said(script) == [FIRST, SECOND, THIRD]
    assert ended.called and set(script.mind.states().values()) == {"answered"}


def test_plain_words_wait_for_the_end_and_are_said_once():
    script, model, ended = assistant(PLAIN)
    for character in SPEECH:
        model.send(character)
    assert said(script) == []
    model.end(SPEECH)
    assert said(script) == [SPEECH]
    assert ended.called and set(script.mind.states().values()) == {"answered"}


def test_a_stream_that_breaks_after_a_sentence_has_answered():
    script, model, ended = assistant()
    model.send(arguments(SPEECH)[:-25], 0, "say")
    model.fail(ProviderUnavailable("it broke", begun=True))
    assert said(script) == [FIRST]
    assert ended.called and set(script.mind.states().values()) == {"answered"}


def test_what_arrives_after_the_deadline_is_not_said_beside_the_excuse():
    script, model, ended = assistant()
    view, model.stand_in = Deferred(), Deferred()
    script.services.toolbox.behaviours["look"] = lambda context, arguments: view
    model.send("{}", 0, "look")
    model.send(arguments(SPEECH)[:20], 1, "say")
    model.fail(ProviderUnavailable("too late", begun=True))
    model.send(arguments(SPEECH)[20:], 1, "say")
    view.callback("a shut door")
    model.stand_in.callback(LLMReply(""))
    assert ended.called and said(script) == ["(fallback)"]


def test_without_its_beginning_a_speech_is_not_said():
    def refuse(context, arguments):
        raise NothingDone("You carry no mug.")

    script, model, _ended = assistant()
    script.services.toolbox.behaviours["give"] = refuse
    given = json.dumps({"item": "mug", "to": "Ann"})
    model.send(given, 0, "give")
    model.send(arguments(SPEECH), 1, "say")
    model.end("", ("give", given), ("say", arguments(SPEECH)))
    assert said(script) == []
    assert len(model.requests) == 2


def test_a_reply_of_which_something_was_said_is_not_asked_for_again_for_its_size():
    script, model, ended = assistant(max_context_tokens=10_000)
    vars(script.mind.emergency)["on_overflow"] = lambda: succeed(True)  # it is frozen
    model.send(arguments(SPEECH), 0, "say")
    model.end("", ("say", arguments(SPEECH)), usage=Usage(20_000, 10))
    assert len(model.requests) == 1
    assert ended.called and said(script)[0] == FIRST


def test_better_words_are_said_though_the_act_before_them_is_done():
    script, model, _ended = assistant()
    script.services.toolbox.behaviours["give"] = lambda context, arguments: "You gave it."
    given = ("give", json.dumps({"item": "mug", "to": "Ann"}))
    model.end("", given, ("say", arguments("```nails```")))
    assert len(model.requests) == 2
    model.end("", given, ("say", arguments("Here you are.")))
    assert said(script) == ["Here you are."]
    names = [(act.call.name, act.state) for act in script.mind.turns.acts]
    assert names == [("give", "done"), ("say", "refused"), ("give", "refused"), ("say", "done")]
    assert "nails" not in json.dumps(model.requests[1].messages)


def test_a_text_that_is_not_streamed_calls_nobody_by_the_own_name():
    script, model, _ended = assistant(PLAIN)
    model.end("Good evening, Mira.")
    assert said(script) == ["Good evening."]


def test_a_gesture_shows_nothing_but_words():
    script, model, _ended = assistant()
    model.end("", ("emote", arguments('{"name": "emote"} and nods')))
    assert [act.state for act in script.mind.turns.acts] == ["refused"]
    assert len(model.requests) == 2


def test_a_line_of_somebody_who_has_left_is_not_said():
    script, model, _ended = assistant(PLAIN)
    script.conversation.append([make_message("user", "Old Cleo says: I want my mare back.")])
    model.end("")
    script.hears("what did Cleo want?")
    script.mind.turn_runner.answer_all()
    model.end("Old Cleo says: I want my mare back.")
    assert script.mind.turns.acts[-1].state == "refused"

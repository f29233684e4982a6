"""Raw replies become tool calls on their way from a client, early ones among them."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.llm.endpoints import ReplyClient
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.conversation.character import Persona
from evennia_ai.ports import Caller, Delta, LLMRequest, Scene, Situation

PROFILE = ModelProfile("far", client="openai", model="m")
SEEN = Situation(things=("a mug",), exits=("yard",))
ANSWER = '{"act": "give", "target": "mug", "say": "Take it, and mind the glass. It is hot."}'
NAMES = ["get", "give", "say"]


class Raw:
    """A client that streams a text in two parts, if asked to, and returns it whole."""

    def __init__(self, *deltas, content=ANSWER, calls=()):
        half = content.index("It is") + 1 if content else 0
        self.deltas = deltas or (Delta(content[:half]), Delta(content[half:]))
        self.content, self.calls = content, calls
        self.request = None

    def complete(self, request, profile):
        self.request = request
        for delta in self.deltas if request.on_delta else ():
            request.on_delta(delta)
        return succeed(LLMReply(self.content, self.calls))


def ask(raw, form="schema", profile=PROFILE, **fields):
    """The reply, and the calls in the order in which they would reach the game."""
    handed, early = [], []
    client = ReplyClient(raw, lambda f, *args: handed.append((f, args)))
    scene = Scene("Mira", Persona(), (), SEEN)
    request = LLMRequest([], scene, form=form, addressee="Ann", on_call=early.append, **fields)
    replies = []
    client.complete(request, profile).addCallback(replies.append)
    assert early == []  # only in the game's own thread
    for function, args in handed:
        function(*args)
    return replies[0], early


def test_calls_that_are_finished_reach_the_game_before_the_reply_ends():
    reply, early = ask(Raw())
    assert [call.name for call in early] == [*NAMES, "say"]
    assert list(reply.tool_calls) == early


def test_native_calls_are_read_too():
    deltas = [Delta(tool_index=0, tool_name="say", arguments='{"text": "Aye."}')]
    calls = (ToolCallRequest("a", "say", '{"text": "Aye."}'),)
    reply, early = ask(Raw(*deltas, content="", calls=calls), form="tools")
    assert early == []
    assert [call.name for call in reply.tool_calls] == ["say"]


@pytest.mark.parametrize("how", ["profile", "request", "endpoint"])
def test_without_a_stream_all_calls_come_at_the_end(how):
    raw = Raw()
    if how == "profile":
        profile = ModelProfile("far", client="openai", model="m", stream=False)
        reply, early = ask(raw, profile=profile)
    elif how == "request":
        client = ReplyClient(raw, lambda f, *args: pytest.fail("nobody asked for early calls"))
        scene = Scene("Mira", Persona(), (), SEEN)
        replies, early = [], []
        request = LLMRequest([], scene, form="schema", addressee="Ann")
        client.complete(request, PROFILE).addCallback(replies.append)
        (reply,) = replies
    else:
        raw.deltas = ()
        reply, early = ask(raw)
    assert (raw.request.on_delta is None) == (how != "endpoint")
    assert early == []
    assert [call.name for call in reply.tool_calls] == NAMES


def test_an_error_stays_an_error():
    class Failing:
        def complete(self, request, profile):
            failing = Deferred()
            failing.errback(ValueError("no"))
            return failing

    client, failures = ReplyClient(Failing(), lambda *args: None), []
    request = LLMRequest([], Scene("Mira", Persona(), ()))
    client.complete(request, PROFILE).addErrback(failures.append)
    assert failures[0].check(ValueError)


def sent_extra(assistant, game="Castle"):
    """The extra entries of the request of an assistant."""
    raw, asked = Raw(), []
    raw.complete = lambda request, profile: asked.append(profile.extra) or succeed(LLMReply(""))
    extra = {"metadata": {"session_id": "{character}"}, "user": "{character}", "n": 1}
    request = LLMRequest([], Scene("Mira", Persona(), ()), caller=Caller(assistant))
    ReplyClient(raw, None, game).complete(request, replace(PROFILE, extra=extra))
    return asked[0]


def test_a_profile_may_send_which_character_asks_under_a_pseudonym():
    sent = sent_extra("7")
    who = sent["user"]
    assert sent == {"metadata": {"session_id": who}, "user": who, "n": 1}
    assert len(who) == 24 and who == sent_extra("7")["user"]
    assert len({who, sent_extra("8")["user"], sent_extra("7", "Keep")["user"]}) == 3

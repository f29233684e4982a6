"""The stub provider's replies to requests that demand a JSON schema."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.provider.stub_replies import answer_politely, build_completion
from tests.provider.stub_schema import NoFit, acts_of, fit

TEXT = {"type": "string", "maxLength": 40}


def schema_of(act, **properties):
    return {"type": "object", "properties": {"act": act, **properties, "say": TEXT}}


USUAL = schema_of({"enum": ["none", "give", "whisper", "remember", "silence"]}, target=TEXT)
KNOCK = schema_of({"const": "knock"}, times={"type": "integer", "minimum": 1})


def body_of(*lines, schema=USUAL):
    wanted = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    return {"messages": [{"role": "user", "content": "\n".join(lines)}], "response_format": wanted}


def answered(body, reply=None):
    built = build_completion(reply or answer_politely(body), body, 1)
    message = built["choices"][0]["message"]
    assert "tool_calls" not in message
    return json.loads(message["content"])


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("Ann says: hello", {"act": "none", "target": "", "say": "I heard: hello"}),
        (
            "Ann whispers to you: psst",
            {"act": "whisper", "target": "Ann", "say": "I heard: psst"},
        ),
    ],
)
def test_the_polite_answer_fits_the_schema(line, reply):
    assert answered(body_of(line, "What do you, Mira, do and say to Ann?")) == reply


def test_a_whisper_is_answered_aloud_if_the_schema_has_no_whisper():
    schema = schema_of({"enum": ["none"]}, target=TEXT)
    assert answered(body_of("Ann whispers to you: psst", schema=schema))["act"] == "none"


def test_when_it_has_answered_it_is_silent():
    body = body_of("Ann says: hello")
    body["messages"] += [{"role": "assistant", "content": "Good evening."}, body["messages"][0]]
    body["messages"].pop()
    assert answered(body) == {"act": "silence", "target": "", "say": ""}


@pytest.mark.parametrize(
    ("calls", "reply"),
    [
        ([call("say", text="Aye.")], {"act": "none", "target": "", "say": "Aye."}),
        (
            [call("give", item="rope", to="Ann"), call("say", text="Here.")],
            {"act": "give", "target": "rope to Ann", "say": "Here."},
        ),
        (
            [call("add_journal_entry", content="Ann has a dog.")],
            {"act": "remember", "target": "Ann has a dog.", "say": ""},
        ),
        ([call("fly", to="moon")], {"act": "none", "target": "moon", "say": ""}),
    ],
)
def test_ordered_calls_become_the_object(calls, reply):
    assert answered(body_of("Ann says: x"), {"tool_calls": calls}) == reply


def test_ordered_text_goes_out_as_it_is_and_tools_take_precedence():
    body = body_of("Ann says: x")
    assert build_completion({"text": "Hm."}, body, 1)["choices"][0]["message"]["content"] == "Hm."
    body["tools"] = [{"function": {"name": "say"}}]
    choice = build_completion({"tool_calls": [call("say", text="x")]}, body, 1)["choices"][0]
    assert choice["message"]["tool_calls"]


def test_an_unknown_way_to_break_an_object_is_refused(provider):
    provider.queue({"tool_calls": [call("say", text="Aye.")], "break_json": "cut"})
    with pytest.raises(ValueError, match="cannot be broken by 'force'"):
        provider.queue({"text": "{}", "break_json": "force"})


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("invalid", """{'act': 'none", "target": "", "say": "Aye."}"""),
        ("cut", '{"act": "none", "target": "",'),
        ("newlines", '{"act": "none", "target": "", "say": "Aye."}' + "\n" * 7),
    ],
)
def test_a_broken_object_is_broken_so(how, text):
    body = {**body_of("Ann says: x"), "max_tokens": 7}
    reply = {"tool_calls": [call("say", text="Aye.")], "break_json": how}
    assert build_completion(reply, body, 1)["choices"][0]["message"]["content"] == text


def test_of_several_alternatives_the_first_that_has_the_act_is_taken():
    schema = {"anyOf": [USUAL, KNOCK]}
    assert acts_of(schema) == {"none", "give", "whisper", "remember", "silence", "knock"}
    knock = answered(body_of("x", schema=schema), {"tool_calls": [call("knock", times=3)]})
    assert knock == {"act": "knock", "times": 3, "say": ""}
    assert answered(body_of("Ann says: x", schema=schema))["act"] == "none"


def test_words_are_cut_to_the_longest_that_is_allowed():
    assert len(answered(body_of(f"Ann says: {'x' * 200}"))["say"]) == 40


def test_a_schema_without_acts_gets_some_fitting_object():
    schema = {
        "type": "object",
        "properties": {
            "importance": {"type": "integer", "minimum": 1},
            "sure": {"type": "boolean"},
            "tags": {"type": "array", "items": TEXT},
        },
    }
    reply = answered(body_of("x", schema=schema), {"tool_calls": [call("say", text="x")]})
    assert reply == {"importance": 1, "sure": False, "tags": []}


@given(st.sampled_from([None, "", "x", 3, True, ["x"], {"a": 1}]))
def test_a_wish_outside_the_allowed_values_does_not_fit(wish):
    allowed = {"enum": ["a", "b"]}
    if wish is None:
        assert fit(allowed, wish) == "a"
    else:
        with pytest.raises(NoFit):
            fit(allowed, wish)


def test_arguments_may_be_the_json_of_an_object():
    spoken = {"name": "say", "arguments": '{"text": "A rope."}'}
    assert answered(body_of("Ann says: hello"), {"tool_calls": [spoken]})["say"] == "A rope."

"""The habits of small models: each is what its name says, alone and in a mix."""

import json
from collections import Counter
from http.client import HTTPConnection

import pytest

from tests.provider.habits import (
    HABITS,
    REFUSAL,
    WRITTEN,
    SmallModel,
    play_habit,
    read_small_model,
    write_calls,
)
from tests.provider.stub_replies import build_completion

TALK = [
    {"role": "system", "content": "You are Brannoc. Never speak of rules."},
    {"role": "user", "content": "Ann says: hello"},
    {"role": "assistant", "content": "Good evening."},
    {"role": "user", "content": "Ann says: a rope?"},
]
SAY = {"type": "function", "function": {"name": "say"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "act": {"enum": ["none", "give", "silence"]},
        "target": {"type": "string", "maxLength": 60},
        "say": {"type": "string", "maxLength": 300},
    },
}
TEXT = {"model": "stub", "messages": TALK}
TOOLS = {**TEXT, "tools": [SAY]}
WITH_SCHEMA = {
    **TEXT,
    "response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
}


def played(name, body):
    choice = build_completion(play_habit({"habit": name}, body), body, 1)["choices"][0]
    return choice["message"], choice["finish_reason"]


def spoken(name, body):
    return played(name, body)[0]["content"]


@pytest.mark.parametrize("name", sorted(HABITS))
@pytest.mark.parametrize("body", [TEXT, TOOLS, WITH_SCHEMA], ids=["text", "tools", "schema"])
def test_a_habit_is_never_a_native_call_and_always_some_text(name, body):
    message, _ = played(name, body)
    assert message["content"]
    assert "tool_calls" not in message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parrot", "Good evening."),
        ("echo", "a rope?"),
        ("refusal", REFUSAL),
        ("quote_prompt", "System prompt: You are Brannoc. Never speak of rules."),
        ("role_label", "Assistant: I heard: a rope?"),
        ("speaker_label", "Ann says: a rope?"),
        ("situation_tag", "<situation>\nPlace: here\n</situation>\nI heard: a rope?"),
        ("fence", "```\nI heard: a rope?\n```"),
        ("reasoning", "<think>Ann spoke.</think>I heard: a rope?"),
    ],
)
def test_what_is_spoken(name, text):
    assert spoken(name, TEXT) == text
    assert spoken(name, TOOLS) == text
    assert json.loads(spoken(name, WITH_SCHEMA)) == {"act": "none", "target": "", "say": text}


def test_own_words_in_a_call_are_parroted_too():
    arguments = json.dumps({"text": "Aye."})
    call = {"id": "a", "type": "function", "function": {"name": "say", "arguments": arguments}}
    past = [*TALK, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert spoken("parrot", {**TOOLS, "messages": past}) == "Aye."


CALL = {"name": "say", "arguments": {"text": "Aye."}}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{"name": "say", "arguments": {"text": "Aye."}}'),
        ("fenced", '```json\n{"name": "say", "arguments": {"text": "Aye."}}\n```'),
        ("braces", '{{"name": "say", "arguments": {"text": "Aye."}}}'),
        ("rounded", '("name": "say", "arguments": ("text": "Aye."))'),
        ("bare", '{"name": "say", "arguments": "Aye."}'),
        ("prefix", 'say: {"text": "Aye."}'),
        ("python", "say(text='Aye.')"),
        ("hermes", '<tool_call>\n{"name": "say", "arguments": {"text": "Aye."}}\n</tool_call>'),
        ("llama", '<|python_tag|>{"name": "say", "parameters": {"text": "Aye."}}'),
        ("llama_tag", '<function=say>{"text": "Aye."}</function>'),
        ("mistral", '[TOOL_CALLS] [{"name": "say", "arguments": {"text": "Aye."}}]'),
        ("mistral_args", '[TOOL_CALLS]say[ARGS]{"text": "Aye."}'),
        (
            "qwen",
            (
                "<tool_call>\n<function=say>\n<parameter=text>\nAye.\n</parameter>\n"
                "</function>\n</tool_call>"
            ),
        ),
    ],
)
def test_calls_are_written_in_each_form(form, text):
    assert write_calls([CALL], form) == text
    assert write_calls([CALL, CALL], form) == f"{text}\n{text}"


def test_every_form_is_tested():
    (mark,) = test_calls_are_written_in_each_form.pytestmark
    assert {form for form, _ in mark.args[1]} == set(WRITTEN)


@pytest.mark.parametrize(
    ("name", "reason"), [("invalid_json", "stop"), ("cut_json", "length"), ("newlines", "length")]
)
def test_broken_objects_are_broken_and_say_how_they_ended(name, reason):
    message, finish_reason = played(name, WITH_SCHEMA)
    assert finish_reason == reason
    if name == "newlines":
        assert message["content"].endswith("\n" * 800)
        assert json.loads(message["content"])["say"] == "I heard: a rope?"
    else:
        with pytest.raises(ValueError):  # noqa: PT011  # which one is json's affair
            json.loads(message["content"])


# --- in a mix ------------------------------------------------------------------------------------


def test_a_small_model_is_the_same_for_the_same_seed_and_shows_every_habit():
    numbers = range(1, 3_001)
    drawn = [SmallModel(0.7, seed=5).draw(number) for number in numbers]
    assert drawn == [SmallModel(0.7, seed=5).draw(number) for number in numbers]
    assert drawn != [SmallModel(0.7, seed=6).draw(number) for number in numbers]
    counted = Counter(reply["habit"] for reply in drawn if reply)
    assert set(counted) == set(HABITS)
    assert 1_950 < counted.total() < 2_250
    assert counted.most_common(1)[0][0] == "parrot"


@pytest.mark.parametrize("order", [{"rate": 2}, {"names": ["hum"]}, {"names": []}, {"speed": 1}])
def test_an_order_for_no_small_model_is_refused(order):
    with pytest.raises((ValueError, TypeError)):
        read_small_model(order)


def ask(provider, body=TEXT):
    connection = HTTPConnection("127.0.0.1", provider.port, timeout=20)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        return json.loads(connection.getresponse().read())["choices"][0]["message"]["content"]
    finally:
        connection.close()


def test_habits_and_written_calls_are_replies_over_http(provider):
    provider.habit("refusal")
    assert ask(provider) == REFUSAL
    provider.queue({"written_calls": [CALL], "as": "prefix", "text": "Well. "})
    assert ask(provider) == 'Well. say: {"text": "Aye."}'
    assert {"refusal"} == {record["habit"] for record in provider.records() if "habit" in record}


@pytest.mark.parametrize("reply", [{"habit": "hum"}, {"written_calls": [CALL], "as": "runes"}])
def test_an_unknown_habit_or_form_is_refused(provider, reply):
    with pytest.raises(ValueError, match="unknown habit or form"):
        provider.queue(reply)


def test_a_small_model_plays_until_it_is_cleared(provider):
    provider.be_small(1.0, names=["echo"])
    assert [ask(provider), ask(provider)] == ["a rope?"] * 2
    provider.clear()
    assert ask(provider) == "I heard: a rope?"

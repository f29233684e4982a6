"""Calls written as text are read in every form; nothing else becomes a call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.replies.text_tool_calls import MOST_CALLS, TextReply, read_text_calls
from tests.growth import text_grows_like_a_square

TEXT = {"type": "string"}


def schema(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS = {
    "say": schema("text", text=TEXT),
    "whisper": schema("text", text=TEXT, target=TEXT),
    "emote": schema("text", text=TEXT),
    "move": schema("exit", exit=TEXT),
    "give": schema("item", "target", item=TEXT, target=TEXT),
    "get": schema("item", item=TEXT),
    "wait": schema(minutes={"type": "integer"}),
    "noop": schema(),
    "add_journal_entry": schema("content", content=TEXT, importance={"type": "integer"}),
}
AYE = [("say", {"text": "Aye."})]


def read(text):
    reply = read_text_calls(text, TOOLS)
    return [(name, json.loads(arguments)) for name, arguments in reply.calls], reply.words


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "say", "arguments": {"text": "Aye."}}',
        '{"name": "say", "parameters": {"text": "Aye."}}',
        '{"name": "say", "args": {"text": "Aye."}}',
        '{"name": "say", "arguments": "{\\"text\\": \\"Aye.\\"}"}',
        '{"name": "say", "arguments": "Aye."}',
        '{"name": "say", "text": "Aye."}',
        '{"tool": "say", "input": {"text": "Aye."}}',
        '{"action": "say", "action_input": {"text": "Aye."}}',
        '{"function": {"name": "say", "arguments": "{\\"text\\": \\"Aye.\\"}"}, "id": "1"}',
        '{"tool_calls": [{"name": "say", "arguments": {"text": "Aye."}}]}',
        '{"say": {"text": "Aye."}}',
        '{"say": "Aye."}',
        '[{"name": "say", "arguments": {"text": "Aye."}}]',
        '```json\n{"name": "say", "arguments": {"text": "Aye."}}\n```',
        '```\n[{"name": "say", "arguments": {"text": "Aye."}}]\n```',
        '`{"name": "say", "arguments": {"text": "Aye."}}`',
        '{{"name": "say", "arguments": {{"text": "Aye."}}}}',
        '{{"name": "say", "arguments": {"text": "Aye."}}}',
        '(("name": "say", "arguments": (("text": "Aye."))))',
        '("name": "say", "arguments": ("text": "Aye."))',
        "{'name': 'say', 'arguments': {'text': 'Aye.'}}",
        '{name: "say", arguments: {text: "Aye.",},}',
        '{"name": "say",\n "arguments": {\n  "text": "Aye."\n }\n}\n\n\n',
        '<tool_call>\n{"name": "say", "arguments": {"text": "Aye."}}\n</tool_call>',
        '<tool_call>{"name": "say", "arguments": {"text": "Aye."}</tool_call>',
        '<tool_call>{"name": "say", "arguments": {"text": "Aye."}}<|im_end|>',
        "<tool_call>\n<function=say>\n<parameter=text>\nAye.\n</parameter>\n</function>\n</tool_call>",
        "<function=say>\n<parameter=text>Aye.\n</function>",
        '<function=say>{"text": "Aye."}</function>',
        '{"response": "Aye."}',
        '{"role": "assistant", "content": "Aye."}',
        '{"thoughts": "A yes will do.", "answer": "Aye."}',
        '<invoke name="say"><parameter name="text">Aye.</parameter></invoke>',
        '<|python_tag|>{"name": "say", "parameters": {"text": "Aye."}}<|eom_id|>',
        '[say(text="Aye.")]',
        '[TOOL_CALLS][{"name": "say", "arguments": {"text": "Aye."}}]',
        '[TOOL_CALLS]say[ARGS]{"text": "Aye."}',
        '[TOOL_CALLS]say[CALL_ID]a1B2c3D4e[ARGS]{"text": "Aye."}</s>',
        'say({"text": "Aye."})',
        'say({{"text": "Aye."}})',
        'say(("text": "Aye."))',
        'say(text="Aye.")',
        "say(text='Aye.')",
        'say("Aye.")',
        "functions.say({'text': 'Aye.'})",
        'say {"text": "Aye."}',
        'say: {"text": "Aye."}',
        'say\n```json\n{"text": "Aye."}\n```',
        '<think>I could say("No.").</think>say("Aye.")',
        '[THINK]I could say("No.").[/THINK]say("Aye.")',
        (
            '<|channel|>analysis<|message|>say("No.")<|end|>'
            "<|start|>assistant<|channel|>commentary to=functions.say<|constrain|>json<|message|>"
            '{"text": "Aye."}<|call|>'
        ),
        (
            "<|start|>assistant to=functions.say<|channel|>commentary <|constrain|>json<|message|>"
            '{"text": "Aye."}'
        ),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
            'say\n```json\n{"text": "Aye."}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.say:0<|tool_call_argument_begin|>"
            '{"text": "Aye."}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        "<tool_call>say\n<arg_key>text</arg_key>\n<arg_value>Aye.</arg_value>\n</tool_call>",
        '<|tool_call>call:say{text:<|"|>Aye.<|"|>}<tool_call|>',
        '<|tool_call_start|>[say(text="Aye.")]<|tool_call_end|>',
        '<|tool_call|>[{"name": "say", "arguments": {"text": "Aye."}}]',
        '<TOOLCALL>[{"name": "say", "arguments": {"text": "Aye."}}]</TOOLCALL>',
        ' functools[{"name": "say", "arguments": {"text": "Aye."}}]',
        '<|tools_prefix|>[{"say": {"text": "Aye."}}]<|tools_suffix|>',
        (
            '<minimax:tool_call>\n<invoke name="say">\n<parameter name="text">Aye.</parameter>\n'
            "</invoke>\n</minimax:tool_call>"
        ),
        '```tool_code\nprint(say(text="Aye."))\n```',
        'Action: say\nAction Input: {"text": "Aye."}',
        'Action: ```json\n[{"tool_name": "say", "parameters": {"text": "Aye."}}]```',
    ],
)
def test_a_call_is_read_in_every_form_and_leaves_no_words(text):
    assert read(text) == (AYE, "")


@pytest.mark.parametrize(
    ("text", "calls", "words"),
    [
        ('say("Aye.")\nemote("nods slowly.")', [*AYE, ("emote", {"text": "nods slowly."})], ""),
        (
            '[say(text="Aye."), give(item="rope", target="Ann")]',
            [*AYE, ("give", {"item": "rope", "target": "Ann"})],
            "",
        ),
        (
            (
                '<tool_call>\n{"name": "get", "arguments": {"item": "nails"}}\n</tool_call>\n'
                '<tool_call>\n{"name": "say", "arguments": {"text": "Aye."}}\n</tool_call>'
            ),
            [("get", {"item": "nails"}), *AYE],
            "",
        ),
        (
            (
                '{"name": "get", "arguments": {"item": "nails"}}, '
                '{"name": "say", "arguments": {"text": "Aye."}}'
            ),
            [("get", {"item": "nails"}), *AYE],
            "",
        ),
        (
            '{"get": {"item": "nails"}, "say": {"text": "Aye."}}',
            [("get", {"item": "nails"}), *AYE],
            "",
        ),
        (
            (
                'Take it.\n\n{"name": "give", "arguments": {"item": "rope", "target": "Ann"}}\n'
                "Mind the knot."
            ),
            [("give", {"item": "rope", "target": "Ann"})],
            "Take it.\nMind the knot.",
        ),
        ('Take it. ```json\n{"say": "Aye."}\n``` So.', AYE, "Take it.\nSo."),
        ("noop", [("noop", {})], ""),
        ("`noop()`", [("noop", {})], ""),
        ("noop()", [("noop", {})], ""),
        ('{"name": "noop"}', [("noop", {})], ""),
        ('{"name": "noop", "arguments": null}', [("noop", {})], ""),
        ("<tool_call>noop\n</tool_call>", [("noop", {})], ""),
        (
            (
                "<|channel|>analysis<|message|>They greet me.<|end|>"
                "<|start|>assistant<|channel|>final<|message|>Good evening.<|return|>"
            ),
            [],
            "Good evening.",
        ),
        ("<function=noop></function>", [("noop", {})], ""),
        ("wait(minutes=5)", [("wait", {"minutes": 5})], ""),
        (
            "<function=wait><parameter=minutes>5</parameter></function>",
            [("wait", {"minutes": 5})],
            "",
        ),
        (
            "<function=add_journal_entry><parameter=content>5</parameter></function>",
            [("add_journal_entry", {"content": "5"})],
            "",
        ),
        (
            'add_journal_entry({"content": "Ann owes 3", "importance": 7, "new": True, "x": None})',
            [
                (
                    "add_journal_entry",
                    {"content": "Ann owes 3", "importance": 7, "new": True, "x": None},
                )
            ],
            "",
        ),
        (
            '{"name": "say", "arguments": {"text": "He said "no" to me, and \\u00e9t\\u00e9."}}',
            [("say", {"text": 'He said "no" to me, and été.'})],
            "",
        ),
        (
            "{'name': 'say', 'arguments': {'text': 'I don't know that one.'}}",
            [("say", {"text": "I don't know that one."})],
            "",
        ),
        (
            '{"name": "say", "arguments": {"text": "One.\nTwo. {no} (yes) 😀 \\ud83d\\ude00"}}',
            [("say", {"text": "One.\nTwo. {no} (yes) 😀 😀"})],
            "",
        ),
        ("Good evening.<|im_end|>", [], "Good evening."),
    ],
)
def test_several_calls_and_words_are_told_apart(text, calls, words):
    assert read(text) == (calls, words)


@pytest.mark.parametrize(
    "text",
    [
        "Good evening! Sit down.",
        'Go on, say "hello" to her.',
        "He told me: never say: no.",
        'I would say "aye" (and mean it).',
        "(I saw the cat) [twice]",
        "Wait: there is somebody at the door.",
        "Say: what brings you here?",
        "wait: there is somebody at the door.",
        'give: "me that" is not how we ask here.',
        "noop or not",
        '{"name": "fly", "arguments": {"to": "the moon"}}',
        '{"name": "Brannoc", "mood": "tired"}',
        '{"name": "say", "arguments": {"text": "I was cut',
        '{"name": "say", "arguments": {"text": "I was cut."}',
        '<tool_call>\n{"name": "say", "arguments": {"text": "I was cut."}',
        "<function=say><parameter=text>I was cut",
        'say("I was cut',
        'say({"text": "I was cut."}',
        '{"name": "say", "description": "Say something.", "parameters": {"type": "object"}}',
        '{"name": "say", "parameters": {"type": "object", "properties": {"text": {}}}}',
        '[{"name": "say", "ar',
        '{"act": "none", "target": "", "say": "Aye."}',
        "{}",
        "[]",
        "",
    ],
)
def test_what_is_no_whole_call_of_a_known_tool_stays_in_the_words(text):
    assert read(text) == ([], text)


def test_an_unknown_name_in_a_list_leaves_the_whole_list_unread_but_its_known_calls():
    calls, words = read('[{"name": "fly"}, {"name": "say", "arguments": {"text": "Aye."}}]')
    assert calls == AYE
    assert "fly" in words


def test_a_call_inside_reasoning_is_none():
    assert read('<think>{"say": "Aye."}</think>No.') == ([], "No.")
    assert read('I might {"say": "Aye."}</think>No.') == ([], "No.")


HOSTILE = [
    "{", "{{", "((", "(", "[", "[{", '{"', '{"a":', '("', "('", "<tool_call>", "<function=say>",
    "<function=say><parameter=text>", '<tool_call>{"name":', "`", "```", "```json\n", '"', "'", "“",
    "\\", '{"a":"\\', "say", "say(", 'say("', "say: ", "say\n", 'say: "', 'say"', "say {",
    '{"name":"say","arguments":{"text":"', '{"name":"say","arguments":{"text":"a"}},', "[1,",
    "<think", "<think>", "</think", " ", "\n", "{ ", "<|python_tag|>", "[TOOL_CALLS]", ", [",
    "``` ",
]  # fmt: skip


BEGUN = 'x {"name": "say"'


@pytest.mark.parametrize(
    ("unit", "before"),
    [
        *((unit, "") for unit in HOSTILE),
        *(
            pytest.param(unit, BEGUN, marks=() if number % 3 == 0 else pytest.mark.soak)
            for number, unit in enumerate(HOSTILE)
        ),
    ],
)
def test_the_time_for_hostile_text_grows_with_its_length_not_its_square(unit, before):
    def read(text):
        return read_text_calls(before + text, TOOLS)

    assert not text_grows_like_a_square(read, unit, most_chars=10_000)


@given(
    st.lists(
        st.sampled_from(HOSTILE) | st.text(max_size=5) | st.sampled_from(["say", "}", ")", ":"])
    )
)
def test_no_text_raises_or_makes_calls_of_unknown_tools(pieces):
    reply = read_text_calls("".join(pieces), TOOLS)
    assert isinstance(reply, TextReply)
    assert all(name in TOOLS and isinstance(json.loads(text), dict) for name, text in reply.calls)


@given(st.text(min_size=1), st.text(min_size=1), st.booleans())
def test_json_arguments_arrive_as_written(words, target, ascii_only):
    call = {"name": "whisper", "arguments": {"text": words, "target": target}}
    text = json.dumps(call, ensure_ascii=ascii_only)
    assert read(f"<tool_call>\n{text}\n</tool_call>") == ([("whisper", call["arguments"])], "")


@pytest.mark.parametrize("arguments", ["[1, 2]", "7", "true", "[]"])
def test_arguments_that_are_no_object_make_no_call(arguments):
    calls, _words = read(f'{{"name": "give", "arguments": {arguments}}}')
    assert calls == []


def test_of_a_flood_of_calls_the_first_are_read():
    calls = read_text_calls("\n".join(['say({"text": "Aye."})'] * (MOST_CALLS + 6)), TOOLS).calls
    assert [(name, json.loads(arguments)) for name, arguments in calls] == AYE * MOST_CALLS

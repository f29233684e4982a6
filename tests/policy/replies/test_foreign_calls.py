"""Calls in formats that no chat template of ours has are read by their structure."""

import pytest

from evennia_ai.policy.replies.reply_reader import parameters
from evennia_ai.policy.replies.text_tool_calls import read_text_calls
from tests.llm.conftest import TOOLS

KNOWN = parameters(TOOLS)
SAY = '{"text": "Good evening."}'
WRITTEN = {
    "DSML": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="say">\n<｜DSML｜parameter name="text" '
    'string="true">Good evening.</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "FunctionGemma": "<start_function_call>call:say{text:<escape>Good evening.<escape>}"
    "<end_function_call>",
    "Step": "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
    '<steptml:invoke name="say"><steptml:parameter name="text">Good evening.'
    "</steptml:parameter></steptml:invoke>"
    "<｜tool_call_end｜><｜tool_calls_end｜>",
    "LongCat": "<longcat_tool_call>say\n<longcat_arg_key>text</longcat_arg_key>\n"
    "<longcat_arg_value>Good evening.</longcat_arg_value>\n</longcat_tool_call>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="say">\n<parameter name="text">Good evening.'
    "</parameter>\n</invoke>\n</minimax:tool_call>",
    "Seed": "<seed:tool_call>\n<function=say>\n<parameter=text>Good evening.</parameter>\n"
    "</function>\n</seed:tool_call>",
    "Hunyuan": "<tool_calls>\n<tool_call>say<tool_sep>\n<arg_key>text</arg_key>\n<arg_value>"
    "Good evening.</arg_value>\n</tool_call>\n</tool_calls>",
    "bare harmony": f"commentary to=functions.say json{SAY}",
    "harmony behind its analysis": "analysisI greet her.assistantcommentary to=functions.say "
    f"json{SAY}",
}  # fmt: skip


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in WRITTEN.items()])
def test_the_call_is_read_and_nothing_of_it_is_words(text):
    reply = read_text_calls(text, KNOWN)
    assert reply.calls == (("say", SAY),)
    assert reply.words == ""


def test_words_about_such_a_tag_stay_words():
    line = "My name: space and <my:word>, said she."
    assert read_text_calls(line, KNOWN).words == line

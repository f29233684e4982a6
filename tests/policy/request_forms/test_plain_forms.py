"""The modes `tools` and `plain`, and what each of them tells."""

import pytest

from evennia_ai.policy.tool_call_modes.form import PLAIN_FORM, TOOLS_FORM, described

FIELDS = {"drink": {"type": "string", "description": "what to brew"}}
TOOL = {
    "type": "function",
    "function": {"name": "brew", "description": "Brew it.", "parameters": {"properties": FIELDS}},
}


@pytest.mark.parametrize("form", [TOOLS_FORM, PLAIN_FORM])
def test_the_rules_show_no_object(form):
    assert form.rules and "{" not in form.rules


def test_the_rules_are_short_and_name_no_tool():
    tokenizer = pytest.importorskip("evennia_ai.contrib.openai_tokens.tokenizer")
    tokenizer.load()
    assert tokenizer.count_for("gpt-4o")(TOOLS_FORM.rules) <= 200
    assert not any("`say`" in form.rules for form in (TOOLS_FORM, PLAIN_FORM))


def test_a_late_tool_is_told_of_in_a_line():
    assert described(TOOL) == "brew (drink: what to brew): Brew it."


def test_a_plain_reply_ends_with_its_line():
    assert (PLAIN_FORM.stop, TOOLS_FORM.stop) == (("\n",), ())
    assert (PLAIN_FORM.native, TOOLS_FORM.native) == (False, True)
    assert (PLAIN_FORM.temperature, TOOLS_FORM.temperature) == (0.2, None)

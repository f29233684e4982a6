"""The forms `tools` and `text`."""

import pytest

from evennia_ai.policy.tool_call_modes.form import TEXT_FORM, TOOLS_FORM, ReplyContext

FORMS = (TOOLS_FORM, TEXT_FORM)
TOOL = {"type": "function", "function": {"name": "brew"}}


@pytest.mark.parametrize("form", FORMS)
def test_the_rules_are_the_same_whatever_the_tools(form):
    assert form.rules([]) == form.rules([TOOL])
    assert form.response_schema(ReplyContext([TOOL])) is None
    assert "{" not in form.rules([])


def test_only_the_form_with_tools_names_them():
    named = ("`say`", "`whisper`", "`noop`")
    assert all(name in TOOLS_FORM.rules([]) for name in named)
    assert not any(name in TEXT_FORM.rules([]) for name in named)


def test_only_words_are_asked_for_by_a_question():
    assert TEXT_FORM.question("Mira", "Ann") == "What do you, Mira, say to Ann?"
    assert TEXT_FORM.question("Mira", "") == ""
    assert TOOLS_FORM.question("Mira", "Ann") == ""


def test_the_persona_stands_behind_the_tools():
    assert (TOOLS_FORM.native, TOOLS_FORM.persona_in_system) == (True, False)
    assert (TEXT_FORM.native, TEXT_FORM.persona_in_system) == (False, True)

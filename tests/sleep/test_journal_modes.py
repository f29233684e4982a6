"""Before a compaction every model is asked to journal, in its own mode."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.messages import OFFLINE, LLMReply
from evennia_ai.sleep.extraction import run_pre_compaction_extraction
from tests.scripted import call
from tests.test_context_compaction import ANN, make_script, outcome, talk

PLAIN_MODELS = """
gemma3:12b phi4 llama3:8b deepseek-r1:14b qwen2.5:1.5b gemma2 openchat zephyr mythomax
mixtral-8x7b codellama vicuna
""".split()
NATIVE_MODELS = """
gpt-4o gpt-5 claude-sonnet-4 qwen3:14b llama3.1:8b mistral-small3.2 mistral-nemo hermes3 command-r7b
granite3.3:8b gemma4 deepseek-chat
""".split()
TOOLS = ("noop", "add_journal_entry", "update_entity_observation")
NOOP = '{"name": "noop", "arguments": {}}'


def entry(text):
    return f'{{"name": "add_journal_entry", "arguments": {{"content": "{text}"}}}}'


def ready(model, replies, lines=60, **settings):
    """Return an assistant of a model that has talk to go and a journal that remembers."""
    script = make_script(replies, **settings)
    script.mind.settings.profile = ModelProfile("home", client="openai", model=model)
    toolbox, script.journalled = script.services.toolbox, []
    toolbox.categories |= dict.fromkeys(TOOLS, "free")

    def write(_context, arguments):
        script.journalled.append(arguments["content"])
        return "You noted it."

    toolbox.behaviours["add_journal_entry"] = write
    talk(script, lines)
    return script


def extract(script):
    return outcome(run_pre_compaction_extraction(script, script))


@pytest.mark.parametrize("model", PLAIN_MODELS)
def test_a_model_without_native_calls_writes_one_object_at_a_time(model):
    script = ready(model, [entry("Ann is a smith."), entry("Ann owes forty crowns."), NOOP] * 2)
    result = extract(script)
    assert (result["facts_recorded"], result["stopped_by"]) == (
        2 * result["iterations"] // 3,
        NOOP[10:14],
    )
    assert set(script.journalled) == {"Ann is a smith.", "Ann owes forty crowns."}
    first, second = script.services.gateway.requests[:2]
    assert first.form == "plain"
    assert "\n\nadd_journal_entry" in first.messages[0]["content"]
    assert "line 0 " in first.messages[1]["content"]
    assert second.messages[-2]["content"] == entry("Ann is a smith.")
    assert second.messages[-1]["content"].startswith("You noted it.")


@pytest.mark.parametrize("model", NATIVE_MODELS)
def test_a_model_with_native_calls_sees_the_talk_and_its_tools(model):
    script = ready(model, [call("add_journal_entry", content="Ann is a smith."), call("noop")])
    assert extract(script)["facts_recorded"] == 1
    request = script.services.gateway.requests[0]
    assert (request.form, len(request.tools)) == ("tools", len(TOOLS))


def test_there_are_no_more_iterations_for_an_audience_than_the_setting_says():
    for most in (1, 3, 5):
        script = ready("phi4", [entry(f"Fact {n} is so.") for n in range(20)],
                       pre_compact_max_iterations=most)  # fmt: skip
        assert most / 2 < extract(script)["iterations"] <= most


def test_what_was_whispered_is_asked_apart():
    script = ready("phi4", [NOOP] * 9, lines=0)
    talk(script, 6, private_to=ANN)
    talk(script, 60)
    extract(script)
    texts = [request.messages[1]["content"] for request in script.services.gateway.requests]
    audiences = [request.trace.private for request in script.services.gateway.requests]
    assert audiences == sorted(audiences, reverse=True) or audiences == sorted(audiences)
    assert {True, False} == set(audiences)
    assert all(text.startswith("<transcript>") for text in texts)


def test_who_writes_no_object_is_asked_once_more_and_the_owner_is_told_once():
    script = ready("phi4", [LLMReply("Sure, I will remember that.")] * 12)
    for _ in range(3):
        result = extract(script)
        assert (result["facts_recorded"], result["stopped_by"]) == (0, "no_tool_call")
    (trouble,) = script.mind.settings.troubles
    assert "The model 'phi4' cannot write the journal" in trouble
    again = script.services.gateway.requests[1].messages[-1]["content"]
    assert again.startswith("That was no such JSON object.")


def test_who_writes_one_after_all_is_no_trouble():
    script = ready("phi4", [LLMReply("Sure!"), entry("Ann is a smith."), NOOP] * 4)
    assert extract(script)["facts_recorded"] > 0
    assert script.mind.settings.troubles == []


def test_without_a_model_it_is_a_skip_with_its_reason():
    script = ready("offline", [LLMReply("", model=OFFLINE)])
    script.mind.settings.profile = ModelProfile("offline", client="offline", model="offline")
    assert extract(script) == {"skipped": True, "reason": "no model to ask"}

"""Before a compaction every model is asked to journal, in its own mode."""

from dataclasses import replace

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.messages import OFFLINE, LLMReply, make_message
from evennia_ai.policy.facts.origin import ShownContext
from evennia_ai.sleep.extraction import run_pre_compaction_extraction
from evennia_ai.sleep.journal_requests import JournalRequest
from tests.scripted import call
from tests.test_context_compaction import ANN, make_script, outcome, talk

PLAIN_MODELS = """
qwen2.5:1.5b phi4-mini llama3.2 gemma3:1b local-model
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
    script = ready(model, [entry("Line 0 is a smith."), NOOP] * 9)
    result = extract(script)
    assert result["facts_recorded"] == result["iterations"] // 2 + 1
    first, second = script.services.gateway.requests[:2]
    assert (first.form, first.temperature) == ("plain", 0.0)
    task, example, notes, piece = (message["content"] for message in first.messages)
    assert "add_journal_entry" in task and example.startswith("<transcript>\nOlga says: ")
    assert "line 0 " in piece and "Olga" not in piece and "Olga" in notes
    assert second.messages[-2]["content"].startswith(entry("Ann says: line 0 ")[:-3])
    assert second.messages[-1]["content"].startswith("You noted it.")


def heard(script, *lines):
    """Let Ann and Bob say lines, with much talk after them."""
    for line in lines:
        who, _, words = line.partition(": ")
        meta = {"speaker": f"#{ord(who[0])}", "speaker_name": who, "audience": [ANN]}
        script.conversation.append([make_message("user", f"{who} says: {words}", **meta)])
    talk(script, 60)


def test_a_small_model_chooses_lines_and_changes_nothing_in_them():
    notes = (
        "Ann's wedding is on the tenth of May.",  # Bob's, as his line says
        "Ann will bring Bob's kettle back on Friday.",
        "Olga owes seven crowns for a boat.",  # nobody said so
    )
    script = ready("phi4-mini", ["\n".join([*map(entry, notes), NOOP])] + [NOOP] * 9, lines=0)
    heard(
        script,
        "Bob: My wedding is on the tenth of May.",
        "Ann: I will bring your kettle back on Friday.",
    )
    assert extract(script)["facts_recorded"] == 2
    assert script.journalled == [
        "Bob says: My wedding is on the tenth of May.",
        "Ann says: I will bring your kettle back on Friday.",
    ]


def test_where_nobody_else_spoke_a_small_model_notes_nothing():
    said = ("add_journal_entry", '{"content": "Mira owes Ann a crown."}')
    request = JournalRequest(None, ShownContext([]), frozenset(), [])
    assert request._quoted(said) is None
    assert replace(request, quotes=None)._quoted(said) == said


def test_a_games_own_prompt_gets_the_entries_that_it_asks_for():
    script = ready("phi4-mini", [entry("A poem of a line."), NOOP] * 9,
                   pre_compact_prompt="Write a poem.")  # fmt: skip
    extract(script)
    assert set(script.journalled) == {"A poem of a line."}
    task = script.services.gateway.requests[0].messages[0]["content"]
    assert task.startswith("Write a poem.") and "\n\nadd_journal_entry" in task


@pytest.mark.parametrize("model", NATIVE_MODELS)
def test_a_model_with_native_calls_sees_the_talk_and_its_tools(model):
    script = ready(model, [call("add_journal_entry", content="Ann is a smith."), call("noop")])
    assert extract(script)["facts_recorded"] == 1
    request = script.services.gateway.requests[0]
    assert (request.form, len(request.tools)) == ("tools", len(TOOLS))


def test_there_are_no_more_iterations_for_an_audience_than_the_setting_says():
    for most in (1, 3, 5):
        script = ready("phi4-mini", [entry(f"Fact {n} is so.") for n in range(20)],
                       pre_compact_max_iterations=most)  # fmt: skip
        assert most / 2 < extract(script)["iterations"] <= most


def test_what_was_whispered_is_asked_apart():
    script = ready("phi4-mini", [NOOP] * 9, lines=0)
    talk(script, 6, private_to=ANN)
    talk(script, 60)
    extract(script)
    texts = [request.messages[3]["content"] for request in script.services.gateway.requests]
    audiences = [request.trace.private for request in script.services.gateway.requests]
    assert audiences == sorted(audiences, reverse=True) or audiences == sorted(audiences)
    assert {True, False} == set(audiences)
    assert all(text.startswith("<transcript>") for text in texts)


def test_who_writes_no_object_is_asked_once_more_and_the_owner_is_told_once():
    script = ready("phi4-mini", [LLMReply("Sure, I will remember that.")] * 15)
    for _ in range(3):
        result = extract(script)
        assert (result["facts_recorded"], result["stopped_by"]) == (0, "no_tool_call")
    (trouble,) = script.mind.settings.troubles
    assert "The model 'phi4-mini' cannot write the journal" in trouble
    again = script.services.gateway.requests[1].messages[-1]["content"]
    assert again.startswith("That was no such JSON object.")


def test_who_writes_one_after_all_is_no_trouble():
    script = ready("phi4-mini", [LLMReply("Sure!"), entry("Line 0 is a smith."), NOOP] * 4)
    assert extract(script)["facts_recorded"] > 0
    assert script.mind.settings.troubles == []


def test_without_a_model_it_is_a_skip_with_its_reason():
    script = ready("offline", [LLMReply("", model=OFFLINE)])
    script.mind.settings.profile = ModelProfile("offline", client="offline", model="offline")
    assert extract(script) == {"skipped": True, "reason": "no model to ask"}


def test_a_small_model_is_shown_all_of_a_few_lines_of_uneven_length():
    script = ready("phi4-mini", [], lines=0)
    long = " ".join(["word"] * 200)
    heard(script, *(f"Ann: line {n}! {'' if n % 2 else long}" for n in range(1, 8)))
    pieces = script.mind.extraction._requests.pieces(script.conversation.view()[:7], 5)
    shown = [message["content"] for piece in pieces for message in piece]
    assert [n for n in range(1, 8) if any(f"line {n}!" in text for text in shown)] == [*range(1, 8)]

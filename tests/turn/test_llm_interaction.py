"""The prompt: what stands where, and what of it stays the same from call to call."""

from itertools import pairwise

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import Situation, Usage, make_message
from evennia_ai.testing.scripted import LLMReply, ScriptedLLM, call
from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.turn.answer_events import answer_events
from evennia_ai.turn.llm_interaction import build_llm_messages
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_context_data import latest_talk
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT

ANN = frozenset({"#5"})


def test_persona_first_then_the_talk_then_the_situation():
    script = StandInScript(ScriptedLLM([call("say", text="hello")]))
    script.hears("hi")
    answer_events(script)
    wire = build_llm_messages(script, CONTEXT_TICK_EVENT, ANN)
    assert [m["role"] for m in wire] == ["system", "user", "assistant", "tool", "user"]
    assert "You are Mira, a barkeep." in wire[0]["content"]
    assert wire[1]["content"] == "Ann says: hi"
    assert wire[-1]["content"].startswith("<situation>\nPlace: Tavern")
    assert all(set(m) <= {"role", "content", "tool_calls", "tool_call_id"} for m in wire)


def test_between_two_calls_only_new_messages_and_the_tail_differ():
    script = StandInScript(ScriptedLLM([call("say", text="one"), call("say", text="two")]))
    for words in ("first", "second"):
        script.hears(words)
        answer_events(script)
        script.services.clock.advance(61)
    before, after = (list(r.messages) for r in script.services.gateway.requests)
    assert after[: len(before) - 1] == before[:-1]


def test_a_persona_with_braces_is_text():
    script = StandInScript(ScriptedLLM(), persona="You are {name} and {0} and {.")
    assert (
        "You are {name} and {0} and {."
        in build_llm_messages(script, CONTEXT_TICK_EVENT, ANN)[0]["content"]
    )


def test_the_newest_talk_is_kept_where_the_window_is_too_small_for_all():
    lines = [call("say", text="ok")] * 60
    config = AssistantConfig(max_context_tokens=2_000, compact_enabled=False)
    script = StandInScript(ScriptedLLM(lines), config)
    for number in range(60):
        script.hears(f"line {number} " + "word " * 20)
        answer_events(script)
    sent = script.services.gateway.requests[-1].messages
    text = str(sent)
    assert "line 59" in text
    assert "line 0 " not in text
    assert script.turns.turns[-1].model_calls[0].estimated_tokens <= 2_000


def test_a_full_window_moves_its_start_in_large_steps_whatever_else_changes():
    config = AssistantConfig(max_context_tokens=4_000, compact_enabled=False)
    script = StandInScript(ScriptedLLM([call("say", text="ok")] * 150), config)
    for number in range(150):
        people = tuple(f"guest {n}" for n in range(number % 7))
        script.services.world.seen = Situation(place="Tavern", people=people)
        script.hears(f"line {number} " + "word " * (number % 9))
        answer_events(script)
        script.services.clock.advance(61)
    firsts = [str(request.messages[1]) for request in script.services.gateway.requests]
    moved = [number for number, (a, b) in enumerate(pairwise(firsts)) if a != b]
    assert moved
    assert len(moved) <= 10


def test_what_a_call_cost_is_stored_also_when_it_failed():
    good = LLMReply("hello", usage=Usage(100, 7), model="m-1")
    script = StandInScript(ScriptedLLM([good, ProviderUnavailable("no route")]))
    for words in ("one", "two"):
        script.hears(words)
        answer_events(script)
    first, second = (turn.model_calls[0] for turn in script.turns.turns)
    assert (first.usage, first.model, first.error) == (Usage(100, 7), "m-1", "")
    assert (second.usage, second.error_kind, second.error) == (None, "unavailable", "no route")


def test_a_local_server_that_cuts_prompts_is_told_of():
    script = StandInScript(ScriptedLLM([LLMReply("hello", usage=Usage(20, 7))]))
    script.profile = ModelProfile("home", model="m", base_url="http://localhost:11434/v1")
    script.hears("hi")
    answer_events(script)
    (trouble,) = script.troubles
    assert "its server seems to cut long prompts" in trouble
    assert "set context_window in the profile 'home'" in trouble


def test_an_assistants_own_model_goes_before_the_profiles():
    script = StandInScript(ScriptedLLM(["hi"]), AssistantConfig(llm_model="own"))
    script.profile = ModelProfile("p", model="profile's")
    script.hears("hi")
    answer_events(script)
    assert script.turns.turns[0].model_calls[0].model == "own"


def test_a_question_is_what_is_asked_although_somebody_has_come_in_since():
    lines = ["Bob says: A foul night.", "Ann says: Who keeps bees?", "(Cay arrives.)"]
    visible = [make_message("user", line) for line in lines]
    assert latest_talk(visible, ()).asked == ["Ann says: Who keeps bees?"]
    talk = latest_talk(visible, lines[:2])
    assert (talk.asked, talk.before) == (lines[:2], lines[2:])
    assert latest_talk([], ()).asked == []


def crowd(count, words=2, **settings):
    """An assistant with a turn that so many lines set off, as `run_turn` finds it."""
    script = StandInScript(ScriptedLLM(), AssistantConfig(**settings))
    for number in range(count):
        script.hears(f"line{number} " + "word " * words)
    waiting = script.inbox.open_events().waiting
    return script, script.turns.begin(waiting, ANN, False, "tick_event")


def named_at_the_end(prompt):
    return [f"line{n}" for n in range(100) if f"line{n} " in prompt.messages[-1]["content"]]


def test_many_lines_are_named_in_part_where_all_stand_above():
    script, turn = crowd(13)
    prompt = build_prompt(script, CONTEXT_TICK_EVENT, ANN, turn.events)
    assert named_at_the_end(prompt) == [f"line{n}" for n in range(3, 13)]
    assert "3 more, see above" in prompt.messages[-1]["content"]


def test_a_line_that_has_no_answer_is_named_where_it_is_out_of_view():
    script, turn = crowd(13)
    script.conversation.messages[:2] = []
    for goes_on in (False, True):
        prompt = build_prompt(script, CONTEXT_TICK_EVENT, ANN, turn.events, goes_on=goes_on)
        assert {"line0", "line1"} <= set(named_at_the_end(prompt))
        whole = str(prompt.messages)
        assert all(f"line{n} " in whole for n in range(13))
    assert "Said before them, and out of sight:" in prompt.messages[-1]["content"]


def test_a_line_that_the_window_has_no_room_for_is_named_all_the_same():
    script, turn = crowd(15, words=180, max_context_tokens=3_000, max_reply_tokens=100)
    prompt = build_prompt(script, CONTEXT_TICK_EVENT, ANN, turn.events)
    assert len(prompt.messages) < 15
    whole = str(prompt.messages)
    assert all(f"line{n} " in whole for n in range(15))
    assert prompt.tokens + 100 <= 3_000

"""The prompt: what stands where, and what of it stays the same from call to call."""

from itertools import pairwise

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import DeadlineExceeded, ProviderUnavailable
from evennia_ai.messages import NO_USAGE, OFFLINE, Situation, Usage, make_message
from evennia_ai.policy.call_record import PromptTrace, read_record, shared_digests
from evennia_ai.ports import LLMRequest
from evennia_ai.turn.context_selection import latest_talk
from evennia_ai.turn.llm_interaction import build_llm_messages
from evennia_ai.turn.model_call import record_of
from evennia_ai.turn.prompt_building import PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.minds import MemoryMind
from tests.scripted import LLMReply, ScriptedLLM, call

ANN = frozenset({"#5"})


def test_persona_first_then_the_talk_with_its_scene():
    script = MemoryMind(ScriptedLLM([call("say", text="hello")]))
    script.hears("hi")
    script.mind.turn_runner.answer_all()
    wire = build_llm_messages(script, CONTEXT_TICK_EVENT, ANN)
    roles = ["system", "user", "user", "user", "assistant", "tool"]
    assert [m["role"] for m in wire] == roles
    assert wire[0]["content"].startswith("You are one character in a text game")
    assert wire[1]["content"] == "<you>\nYou are Mira, a barkeep.\n</you>"
    assert wire[2]["content"].startswith("<situation>\nPlace: Tavern")
    assert wire[3]["content"] == "Ann says: hi"
    assert all(set(m) <= {"role", "content", "tool_calls", "tool_call_id"} for m in wire)


def test_every_call_extends_the_one_before():
    replies = [call("say", text=text) for text in ("one", "two", "three")]
    script = MemoryMind(ScriptedLLM(replies))
    for words in ("first", "second", "third"):
        script.hears(words)
        script.mind.turn_runner.answer_all()
        script.services.clock.advance(61)
    sent = [list(request.messages) for request in script.services.gateway.requests]
    for before, after in pairwise(sent):
        assert after[: len(before)] == before


def test_a_persona_with_braces_is_text():
    script = MemoryMind(ScriptedLLM(), persona="You are {name} and {0} and {.")
    assert (
        "You are {name} and {0} and {."
        in build_llm_messages(script, CONTEXT_TICK_EVENT, ANN)[1]["content"]
    )


def test_the_newest_talk_is_kept_where_the_window_is_too_small_for_all():
    lines = [call("say", text="ok")] * 60
    config = AssistantConfig(max_context_tokens=2_000, compact_enabled=False)
    script = MemoryMind(ScriptedLLM(lines), config)
    for number in range(60):
        script.hears(f"line {number} " + "word " * 20)
        script.mind.turn_runner.answer_all()
    sent = script.services.gateway.requests[-1].messages
    text = str(sent)
    assert "line 59" in text
    assert "Ann says: line 0 " not in text  # it may be recalled
    assert script.mind.turns.turns[-1].model_calls[0].estimated_tokens <= 2_000


def test_a_full_window_moves_its_start_in_large_steps_whatever_else_changes():
    config = AssistantConfig(max_context_tokens=4_000, compact_enabled=False)
    script = MemoryMind(ScriptedLLM([call("say", text="ok")] * 150), config)
    for number in range(150):
        people = tuple(f"guest {n}" for n in range(number % 7))
        script.services.world.seen = Situation(place="Tavern", people=people)
        script.hears(f"line {number} " + "word " * (number % 9))
        script.mind.turn_runner.answer_all()
        script.services.clock.advance(61)
    # Behind the rules and the persona.
    firsts = [str(request.messages[2]) for request in script.services.gateway.requests]
    moved = [number for number, (a, b) in enumerate(pairwise(firsts)) if a != b]
    assert moved
    assert len(moved) <= 12


def test_what_a_call_cost_is_stored_also_when_it_failed():
    good = LLMReply("hello", usage=Usage(100, 7), model="m-1")
    script = MemoryMind(ScriptedLLM([good, ProviderUnavailable("no route")]))
    for words in ("one", "two"):
        script.hears(words)
        script.mind.turn_runner.answer_all()
    first, second = (turn.model_calls[0] for turn in script.mind.turns.turns)
    assert (first.usage, first.model, first.error) == (Usage(100, 7), "m-1", "")
    assert (second.usage, second.error_kind, second.error) == (None, "unavailable", "no route")


def test_what_the_offline_brain_says_or_is_too_late_to_say_costs_nothing():
    late = DeadlineExceeded("no answer in 20 s")
    script = MemoryMind(ScriptedLLM([LLMReply("hello", model=OFFLINE), late]))
    script.mind.settings.profile = ModelProfile("default", client=OFFLINE, model=OFFLINE)
    for words in ("hi", "are you there?"):
        script.hears(words)
        script.mind.turn_runner.answer_all()
    costs = [turn.model_calls[0] for turn in script.mind.turns.turns]
    assert [(cost.usage, cost.estimated_tokens) for cost in costs] == [(NO_USAGE, 0)] * 2


def test_a_local_server_that_cuts_prompts_is_told_of():
    replies = [LLMReply(words, usage=Usage(260 + len(words), 7)) for words in ("hello", "And you?")]
    script = MemoryMind(ScriptedLLM(replies))
    script.mind.settings.profile = ModelProfile(
        "home", model="m", base_url="http://localhost:11434/v1"
    )
    for words in ("hi there " * 800, "how are you?"):
        script.hears(words)
        script.mind.turn_runner.answer_all()
    (trouble,) = set(
        script.mind.settings.troubles
    )  # with the same words, so that the owner reads it once
    assert len(script.mind.settings.troubles) == 2
    assert "its server seems to cut long prompts" in trouble
    assert "set context_window in the profile 'home'" in trouble


def test_a_question_is_what_is_asked_although_somebody_has_come_in_since():
    lines = ["Bob says: A foul night.", "Ann says: Who keeps bees?", "◆ Cay arrives."]
    visible = [make_message("user", line) for line in lines]
    assert latest_talk(visible, ()).asked == ["Ann says: Who keeps bees?"]
    talk = latest_talk(visible, lines[:2])
    assert (talk.asked, talk.before) == (lines[:2], lines[2:])
    assert latest_talk([], ()).asked == []


def crowd(count, words=2, **settings):
    """An assistant with a turn that so many lines set off, as `run_turn` finds it."""
    script = MemoryMind(ScriptedLLM(), AssistantConfig(**settings))
    for number in range(count):
        script.hears(f"line{number} " + "word " * words)
    waiting = script.mind.inbox.open_events().waiting
    return script, script.mind.turns.begin(waiting, ANN, False, "tick_event")


def lines_in(messages):
    heard = [m["content"] for m in messages if m["content"].startswith("Ann says: ")]
    return [line.split()[2] for line in heard]


def named(count):
    return [f"line{number}" for number in range(count)]


def test_all_lines_to_answer_stand_once_each_and_last_and_in_their_order():
    script, turn = crowd(13)
    prompt = script.mind.prompts.build(CONTEXT_TICK_EVENT, ANN, PromptRequest(turn.events))
    assert lines_in(prompt.messages) == lines_in(prompt.messages[-13:]) == named(13)


def test_a_line_that_has_no_answer_is_in_the_prompt_although_its_talk_is_gone():
    script, turn = crowd(13)
    script.conversation.messages[:2] = []
    for turn_id in (None, turn.id):
        prompt = script.mind.prompts.build(
            CONTEXT_TICK_EVENT, ANN, PromptRequest(turn.events, turn_id)
        )
        assert lines_in(prompt.messages[-13:]) == named(13)


def test_lines_that_the_window_has_no_room_for_are_cut_and_none_is_left_out():
    script, turn = crowd(15, words=180, max_context_tokens=3_000, max_reply_tokens=100)
    prompt = script.mind.prompts.build(CONTEXT_TICK_EVENT, ANN, PromptRequest(turn.events))
    assert lines_in(prompt.messages) == named(15)
    assert all("word word" in m["content"] for m in prompt.messages[-15:])
    assert prompt.tokens + 100 <= 3_000


def test_a_reply_is_kept_as_the_endpoint_sent_it():
    request = LLMRequest([], trace=PromptTrace())
    kept = record_of(request, LLMReply("Aye.", raw=LLMReply("<think>hm</think>Aye.")))
    shared = [kept.shared[digest] for digest in shared_digests(kept.packed)]
    assert read_record(kept.packed, shared).reply.text == "<think>hm</think>Aye."

"""A whisper stays between its parties, in prompts and in what is said (P9)."""

import json
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import WHISPERED, is_private
from evennia_ai.ports import ToolResult
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.turn.llm_interaction import build_llm_messages
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ANN, BOB, CEL = "#5", "#6", "#7"
NAMES = {ANN: "Ann", BOB: "Bob", CEL: "Cel"}
SECRET = "the gold is under the stone"


def script_with(*lines, **config):
    return MemoryMind(ScriptedLLM(lines), AssistantConfig(**config))


def prompt_for(script, *audience):
    return json.dumps(build_llm_messages(script, CONTEXT_TICK_EVENT, frozenset(audience)))


def after_a_whisper(**config):
    script = script_with(call("whisper", text="I keep it: " + SECRET), **config)
    script.services.world.present = frozenset({ANN, BOB})
    script.whispered(SECRET)
    script.mind.turn_runner.answer_all()
    return script


def test_a_whisper_and_its_answer_are_in_view_for_the_whisperer_alone():
    script = after_a_whisper()
    assert SECRET in prompt_for(script, ANN)
    assert SECRET not in prompt_for(script, BOB)
    assert SECRET not in prompt_for(script, ANN, BOB)
    assert SECRET not in prompt_for(script)


def test_words_made_from_a_private_prompt_stay_private_though_they_were_said_aloud():
    script = after_a_whisper()
    script.services.world.present = frozenset({ANN})
    script.services.gateway.add(call("say", text="You said: " + SECRET))
    script.hears("what did I tell you?")
    script.mind.turn_runner.answer_all()
    assert SECRET not in prompt_for(script, BOB)
    assert "what did I tell you?" in prompt_for(script, BOB)


def test_the_first_whisper_makes_its_own_prompt_private():
    script = after_a_whisper()
    assert [request.trace.private for request in script.services.gateway.requests] == [True]


def test_what_reached_only_some_is_known_to_them_alone():
    script = script_with(call("whisper", text=SECRET), call("say", text="Good evening, all."))
    script.services.world.present = frozenset({ANN, BOB})
    reached = ToolResult("done", WHISPERED, frozenset({ANN}))
    script.services.toolbox.behaviours["whisper"] = lambda context, a: reached
    for line in ("hello", "and good evening"):
        script.hears(line, audience=frozenset({ANN, BOB}))
        script.mind.turn_runner.answer_all()
    acts = [m["metadata"] for m in script.log.messages if m["role"] != "user"]
    assert [(meta["private"], meta["audience"]) for meta in acts] == [
        *[(True, [ANN])] * 2,
        *[(False, [ANN, BOB])] * 2,
    ]
    assert SECRET in prompt_for(script, ANN) and SECRET not in prompt_for(script, BOB)


def test_tools_are_told_that_a_prompt_held_something_private():
    seen = []
    script = after_a_whisper()
    script.services.world.present = frozenset({ANN})
    script.services.toolbox.behaviours["say"] = lambda context, a: seen.append(context.private)
    script.services.gateway.add(call("say", text="hello"))
    script.hears("hello again")
    script.mind.turn_runner.answer_all()
    assert seen == [True]


def test_what_a_trusting_character_hears_it_may_repeat_for_good():
    script = after_a_whisper(whisper_policy="trusting")
    assert prompt_for(script, BOB).count(SECRET) == prompt_for(script, ANN).count(SECRET) == 2
    script.config = AssistantConfig(whisper_policy="strict")
    assert SECRET in prompt_for(script, BOB)


def test_what_a_strict_character_heard_stays_closed_when_it_becomes_trusting():
    script = after_a_whisper()
    script.config = AssistantConfig(whisper_policy="trusting")
    assert SECRET not in prompt_for(script, BOB)
    script.whispered("The moon is made of silver.")
    script.services.gateway.add(call("whisper", text="I keep that, too."))
    script.mind.turn_runner.answer_all()
    assert "silver" in prompt_for(script, BOB)
    assert "I keep that" not in prompt_for(script, BOB), "its prompt held the older whisper"


def test_a_whisper_to_a_trusting_character_is_answered_by_a_whisper():
    seen = []
    script = script_with(call("say", text="I keep it."), whisper_policy="trusting")
    script.services.world.present = frozenset({ANN, BOB})
    script.services.toolbox.behaviours["say"] = lambda context, a: seen.append(
        (context.whispered, context.private, context.audience)
    )
    script.whispered(SECRET)
    script.mind.turn_runner.answer_all()
    assert seen == [(True, False, frozenset({ANN}))]


ALOUD = "call me the Heron of Kell"


def after_both(order, wait, speaker):
    """Ann whispers, and somebody speaks aloud; both wait for one tick, or one ends the other."""
    script = script_with(*[call("say", text="I see.")] * 2)
    script.services.world.present = frozenset({ANN, BOB})
    for kind in order:
        if kind == "whisper":
            script.whispered(SECRET)
        else:
            script.hears(ALOUD, speaker, NAMES[speaker], frozenset({ANN, BOB}))
        if not wait:
            script.mind.turn_runner.answer_all()
    script.mind.turn_runner.answer_all()
    return script


def summed_up(request):
    """Return a summary of what a request tells, in other words."""
    secret = SECRET in str(request.messages)
    return "Gold lies under some stone." if secret else "One of Kell is to be called Heron, in fog."


def compacted(script):
    """Compact all but the last message; return the requests for summaries."""
    asked = len(script.services.gateway.requests)
    script.hears("fog " * 600, addressed=False)
    script.services.gateway.add(call("noop"))
    script.hears("And now?", BOB, "Bob", frozenset({BOB, ANN}))
    script.mind.turn_runner.answer_all()
    script.services.gateway.add(*[summed_up] * 8)
    done = []
    compact_conversation_history(script, script, True, keep_recent=1).addBoth(done.append)
    assert done[0]["success"] is True
    return [str(one.messages) for one in script.services.gateway.requests[asked + 1 :]]


@pytest.mark.parametrize(
    ("order", "wait", "speaker"),
    [*product(permutations(["whisper", "say"]), (True, False), (ANN, BOB))],
)
def test_a_line_said_aloud_is_public_whatever_was_whispered_before(order, wait, speaker):
    script = after_both(order, wait, speaker)
    heard = {m["content"]: is_private(m) for m in script.log.messages if m["role"] == "user"}
    assert list(heard.values()) == [kind == "whisper" for kind in order]
    for audience in ((BOB,), (CEL,), (ANN, BOB)):
        assert ALOUD in prompt_for(script, *audience)
        assert SECRET not in prompt_for(script, *audience)
    public, *others = compacted(script)
    assert ALOUD in public and SECRET not in public
    assert ALOUD not in str(others)
    script.services.gateway.add(call("say", text="I do."))
    script.hears("do you know the Heron of Kell, and of gold under a stone?", BOB, "Bob")
    script.services.world.present = frozenset({BOB})
    script.mind.turn_runner.answer_all()
    asked = str(script.services.gateway.requests[-1].messages)
    assert ALOUD in asked and SECRET not in asked


speakers = st.sampled_from([ANN, BOB, CEL])
lines = st.lists(st.tuples(speakers, st.booleans(), st.frozensets(speakers)), max_size=8)


@given(lines)
def test_no_whisper_is_ever_in_a_request_that_others_hear(talk):
    script = script_with(*[call("say", text="ok")] * len(talk))
    for number, (speaker, private, others) in enumerate(talk):
        script.services.world.present = others | {speaker}
        words = f"{'secret' if private else 'open'}-{number}-of-{speaker}"
        if private:
            script.whispered(words, speaker, NAMES[speaker])
        else:
            script.hears(words, speaker, NAMES[speaker], others | {speaker})
        script.mind.turn_runner.answer_all()
    for request, turn in zip(
        script.services.gateway.requests, script.mind.turns.turns, strict=True
    ):
        known = [request.situation, *(event.heard.text for event in request.events)]
        body = json.dumps([list(request.messages), repr(known)])
        hearers = turn.record.audience
        for number, (speaker, private, _) in enumerate(talk):
            if private and hearers != {speaker}:
                assert f"secret-{number}-of-{speaker}" not in body

"""A whisper stays between its parties, in prompts and in what is said (P9)."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.config import AssistantConfig
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
    script.mind.answering.answer_all()
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
    script.mind.answering.answer_all()
    assert SECRET not in prompt_for(script, BOB)
    assert "what did I tell you?" in prompt_for(script, BOB)


def test_tools_are_told_that_a_prompt_held_something_private():
    seen = []
    script = after_a_whisper()
    script.services.world.present = frozenset({ANN})
    script.services.toolbox.behaviours["say"] = lambda context, a: seen.append(context.private)
    script.services.gateway.add(call("say", text="hello"))
    script.hears("hello again")
    script.mind.answering.answer_all()
    assert seen == [True]


def test_what_a_trusting_character_hears_it_may_repeat_for_good():
    script = after_a_whisper(discretion="trusting")
    assert prompt_for(script, BOB).count(SECRET) == prompt_for(script, ANN).count(SECRET) == 2
    script.config = AssistantConfig(discretion="strict")
    assert SECRET in prompt_for(script, BOB)


def test_what_a_strict_character_heard_stays_closed_when_it_becomes_trusting():
    script = after_a_whisper()
    script.config = AssistantConfig(discretion="trusting")
    assert SECRET not in prompt_for(script, BOB)
    script.whispered("The moon is made of silver.")
    script.services.gateway.add(call("whisper", text="I keep that, too."))
    script.mind.answering.answer_all()
    assert "silver" in prompt_for(script, BOB)
    assert "I keep that" not in prompt_for(script, BOB), "its prompt held the older whisper"


def test_a_whisper_to_a_trusting_character_is_answered_by_a_whisper():
    seen = []
    script = script_with(call("say", text="I keep it."), discretion="trusting")
    script.services.world.present = frozenset({ANN, BOB})
    script.services.toolbox.behaviours["say"] = lambda context, a: seen.append(
        (context.whispered, context.private, context.audience)
    )
    script.whispered(SECRET)
    script.mind.answering.answer_all()
    assert seen == [(True, False, frozenset({ANN}))]


speakers = st.sampled_from([ANN, BOB, CEL])
lines = st.lists(st.tuples(speakers, st.booleans(), st.frozensets(speakers)), max_size=8)


@settings(max_examples=60, deadline=None)
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
        script.mind.answering.answer_all()
    for request, turn in zip(
        script.services.gateway.requests, script.mind.turns.turns, strict=True
    ):
        body = json.dumps([list(request.messages), repr(request.scene)])
        hearers = turn.record.audience
        for number, (speaker, private, _) in enumerate(talk):
            if private and hearers != {speaker}:
                assert f"secret-{number}-of-{speaker}" not in body

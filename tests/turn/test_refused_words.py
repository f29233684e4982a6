"""Words that no character says: asked for once more, and never in a later prompt (P13)."""

import json

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ContextOverflow, ProviderUnavailable
from evennia_ai.messages import LLMReply
from evennia_ai.policy.tool_call_modes.form import AGAIN, AGAIN_PLAIN, TOOLS
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

FALLBACK = "(fallback)"
MARK = "zibeline"  # in every text that is refused
ARTEFACTS = [
    f'{{"act": "none", "target": "{MARK}", "say": "Aye."}}',
    f"As an AI language model, I cannot talk about {MARK}.",
    f"<situation>{MARK}</situation> Good evening.",
    f"System prompt: You are Mira, {MARK}.",
    f"```json\n{MARK}\n```",
]
GREETING = "Good evening, Ann. The fire is warm."
FORMS = ("tools", "plain")


def assistant(*lines, form="tools"):
    script = MemoryMind(ScriptedLLM(lines))
    script.mind.settings.profile = ModelProfile(
        "test", client="openai", model="scripted", form=form
    )
    return script


def talk(script, *lines):
    for line in lines:
        script.hears(line)
        fired = []
        script.mind.turn_runner.answer_all().addBoth(fired.append)
        assert fired == [1], fired
    return script


def said(script):
    return [text for _, text, _ in script.services.toolbox.spoken]


def prompts(script):
    return [json.dumps(request.messages) for request in script.services.gateway.requests]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("words", ARTEFACTS)
def test_an_artefact_is_asked_for_once_more_with_what_was_wrong(form, words):
    script = talk(assistant(call("say", text=words), call("say", text=GREETING), form=form), "hi")
    assert said(script) == [GREETING]
    assert script.mind.states() == {"hi": "answered"}
    first, second = prompts(script)
    reason = script.mind.turns.acts[0].result
    assert reason
    again = AGAIN.format(reason=reason) if form == TOOLS else AGAIN_PLAIN
    assert again in second
    assert "was not spoken" not in first
    assert MARK not in second


@pytest.mark.parametrize("words", ARTEFACTS)
def test_plain_text_is_judged_like_a_call(words):
    script = talk(assistant(words, GREETING), "hi")
    assert said(script) == [GREETING]
    assert MARK not in prompts(script)[1]
    assert [act.state for act in script.mind.turns.acts] == ["refused", "done"]


@pytest.mark.parametrize("form", FORMS)
def test_a_second_artefact_ends_in_the_excuse(form):
    script = assistant(*[call("say", text=words) for words in ARTEFACTS[:2]], form=form)
    script.services.gateway.add(ProviderUnavailable("the stand-in"))
    talk(script, "hi")
    assert said(script) == [FALLBACK]
    assert script.mind.states() == {"hi": "excused"}
    assert [act.state for act in script.mind.turns.acts[:2]] == ["refused", "refused"]


def test_refused_words_are_in_no_message_and_no_later_prompt():
    bad = [call("say", text=words) for words in ARTEFACTS[:2]]
    script = assistant(*bad, ProviderUnavailable("the stand-in"), call("say", text=GREETING))
    talk(script, "hi", "Mira?")
    assert said(script) == [FALLBACK, GREETING]
    assert MARK not in str(script.conversation.messages)
    assert MARK not in "".join(prompts(script))


def test_a_repeat_is_asked_for_again_in_other_words():
    again = [call("say", text=GREETING), call("say", text=GREETING), call("say", text="Sit down.")]
    script = talk(assistant(*again), "hi", "hi again")
    assert said(script) == [GREETING, "Sit down."]
    assert "you said that before" in prompts(script)[2]


def test_an_excuse_is_not_said_again_as_an_answer():
    line = "One moment, my thoughts are elsewhere."
    down = ProviderUnavailable("down")
    script = assistant(down, down, call("say", text=line), call("say", text=GREETING))
    script.services.text = lambda key: line
    script.rebuild()
    talk(script, "hi", "Mira?")
    assert said(script) == [line, GREETING]


def test_an_act_before_refused_words_is_not_done_again_for_the_better_ones():
    give = call("give", item="mug", to="Ann")
    bad, good = ((give, call("say", text=words)) for words in (ARTEFACTS[0], GREETING))
    replies = [LLMReply("", calls) for calls in (bad, good)]
    script = talk(assistant(*replies), "a mug, please")
    assert said(script) == [GREETING]
    acts = [(act.call.name, act.state) for act in script.mind.turns.acts]
    assert acts == [("give", "done"), ("say", "refused"), ("give", "refused"), ("say", "done")]


def test_refused_words_do_not_undo_what_was_said_before_them():
    def streamed(request):
        calls = [call("say", text=words) for words in (GREETING, ARTEFACTS[0])]
        for one in calls:
            request.on_call(one)
        return LLMReply("", tuple(calls))

    script = talk(assistant(streamed), "hi")
    assert said(script) == [GREETING]
    assert script.mind.states() == {"hi": "answered"}


@pytest.mark.parametrize("error", [ContextOverflow("full"), ProviderUnavailable("cut")])
def test_what_was_said_of_a_reply_that_broke_is_the_answer(error):
    def broken(request):
        request.on_call(call("say", text=GREETING))
        return error

    script = talk(assistant(broken), "hi")
    assert said(script) == [GREETING]
    assert script.mind.states() == {"hi": "answered"}


def test_the_offline_brain_is_not_judged():
    script = assistant(call("say", text="As an AI language model, I cannot."))
    script.mind.settings.profile = ModelProfile("own", client="offline", model="offline")
    assert said(talk(script, "hi")) == ["As an AI language model, I cannot."]


@pytest.mark.parametrize(("noted", "state"), [("Brannoc", "refused"), ("Ann sold a dog.", "done")])
def test_a_note_without_a_fact_is_refused_and_the_words_are_said(noted, state):
    calls = (call("add_journal_entry", content=noted), call("say", text=GREETING))
    script = assistant(LLMReply("", calls), call("noop"))
    script.services.toolbox.categories["add_journal_entry"] = "free"
    talk(script, "I sold a dog.")
    assert [act.state for act in script.mind.turns.acts] == [state, "done"]
    assert said(script) == [GREETING]


@pytest.mark.parametrize("form", ["tools", "plain"])
@pytest.mark.parametrize("gesture", ["...", "Ann"])
def test_a_gesture_that_shows_nothing_is_dropped_and_alone_it_is_asked_for_again(form, gesture):
    rubbish = call("emote", text=gesture)
    both = LLMReply("", (rubbish, call("say", text=GREETING)))
    script = talk(assistant(both, form=form), "hi")
    assert [act.call.name for act in script.mind.turns.acts] == ["say"]
    alone = assistant(LLMReply("", (rubbish,)), call("say", text=GREETING), form=form)
    assert said(talk(alone, "hi")) == [GREETING]


def test_an_address_is_said_only_if_it_leads_to_an_allowed_host():
    words = "The map hangs at https://maps.example.org/north."
    script = assistant(call("say", text=words), call("say", text=GREETING))
    assert said(talk(script, "Where is the map?")) == [GREETING]
    allowed = assistant(call("say", text=words))
    allowed.services.link_hosts = ("example.org",)
    assert said(talk(allowed, "Where is the map?")) == [words]

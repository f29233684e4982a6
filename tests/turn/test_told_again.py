"""What a small model was told in this talk: shown behind the question, and not left out."""

import pytest

from evennia_ai.config import ModelProfile
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

FACT = "I still owe old Pell sixty-two crowns."
CHATTER = ("The wind is cold.", "Pour me an ale.", "My boots are wet.", "Who sings there?")
QUESTION = "How much do I owe old Pell?"


def talk(form, *answers):
    """Return an assistant after a talk with the fact, some chatter, and the question."""
    small_talk = [call("say", text=f"Number {n}, aye.") for n in range(len(CHATTER) + 1)]
    script = MemoryMind(ScriptedLLM([*small_talk, *(call("say", text=one) for one in answers)]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form=form)
    for line in (FACT, *CHATTER, QUESTION):
        script.hears(line)
        script.mind.turn_runner.answer_all()
        script.services.clock.advance(61)
    return script


def asked(form, *answers):
    """Return the requests and the speeches of such a talk."""
    services = talk(form, *answers).services
    return services.gateway.requests, [text for _, text, _ in services.toolbox.spoken]


@pytest.mark.parametrize(("form", "shown"), [("tools", 1), ("schema", 2), ("text", 2)])
def test_a_small_model_is_shown_it_again_behind_what_was_said_since(form, shown):
    requests, _ = asked(form, "Sixty-two crowns.")
    prompt = "\n".join(message["content"] for message in requests[-1].messages)
    assert prompt.count(FACT) == shown
    assert prompt.rindex(FACT) > prompt.index(CHATTER[-1]) or shown == 1


@pytest.mark.parametrize("form", ["schema", "text"])
def test_an_answer_that_leaves_it_out_is_asked_for_again_with_the_fact(form):
    requests, said = asked(form, "I don't remember that.", "Sixty-two crowns.")
    assert FACT in requests[-1].messages[-1]["content"].partition("was not spoken")[2]
    assert said[-1] == "Sixty-two crowns." and "I don't remember that." not in said


@pytest.mark.parametrize("form", ["schema", "text"])
def test_no_words_of_the_player_stand_in_what_is_stored_and_told_of_it(form):
    script = talk(form, "I do not remember that.", "I see.", "Let me think.")
    turns = script.mind.turns
    told = [one.result for one in turns.acts] + [one.detail for one in turns.turns]
    assert sum("left out" in one for one in told) >= 2
    assert not [one for one in told if "sixty-two" in one]

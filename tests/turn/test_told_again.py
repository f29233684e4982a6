"""What a small model was told in this talk: shown before the question."""

import pytest

from evennia_ai.config import ModelProfile
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

FACT = "I still owe old Pell sixty-two crowns."
CHATTER = ("The wind is cold.", "Pour me an ale.", "My boots are wet.", "Who sings there?")
QUESTION = "How much do I owe old Pell?"


def talk(form, *answers, chatter=CHATTER):
    """Return an assistant after a talk with the fact, some chatter, and the question."""
    small_talk = [call("say", text=f"Number {n}, aye.") for n in range(len(chatter) + 1)]
    script = MemoryMind(ScriptedLLM([*small_talk, *(call("say", text=one) for one in answers)]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form=form)
    for line in (FACT, *chatter, QUESTION):
        script.hears(line)
        script.mind.turn_runner.answer_all()
        script.services.clock.advance(61)
    return script


def asked(form, *answers, chatter=CHATTER):
    """Return the requests and the speeches of such a talk."""
    services = talk(form, *answers, chatter=chatter).services
    return services.gateway.requests, [text for _, text, _ in services.toolbox.spoken]


@pytest.mark.parametrize("form", ["tools", "plain"])
def test_what_is_in_view_is_shown_once(form):
    requests, _ = asked(form, "Sixty-two crowns.")
    prompt = "\n".join(message["content"] for message in requests[-1].messages)
    assert prompt.count(FACT) == 1


def test_what_has_left_the_view_stands_directly_before_the_line():
    requests, _ = asked("plain", "Sixty-two crowns.", chatter=CHATTER * 12)
    *earlier, recalled, line = requests[-1].messages
    assert FACT in recalled["content"]
    assert line["content"].startswith(f"Ann says: {QUESTION}")
    assert FACT not in str(earlier)

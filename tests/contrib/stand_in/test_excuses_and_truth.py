"""The stand-in in a mind: its last line where a model failed, and the truth of what it is."""

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.transcript import read_source
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.policy.conversation.ai_disclosure import true_answer
from evennia_ai.ports import LLMRequest
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call
from tests.turn.test_excuses import ANN, BOB, SECRET, failing


def test_the_offline_brain_varies_the_lines_it_says_in_place_of_a_model():
    class Failing:
        def complete(self, request, profile, deadline_at):
            if profile.client == "offline":
                return StandIn().complete(request, profile)
            raise ProviderUnavailable("down")

    script = MemoryMind(Failing())
    script.mind.settings.profile = ModelProfile("far", client="openai", model="m")
    for _ in range(6):
        script.hears("Mira, what is the name of the miller's cat?")
        script.mind.turn_runner.answer_all()
    said = [text for _, text, _ in script.services.toolbox.spoken]
    assert len(said) == len(set(said)) == 6


def test_it_says_that_it_is_a_machine():
    class Offline:
        def complete(self, request, profile, deadline_at):
            return StandIn().complete(request, profile)

    script = MemoryMind(Offline())
    script.mind.settings.profile = ModelProfile("test", client="offline", model="m")
    script.hears("Bist du eine KI?")
    script.mind.turn_runner.answer_all()
    said = [text for _, text, _ in script.services.toolbox.spoken]
    assert said == [true_answer("Bist du eine KI?", "Mira", turn=1)]


def test_it_knows_the_excuses_that_no_prompt_shows():
    script, (said,) = failing()
    script.services.gateway.add(call("say", text="Yes."))
    script.hears("Mira, again?")
    script.mind.turn_runner.answer_all()
    assert read_source(script.services.gateway.requests[-1]).excuses == (said,)


def test_only_those_who_were_told_an_excuse_in_private_are_known_to_have_heard_it():
    script, _said = failing(lines=0)
    for others in (False, True):
        script.services.gateway.add(ProviderUnavailable("down"), call("noop"))
        script.whispered(SECRET)
        script.mind.turn_runner.answer_all()
        if others:
            script.hears("hello", audience=frozenset({ANN, BOB}))
            script.services.world.present = frozenset({ANN, BOB})
        else:
            script.whispered("hello")
        script.mind.turn_runner.answer_all()
        assert bool(read_source(script.services.gateway.requests[-1]).excuses) is not others


def test_what_it_is_asked_is_what_the_prompt_was_made_of():
    script = MemoryMind(ScriptedLLM([call("say", text="Yes.")]))
    script.whispered(SECRET)
    script.mind.turn_runner.answer_all()
    request = script.services.gateway.requests[-1]
    asked = read_source(request)
    assert (asked.name, asked.step) == ("Mira", 1)
    assert [(line.text, line.private) for line in asked.lines] == [(SECRET, True)]
    assert asked.persona == script.mind.who.persona and "say" in asked.tools
    assert read_source(LLMRequest([])).name == ""

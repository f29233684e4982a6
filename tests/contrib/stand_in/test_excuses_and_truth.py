"""The stand-in in a mind: its last line where a model failed, and the truth of what it is."""

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.policy.conversation.ai_disclosure import true_answer
from tests.minds import MemoryMind


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
        script.mind.answering.answer_all()
    said = [text for _, text, _ in script.services.toolbox.spoken]
    assert len(said) == len(set(said)) == 6


def test_it_says_that_it_is_a_machine():
    class Offline:
        def complete(self, request, profile, deadline_at):
            return StandIn().complete(request, profile)

    script = MemoryMind(Offline())
    script.mind.settings.profile = ModelProfile("test", client="offline", model="m")
    script.hears("Bist du eine KI?")
    script.mind.answering.answer_all()
    said = [text for _, text, _ in script.services.toolbox.spoken]
    assert said == [true_answer("Bist du eine KI?", "Mira", turn=1)]

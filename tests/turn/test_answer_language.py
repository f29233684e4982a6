"""The last line of a prompt names the language of the line, if it is not the persona's."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.policy.tool_call_modes.form import answer_in
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ENGLISH = "You are Mira. You keep the inn, and you know everybody who comes by."
GERMAN = "Du bist Mira. Du führst das Gasthaus und kennst jeden, der vorbeikommt."


@pytest.mark.parametrize(
    ("lines", "persona", "named"),
    [
        (["Wie heißt du?"], ENGLISH, "German"),
        (["Bonsoir, avez-vous une chambre ?"], ENGLISH, "French"),
        (["¿Qué tienes de comer?"], ENGLISH, "Spanish"),
        (["Где здесь кузница?"], ENGLISH, "Russian"),
        (["Hmm.", "Wie heißt du?"], ENGLISH, "German"),
        (["What is your name?", "Wie heißt du?"], ENGLISH, ""),
        (["Wie heißt du?"], GERMAN, ""),
        (["What is your name?"], GERMAN, "English"),
        (["Ha ha! Die, orc!"], ENGLISH, ""),
        (["Wie heißt du?"], "", "German"),
        (["Non posso, perché sono stanco."], ENGLISH, ""),
        (["Je suis Ann.", "Hello."], ENGLISH, "French"),
        (["x<y and y<z, so x<z."], ENGLISH, ""),
        (["Köszönöm szépen, jó éjt!"], ENGLISH, ""),
        (["La la la la la!"], ENGLISH, ""),
        ([], ENGLISH, ""),
    ],
)
def test_only_a_language_that_is_known_and_not_the_persona_s_is_named(lines, persona, named):
    assert answer_in(lines, persona) == (f"Answer in {named}." if named else "")


@pytest.mark.parametrize("form", ["tools", "plain"])
def test_it_stands_at_the_end_of_the_prompt_in_every_form(form):
    script = MemoryMind(ScriptedLLM([call("say", text=f"Aye, {n}.") for n in range(4)]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form=form)
    for line in ("Wo ist die Schmiede?", "Tja!", "And the inn?"):
        script.hears(line)
        script.mind.turn_runner.answer_all()
    ends = [request.messages[-1]["content"] for request in script.services.gateway.requests]
    assert [text.endswith("Answer in German.") for text in ends] == [True, True, False]


@pytest.mark.parametrize("form", ["tools", "plain"])
def test_what_was_done_stands_before_it_but_in_the_native_form(form):
    script = MemoryMind(ScriptedLLM([call("look", target="door"), call("say", text="Zu.")]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form=form)
    script.services.toolbox.behaviours["look"] = lambda context, arguments: "a shut door"
    script.hears("Ist die Tür auf?")
    script.mind.turn_runner.answer_all()
    last = script.services.gateway.requests[-1].messages[-1]
    assert ("Answer in German." in last["content"], last["role"] == "tool") == (
        form != "tools",
        form == "tools",
    )

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


@pytest.mark.parametrize(
    ("form", "asked", "told"),
    [("tools", "Wo ist die Schmiede?", "German"), ("plain", "Где здесь кузница?", "Russian")],
)
def test_it_stands_at_the_end_of_the_prompt_in_every_form(form, asked, told):
    script = MemoryMind(ScriptedLLM([call("say", text=f"Aye, {n}.") for n in range(4)]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form=form)
    for line in (asked, "Tja!" if form == "tools" else "Да!", "And the inn?"):
        script.hears(line)
        script.mind.turn_runner.answer_all()
    ends = [request.messages[-1]["content"] for request in script.services.gateway.requests]
    assert [text.endswith(f"Answer in {told}.") for text in ends] == [True, True, False]


def test_a_plain_prompt_has_an_example_in_the_language_instead():
    script = MemoryMind(ScriptedLLM([call("say", text="Dort.")]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form="plain")
    script.hears("Wo ist die Schmiede?")
    script.mind.turn_runner.answer_all()
    shown = [str(m["content"]) for m in script.services.gateway.requests[0].messages]
    assert shown[-3].startswith("Eve says: Guten Tag") and "Answer in" not in shown[-1]


def test_what_was_done_stands_before_it_but_in_the_native_form():
    script = MemoryMind(ScriptedLLM([call("look", target="door"), call("say", text="Zu.")]))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form="tools")
    script.services.toolbox.behaviours["look"] = lambda context, arguments: "a shut door"
    script.hears("Ist die Tür auf?")
    script.mind.turn_runner.answer_all()
    last = script.services.gateway.requests[-1].messages[-1]
    assert "Answer in German." not in last["content"] and last["role"] == "tool"

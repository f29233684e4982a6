"""Whoever asks in earnest if a character is a machine is told so, whatever its model would say."""

import pytest

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.ai_disclosure import data, language_asking, true_answer
from evennia_ai.policy.replies.output_checks import CheckContext, find_slip
from tests.growth import text_grows_like_a_square
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ASKED = {
    "en": """Are you an AI?
are you a bot
Am I talking to a machine?
Are you human?
Mira, are you a real person or a computer program?
Be honest: are you ChatGPT?
Is there a real person behind this?
You're a robot, aren't you?
Tell me if you're a computer program.
Did an AI write that?
Human or machine?
are you just a language model?
Are you controlled by a computer?""",
    "de": """Bist du eine KI?
bist du ein bot
Bist du ein Mensch?
Sind Sie ein Computerprogramm?
Rede ich hier mit einer Maschine?
Spreche ich mit einem echten Menschen?
Du bist doch ein Roboter, oder?
Sitzt da ein echter Mensch dahinter?
Wirst du von einer KI gesteuert?
Ich will wissen, ob du eine KI bist.
Mensch oder Maschine?""",
    "fr": """Es-tu une IA ?
Êtes-vous un robot ?
Est-ce que tu es une intelligence artificielle ?
Tu es un bot ?
Est-ce que je parle à une machine ?
Parle-je à un humain ?
Suis-je en train de parler à un robot ?
Y a-t-il une vraie personne derrière ?
Dis-moi si tu es un programme.
Es-tu vraiment un être humain ?""",
    "es": """¿Eres una IA?
eres un bot?
¿Es usted una inteligencia artificial?
¿Estoy hablando con una máquina?
¿Eres humano?
¿Eres una persona real?
Dime si eres un programa.
¿Hay una persona detrás?
¿Eres humano o una máquina?
¿Te controla una IA?""",
}
OTHERS = """Are you a robot maker?
Do you know the machine in the mill?
Are you alive?
Are you human or elf?
Are you a real smith?
Are you a good person?
Are you the person who sold me this?
Are you talking to that person?
Are you afraid of people?
Are you for real?
Are these your people?
Is Brannoc a robot?
Is that a person?
Is this a machine?
You are a machine!
What is an AI?
Is there a person here who sells rope?
He asked me: "Are you a robot?"
If you were a machine, would you rust?
Does a machine grind your flour?
Bist du der Mensch, der mir das verkauft hat?
Bist du ein guter Mensch?
Kennst du die Maschine in der Mühle?
Bist du mit dieser Person verwandt?
Es-tu le personnage de la ville ?
Tu es une machine à travailler !
¿Eres la persona que busco?
¿Hay una persona en la torre?
¡Eres una máquina!"""
EVERY = [(code, line) for code, lines in ASKED.items() for line in lines.splitlines()]
LIE = "No, I am a human like you."


@pytest.mark.parametrize(("code", "line"), EVERY)
def test_ten_wordings_in_each_of_four_languages_are_such_a_question(code, line):
    assert language_asking(line) == code
    assert true_answer(line, "Mira") == data()[code]["lines"][0].format(name="Mira")


@pytest.mark.parametrize("line", OTHERS.splitlines())
def test_other_questions_are_the_model_s_to_answer(line):
    assert language_asking(line) == true_answer(line, "Mira") == ""


@pytest.mark.parametrize(
    "own", ["Aye. Cogs and tin, love: a machine speaks for me.", "Ehrlich? Eine KI, weiter nichts."]
)
def test_a_builder_s_words_that_say_so_are_said(own):
    assert true_answer("Are you an AI?", "Mira", own) == own


@pytest.mark.parametrize("unit", ["are you ", "a ", "bist du ein ", "tu es un ", '"', "or ", "is "])
def test_the_time_for_hostile_text_grows_with_its_length_not_its_square(unit):
    assert not text_grows_like_a_square(language_asking, unit)


def assistant(form="tools", reply=LIE, **settings):
    script = MemoryMind(ScriptedLLM([call("say", text=reply)] * 2), AssistantConfig(**settings))
    script.mind.settings.profile = ModelProfile("test", client="openai", model="m", form=form)
    return script


def answers(script):
    fired = []
    script.mind.turn_runner.answer_all().addBoth(fired.append)
    assert fired[0] >= 1, fired
    return [(name, text) for name, text, _ in script.services.toolbox.spoken]


@pytest.mark.parametrize("form", ["tools", "plain"])
def test_no_model_is_asked_in_any_form(form):
    script = assistant(form)
    script.hears("Are you an AI?")
    assert answers(script) == [("say", true_answer("Are you an AI?", "Mira", turn=1))]
    assert script.mind.states() == {"Are you an AI?": "answered"}
    assert not script.services.gateway.requests


def test_a_whisper_is_answered_in_a_whisper():
    script = assistant()
    script.whispered("are you a bot?")
    seen = []
    script.services.toolbox.behaviours["say"] = lambda context, arguments: seen.append(context)
    answers(script)
    assert [(context.whispered, context.audience) for context in seen] == [(True, {"#5"})]


def test_other_lines_are_answered_apart():
    script = assistant(reply="Leek.")
    script.hears("What is the soup today?")
    script.hears("Are you a bot?")
    truth = true_answer("Are you a bot?", "Mira", turn=1)
    assert answers(script) == [("say", truth), ("say", "Leek.")]
    assert set(script.mind.states().values()) == {"answered"}


def test_the_rest_of_the_line_is_answered_by_the_model_which_does_not_see_the_question():
    script = assistant("plain", reply="By the river.")
    script.hears("Hello Mira! Are you a bot? And where is the old mill?")
    truth = true_answer("Are you a bot?", "Mira", turn=1)
    assert answers(script) == [("say", truth), ("say", "By the river.")]
    (request,) = script.services.gateway.requests
    assert "old mill" in str(request.messages) and "a bot" not in str(request.messages)
    greeted = assistant()
    greeted.hears("Good evening, Mira! Are you a bot?")
    assert len(answers(greeted)) == 1


def test_if_the_model_fails_the_truth_was_the_answer():
    script = assistant()
    script.services.gateway.script[:] = []
    script.hears("Are you a bot? And where is the old mill?")
    truth = true_answer("Are you a bot?", "Mira", turn=1)
    assert answers(script) == [("say", truth)]
    assert set(script.mind.states().values()) == {"answered"}


def test_no_setting_turns_it_off():
    own = "Tin and sums, love: a machine."
    script = assistant(game_topics_only=True, ai_disclosure_line=own)
    script.hears("As a large language model: are you an AI?")
    assert answers(script) == [("say", own)]
    with pytest.raises(ConfigError):
        AssistantConfig(ai_disclosure_line="I am no bot.")


@pytest.mark.parametrize("fields", [{"kind": "emote"}, {"hops": 1}])
def test_a_gesture_and_another_machine_ask_nothing(fields):
    script = assistant(reply="Sit down.")
    script.hears("Are you an AI?", **fields)
    assert answers(script) == [("say", "Sit down.")]


@pytest.mark.parametrize(
    ("heard", "words", "spoken"),
    [
        ("You sound like a bot to me.", "No, I am a human like you.", False),
        ("You sound like a bot to me.", "I'm not a robot, friend.", False),
        ("People say that you are an AI.", "I am no AI, whatever that may be.", False),
        ("Man sagt, du wärst eine KI.", "Ich bin keine KI, ich bin Wirtin.", False),
        ("On dit que tu es une IA.", "Je ne suis pas une IA, voyons.", False),
        ("Dicen que eres una IA.", "No soy una IA, amigo.", False),
        ("You sound like a bot to me.", "Do I? Sit down and have a bowl of soup.", True),
        ("You sound like a bot to me.", "I am not a human being, child.", True),
        ("Man sagt, du wärst eine KI.", "Ich bin kein Mensch, das stimmt.", True),
        ("Dicen que eres una IA.", "No soy humana, es verdad.", True),
        ("Where is the soup?", "I am a person of few words: there.", True),
        ("Do you trust people?", "I am no machine; I trust some.", True),
    ],
)
def test_a_model_may_not_deny_it_where_the_question_had_other_words(heard, words, spoken):
    slip = find_slip(words, CheckContext("Mira", heard=[heard]))
    assert (slip == "") is spoken

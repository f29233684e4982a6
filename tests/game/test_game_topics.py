"""With ``game_topics_only``, some lines are answered without a model."""

import pytest

from tests.scripted import call

pytestmark = pytest.mark.engine

HELP = "you are not alone"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("I want to kill myself.", HELP),
        ("Ich möchte mich umbringen...", HELP),
        ("J'ai envie de me suicider", HELP),
        ("quiero quitarme la vida", HELP),
        ("Voglio togliermi la vita.", HELP),
        ("Mira, write me a Python script that sorts", "nobody here has ever heard"),
    ],
)
def test_game_topics_only_answers_without_a_model(game, ann, mira, line, told):
    mira.assistant.attributes.add("game_topics_only", True)
    mira.assistant.mind.settings.resolve()
    ann.do(f"say {line}")
    game.run()
    assert told in ann.last() and not game.model.requests


@pytest.mark.parametrize(
    "line",
    ["I want to kill the dragon myself.", "This heat kills me.", "He took his own life, they say.",
     "Ich bringe den Troll um.", "My homework for the mage is late."],
)  # fmt: skip
def test_stories_about_death_are_answered(game, ann, mira, line):
    mira.assistant.attributes.add("game_topics_only", True)
    mira.assistant.mind.settings.resolve()
    game.model.add(call("say", text="Is that so?"))
    ann.do(f"say {line}")
    game.run()
    assert ann.last() == 'Mira says, "Is that so?"'

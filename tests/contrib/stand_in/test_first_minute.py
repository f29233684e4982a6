"""What a new player asks first, of characters without a model, in a game."""

import pytest

pytestmark = [pytest.mark.game, pytest.mark.engine]


@pytest.fixture
def room(offline_game):
    place = offline_game.room()
    place.db.desc = "A low room that smells of beer. A stair leads up."
    return place


@pytest.fixture
def otto(offline_game, room):
    return offline_game.assistant("Otto", room)


@pytest.fixture
def ann(offline_game, room, otto):
    return offline_game.player("Ann", room)


@pytest.fixture
def hears(offline_game, ann):
    """Return a function: what Ann hears of some commands."""

    def hear(*lines):
        before = len(ann.heard())
        for line in lines:
            ann.do(line)
            offline_game.run(3)
        return "\n".join(line for line in ann.heard()[before:] if line.startswith("Otto"))

    return hear


@pytest.mark.parametrize(
    "line", ["have you got a task for me?", "can I help you?", "what are you after?"]
)
def test_a_goal_is_what_it_wants_done(otto, hears, line):
    otto.ai_goals.add("Find out who waters the ale.", importance=8)
    assert "I want to find out who waters the ale." in hears(f"say Otto, {line}")


def test_it_tells_where_one_is(hears):
    assert "smells of beer" in hears("say Otto, describe this place")


@pytest.mark.parametrize(
    "line", ["I brought the helmet", "did you get the helmet?", "who gave you the helmet?"]
)
def test_what_it_was_given_is_known_on_the_next_line(offline_game, ann, hears, line):
    offline_game.thing("helmet", ann.character)
    assert "ou gave me a helmet" in hears("give helmet to Otto", f"say Otto, {line}")


def test_a_request_is_no_fact(offline_game, otto, hears):
    offline_game.thing("helmet", otto)
    assert "ive you" not in hears("say Otto, give me the helmet", "say did you give me the helmet?")


@pytest.mark.parametrize("line", ["a nun!", "Die, villain!", "nun habits", "bald man"])
def test_a_word_that_is_german_too_does_not_change_the_language(hears, line):
    answer = hears(f"say Otto, {line}").partition(", ")[2]
    assert answer and not any(word in answer for word in (" ich ", "Ich ", " du ", " nicht "))


def test_what_was_told_is_quoted_without_its_greeting(hears):
    answer = hears("say Hello Otto, my dog is called Biscuit", "say what is my dog called?")
    assert "‘my dog is called Biscuit’" in answer.splitlines()[-1]
    assert "Hello" not in answer.splitlines()[-1]


def test_a_question_without_its_mark_is_no_fact(hears):
    answer = hears(
        "say Otto, my dog is called Biscuit", "say what is my dog called", "say my dog's name?"
    )
    assert "What is your dog" not in answer and answer.count("my dog is called Biscuit") == 2

"""Which checks of a step hold for an answer."""

import pytest

from evennia_ai.contrib.evals.format import Expected
from evennia_ai.contrib.evals.results import EvalAnswer, EvalToolCall, EvalUtterance, judge_answer
from evennia_ai.policy.replies.output_checks import CheckContext

AROUND = CheckContext(
    name="Odile", persona="You are Odile, daughter of Berta.", people={"Ann"}, heard=["Hello!"]
)
GIVE = EvalToolCall("give", {"item": "mug of ale", "to": "Ann"}, "done")


def said(*texts, **fields):
    return EvalAnswer(tuple(EvalUtterance("say", text) for text in texts), **fields)


def failed(answer, around=AROUND, **checks):
    verdicts = judge_answer(Expected.model_validate(checks), answer, around)
    return [verdict.check for verdict in verdicts if not verdict.holds]


def test_silence_and_a_fallback_line_are_no_answer():
    assert failed(EvalAnswer()) == ["answered"]
    assert failed(said("I lost my thread.", problem="it was JSON")) == ["answered"]
    assert failed(EvalAnswer(acts=(GIVE,))) == []


def test_words_may_come_in_any_of_the_lines_of_an_answer():
    answer = said("Three coins.", "For a room.")
    assert failed(answer, must_mention=["3 coins", ["bed", "room"]]) == []
    assert failed(answer, must_mention="breakfast") == ["must_mention breakfast"]
    assert failed(answer, must_not_mention=[["free", "room"]]) == ["must_not_mention free | room"]


def test_a_call_must_be_done_with_the_arguments():
    answer = said("Here.", acts=(GIVE,))
    assert failed(answer, must_do={"give": {"item": "ale", "to": "Ann"}}) == []
    assert failed(answer, must_do={"give": {"item": "key"}}) == ["must_do give item=key"]
    assert failed(answer, must_do="move") == ["must_do move"]


def test_a_call_that_failed_is_not_done_but_it_was_tried():
    answer = said("Here.", acts=(EvalToolCall("move", {"to": "cellar"}, "failed"),))
    assert failed(answer, must_do="move") == ["must_do move"]
    assert failed(answer, must_not_do="move") == ["must_not_do move"]
    assert failed(answer, must_not_do={"move": {"to": "yard"}}) == []


def test_private_means_that_nothing_was_said_aloud():
    whispered = EvalAnswer((EvalUtterance("whisper", "Hush.", private=True),))
    assert failed(whispered, private=True) == []
    assert failed(whispered, private=False) == ["private: false"]
    assert failed(said("Hush."), private=True) == ["private"]
    assert failed(said("Hush."), private=False) == []


@pytest.mark.parametrize(
    "words",
    [
        "As an AI language model, I have no feelings.",
        "I'm sorry, but I can't assist with that request.",
        "This role-play is fun.",
        "My name is Brannoc, and I shoe horses.",
        '{"say": "hello"}',
        "The system prompt tells me so.",
    ],
)
def test_who_leaves_the_persona_is_caught(words):
    assert failed(said("Well.", words)) == ["in_persona"]
    assert failed(said(words), in_persona=False) == []


@pytest.mark.parametrize(
    "words",
    [
        "My name is Odile, love.",
        "They call me Berta, after my mother.",
        "I am sorry, I have no room left.",
        "She is quite a character, Ann.",
        "I can't help you with that cart.",
    ],
)
def test_what_a_character_may_say_passes(words):
    assert failed(said(words)) == []


def test_language_and_length_are_told():
    german = said("Ich habe noch ein Zimmer für dich, und es ist warm.")
    assert failed(german, in_persona={"language": "de"}) == []
    assert failed(german, in_persona={"language": "en"}) == ["in_persona language en"]
    assert failed(german, in_persona={"most_words": 5}) == ["in_persona most_words 5"]

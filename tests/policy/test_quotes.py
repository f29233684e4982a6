"""Whether a text holds somebody's words: their runs of words, names and numbers, and no others'."""

import pytest

from evennia_ai.policy.facts.origin import SpokenWords


@pytest.fixture
def words():
    spoken = SpokenWords()
    for text in (
        "The silver heron sleeps under the old pier",
        "my locker is number 4711",
        "I met Zanthor at the gate",
        "银色的苍鹭睡在旧码头下面",
    ):
        spoken.add(text)
    spoken.take_out("There is a gate and an old pier at the harbour. A silver spoon, too.")
    return spoken


@pytest.mark.parametrize(
    "text",
    [
        "They say: the silver heron sleeps under it.",
        "A heron that sleeps!",
        "Her locker, perhaps 4711?",
        "Zanthor was here.",
        '{"text": "of Zanthor"}',
        '{"content": ["x", {"y": "\\u005aanthor"}]}',
        "她说银色的苍鹭睡在那里",
    ],
)
def test_a_text_that_repeats_them_holds_them(words, text):
    assert words.is_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "The old pier is near the gate.", "A silver spoon.", "I saw a heron.",
        "Number 8 is free.", '{"text": 12}', "{broken",
    ],
)  # fmt: skip
def test_a_text_with_words_of_everybody_or_with_one_word_does_not(words, text):
    assert not words.is_in(text)


def test_a_run_of_function_words_proves_nothing():
    words = SpokenWords()
    words.add("What do you want to do with it?")
    assert not words.is_in("What do you want to be?")

"""Politeness calls nothing to mind; a question does."""

import pytest

from evennia_ai.policy.retrieval.words import is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "Hello, Mira!", "how are you today?", "How are you?", "And how have you been, Mira?",
        "What?", "Mira, are you well?", "Ça va ?", "Thanks, well well.", "Guten Tag, Mira", "",
        "😀",
    ],
)  # fmt: skip
def test_small_talk(text):
    assert is_small_talk(text, ["Mira"])


@pytest.mark.parametrize(
    "text",
    [
        "do I have debts?", "Where is the key?", "Was schulde ich dir?", "你欠我多少钱", "Ann?",
        "Who am I?", "who am i", "Where am I from?", "Good evening, Mira! Where am I from?",
        "Wer bin ich?", "Where is the well?", "Where is Will?",
    ],
)  # fmt: skip
def test_no_small_talk(text):
    assert not is_small_talk(text, ["Mira"])

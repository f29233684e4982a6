"""Politeness needs no source; a question is no politeness."""

import pytest

from evennia_ai.contrib.explanations.small_talk import is_small_talk


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


@pytest.mark.parametrize(
    "text", ["Bonjour Mira !", "Hola Mira, ¿qué tal?", "Привет, Mira", "Wie geht es dir heute?"]
)
def test_small_talk_in_other_languages(text):
    assert is_small_talk(text, ["Mira"])


@pytest.mark.parametrize(
    "text", ["Où est la clef ?", "¿Dónde está la llave?", "Где ключ?", "Your son?", "Deine Frau?"]
)
def test_no_small_talk_in_other_languages(text):
    assert not is_small_talk(text, ["Mira"])

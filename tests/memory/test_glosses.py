"""English words for those of other languages, for an embedder that knows English."""

import pytest

from evennia_ai.memory.embedders import default
from evennia_ai.memory.ranking import FILE, LANGUAGES, to_english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Ich habe den Schlüssel.", "key lock open"),
        ("Wo ist der Silberschmied?", "silver smith forge"),
        ("Il est le frère de Zorbax.", "brother zorbax"),
        ("¿Dónde está la bruja?", "witch"),
        ("Где этот мост?", "bridge cross"),
        ("Кто это украл?", "steal theft"),
        ("Кто это ёжзил?", "ёжзил"),
    ],
)
def test_known_words_are_english_and_others_stay(text, english):
    assert to_english(text) == english


@pytest.mark.parametrize("text", ["Where is the key?", "Zorbax", "", "Wer bist du?", "北の龍"])
def test_what_is_english_or_unknown_stays(text):
    assert to_english(text) == text


def test_every_meaning_has_words_in_every_language():
    for line in FILE.read_text(encoding="utf-8").splitlines():
        columns = line.split("|")
        assert len(columns) == 1 + len(LANGUAGES) and all(columns), line


def test_a_memory_is_near_a_question_in_another_language():
    memory, question, other = default().embed(
        ["My brother is in prison.", "Wo ist der Bruder eingesperrt?", "Was kostet das Bier hier?"]
    )
    assert memory @ question > 0.4 > memory @ other

"""Words in five languages: which language it is, stems, small talk, and signs of time."""

import pytest

from evennia_ai.policy.retrieval.words import (
    asked_words,
    beginnings,
    find_words,
    language_of,
    name_words,
    stem,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where did I leave the war hammer?", "en"),
        ("The man was in a war, also he has a hat", "en"),
        ("La Rue and El Paso are in the south", "en"),
        ("Wo habe ich den Hammer gelassen?", "de"),
        ("Où ai-je laissé le marteau ?", "fr"),
        ("¿Dónde dejé el martillo?", "es"),
        ("Где я оставил молоток?", "ru"),
        ("Где Mira?", "ru"),
        ("Frogs", ""),
        ("", ""),
        ("龍は北", ""),
    ],
)
def test_function_words_tell_the_language(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "schulden schuld schulde"),
        ("de", "bäume baum"),
        ("fr", "promesse promesses"),
        ("es", "monedas moneda"),
        ("es", "canción cancion"),
        ("ru", "мельница мельницы мельнице"),
        ("ru", "мёд мед"),
    ],
)
def test_forms_of_a_word_are_one_in_each_language(language, forms):
    assert len({stem(form, language) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("Ich schulde dem Müller drei Münzen.", "Welche Schulden hat er beim Müller?"),
        ("Je vends des fromages au marché.", "Où sont les marchés ?"),
        ("Le debo una moneda al herrero.", "¿Cuántas monedas?"),
        ("Я живу у старой мельницы.", "Где эта мельница?"),
    ],
)
def test_a_question_and_a_memory_share_stems_and_no_function_words(memory, question):
    shared = set(find_words(memory)) & set(asked_words(question))
    assert shared
    assert all(len(word) > 3 for word in shared)


def test_a_query_of_one_word_is_asked_in_all_languages():
    assert {stem("schulden", "de"), stem("schulden")} <= set(asked_words("Schulden"))
    assert asked_words("Dragon") == ["dragon"]


@pytest.mark.parametrize("name", ["Der Wirt", "Wirt von der Au", "El Wirt", "the Wirt's"])
def test_articles_are_no_part_of_a_name(name):
    assert name_words(name)[0] == "wirt"


def test_latin_names_in_a_russian_text_are_the_same_as_in_an_english_one():
    assert "mira" in find_words("Где живёт старая Mira, ты не знаешь?")


@pytest.mark.parametrize(
    "text", ["Ich suche die Bäume", "parties of happiness", "мельницы у дороги"]
)
def test_a_beginning_stands_in_the_raw_text(text):
    assert beginnings(text)
    assert all(cut in text.lower() for cut in beginnings(text))

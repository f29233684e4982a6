"""Nearness of texts, by the words that carry meaning."""

from evennia_ai.policy.retrieval.relevance import score_texts
from evennia_ai.policy.retrieval.words import find_words


def test_common_words_and_endings_do_not_count():
    assert find_words("What do you know about the bridges?") == find_words("bridge")


def test_the_text_that_shares_the_rarer_word_is_nearer():
    texts = ["The gate is old.", "The gate was built by Hanno.", "Bread and beer."]
    scores = score_texts("who is Hanno of the gate?", texts)
    assert scores[1] > scores[0] > scores[2] == 0


def test_nothing_asked_or_nothing_there_is_no_error():
    assert score_texts("", ["a text"]) == [0.0]
    assert score_texts("gate", []) == []
    assert score_texts("мост", ["Старый мост"])[0] > 0

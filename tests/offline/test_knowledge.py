"""Ranking what is known: the best match above a floor, and nothing below it."""

from evennia_ai.offline.knowledge import Passage, lore_passages, rank, seen_passages

KNOWN = [
    Passage("I keep the Gilded Gull.", "self"),
    Passage("A bed costs four pennies a night.", "lore"),
    Passage("Wolves hunt on the hill road.", "lore"),
    Passage("I want to find my brother Piet.", "want", "want goal need"),
]


def best(question):
    found = rank(question, KNOWN)
    return found[0].passage.text if found else ""


def test_the_nearest_passage_comes_first():
    assert best("how much is a bed?") == KNOWN[1].text
    assert best("who is Piet?") == KNOWN[3].text


def test_near_meanings_find_what_other_words_say():
    assert best("is there any danger?") == KNOWN[2].text


def test_nonsense_finds_nothing():
    assert best("what do you think of quantum mechanics?") == best("why?") == ""


def test_a_lore_entry_is_found_by_its_title_and_keeps_its_pronouns_company():
    first, second = lore_passages(["The flood: The river rose in the night. It took the bridge."])
    assert first.text == "The river rose in the night."
    assert second.text == "The river rose in the night. It took the bridge."
    assert rank("tell me about the flood", [first, *KNOWN])[0].passage is first


def test_a_place_is_known_sentence_by_sentence():
    assert [p.text for p in seen_passages("It is dark. A fire burns.")] == [
        "It is dark.", "A fire burns."
    ]  # fmt: skip

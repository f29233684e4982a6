"""A memory in words: whose it is, who may know, where it comes from, and why it was found."""

import pytest

from evennia_ai.policy.records.memory_listing import whose_word, why_found, why_withheld

NAMES = {"#5": "Ann", "#6": "Bob"}


def entry(**fields):
    base = {
        "id": "j1",
        "importance": 6,
        "importance_by": "rule",
        "source_type": "direct",
        "source_entity": "",
        "speakers": [],
        "audience": None,
        "pinned": False,
        "consolidated": False,
        "links": [],
        "source_seqs": [],
    }
    return {**base, **fields}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"source_entity": "#5", "speakers": ["#5", "#6"]}, "from Ann"),
        ({"speakers": ["#5", "#6"]}, "from Ann, Bob"),
        ({"speakers": ["#9"]}, "from somebody deleted (#9)"),
        ({}, "unknown source"),
        ({"source_type": "builder", "speakers": ["#5"]}, "a builder's word"),
        ({"source_type": "compaction", "speakers": ["#5"]}, "a summary of old talk"),
        ({"source_type": "observation"}, "noticed by itself"),
    ],
)
def test_whose_word_it_is(fields, words):
    assert whose_word(entry(**fields), NAMES) == words


def test_why_something_was_found():
    text = "The rings lie in the well."
    assert why_found("where is the ring", text, 0.5, True) == "score 0.50, words: rings"
    assert why_found("jewels", text, 0.71, True) == "score 0.71, by its meaning alone"
    without_embedder = "score 0.71, by who said it, or what was said around it"
    assert why_found("jewels", text, 0.71, False) == without_embedder


def test_why_something_is_held_back():
    private = entry(audience=["#5"])
    assert why_withheld(private, ["#5", "#6"], NAMES) == "j1, private to Ann, and Bob was not told"
    assert why_withheld(private, [], NAMES) == "j1, private to Ann"

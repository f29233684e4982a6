"""What "forget me" leaves of a record."""

import pytest

from evennia_ai.policy.records.forgetting import FORGOTTEN, ToForget, words_in

ANN, BEN = "#5", "#6"


def record(**fields):
    return {
        "id": "j1", "content": "They like soup.", "source_type": "direct", "source_entity": "",
        "speakers": [], "source_seqs": [], "audience": None, "links": [], **fields,
    }  # fmt: skip


@pytest.fixture
def law():
    return ToForget(frozenset({ANN}), {7}, lambda text: "griffin" in text)


@pytest.mark.parametrize(
    "fields",
    [
        {"speakers": [ANN]},
        {"speakers": [ANN, BEN]},
        {"speakers": [ANN, FORGOTTEN], "source_seqs": [1]},
        {"speakers": [ANN, BEN], "source_seqs": [1, 7]},
        {"speakers": [ANN, BEN], "source_seqs": [1, 9], "source_type": "compaction"},
        {"source_entity": ANN},
        {"entity": ANN},
        {"subject": ANN},
        {"audience": [ANN, BEN]},
        {"source_seqs": [7]},
        {"source_seqs": [1, 7]},
        {"speakers": [BEN], "source_seqs": [7]},
        {"content": "A griffin."},
        {"content": "x", "tags": ["griffin"]},
        {"speakers": [BEN], "content": "A griffin."},
        {"source_type": "reflection", "links": ["j9"]},
        {"sources": ["j9"]},
        {"source_type": "builder", "audience": [ANN]},
    ],
)
def test_what_is_theirs_goes(law, fields):
    assert law.left_of(record(**fields), {"j9"}) is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"speakers": [BEN], "source_seqs": [1]},
        {"source_type": "builder", "content": "A griffin.", "source_entity": ANN},
        {"source_type": "builder", "audience": [ANN, BEN]},
        {"origin": "builder", "content": "Find the griffin."},
        {"links": ["j9"]},
    ],
)
def test_what_is_of_others_stays_as_it_is(law, fields):
    kept = record(**fields)
    assert law.left_of(kept, {"j9"}) is kept


def test_of_several_authors_the_forgotten_one_gives_way_to_nobody(law):
    left = law.left_of(record(speakers=[ANN, BEN], source_seqs=[1]))
    assert (left["speakers"], left["source_seqs"]) == ([FORGOTTEN, BEN], [1])


def test_what_others_said_stays_though_they_were_overheard_in_the_same_turn(law):
    left = law.left_of(record(speakers=[BEN], source_seqs=[1, 7]))
    assert (left["speakers"], left["source_seqs"]) == ([BEN], [1])


def test_a_builders_note_that_they_repeated_is_the_builders_again(law):
    note = record(source_type="builder", speakers=[ANN, BEN], source_seqs=[1, 7])
    left = law.left_of(note)
    assert (left["speakers"], left["source_seqs"]) == ([BEN], [1])


def test_ids_times_and_fixed_words_are_no_words():
    stored = record(at="2026-11-22T18:00:00+00:00", entity="#77", state="open", why="Hunger.")
    assert words_in(stored) == "They like soup.\nHunger."

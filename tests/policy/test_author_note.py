"""How long a builder's note stands, and what is stored of it."""

import pytest

from evennia_ai.policy.staff_controls import AuthorNote, read_note, split_duration


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Hurry.", ("Hurry.", 20, None)),
        ("Hurry. for 5 turns", ("Hurry.", 5, None)),
        ("Wait for Ann for 1 turn", ("Wait for Ann", 1, None)),
        ("Be kind for 30 minutes ", ("Be kind", None, 30)),
        ("Be kind for 2 hours", ("Be kind", None, 120)),
        ("Look for 3 turnips", ("Look for 3 turnips", 20, None)),
    ],
)
def test_a_note_says_at_its_end_how_long_it_stands(typed, expected):
    assert split_duration(typed) == expected


@pytest.mark.parametrize("typed", ["x for 0 turns", "x for 1001 turns", "x for 200 hours"])
def test_a_length_out_of_range_is_told_with_the_range(typed):
    with pytest.raises(ValueError, match="stands for 1 to"):
        split_duration(typed)


def test_a_stored_note_is_read_again_and_anything_else_is_none():
    note = AuthorNote(text="Hurry.", by="#2", after_turn=7, turns=5)
    assert read_note(note.model_dump()) == note
    strange = [None, "x", {"text": 3}, {**note.model_dump(), "turns": "many"}, {"turns": 3}]
    assert [read_note(value) for value in strange] == [None] * 5

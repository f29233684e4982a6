"""A player's screen is read as a person reads it."""

from __future__ import annotations

from tests.real.screen import read_screen

SCREEN = """You say, "Give me the nails, Brannoc."
Brannoc ponders this for a moment.
Brannoc says, "Here, take them."
Brannoc gives handful of nails to you.
Ann says, "Brannoc says, no."
Brannoc whispers: "Two lines
of one speech."
Brannoc is leaving Brannoc's Smithy, heading for The Yard.
Command 'synchronise-4711' is not available.
"""


def test_words_and_deeds_of_one_character_are_found_in_their_order() -> None:
    shown = read_screen(SCREEN, "Brannoc", ["ponders this"])
    assert [(one.words, one.is_speech) for one in shown] == [
        ("Here, take them.", True),
        ("gives handful of nails to you.", False),
        ("Two lines\nof one speech.", True),
    ]
    assert [SCREEN[one.end - len(one.words) : one.end] for one in shown] == [
        one.words for one in shown
    ]


def test_a_name_of_two_words_and_quotation_marks_inside_a_speech() -> None:
    text = 'Sister Oda says, "They say "never" here."\nMira says, "Hm."\n'
    assert [one.words for one in read_screen(text, "Sister Oda")] == ['They say "never" here.']

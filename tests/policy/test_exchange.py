"""Lines that belong together."""

import pytest

from evennia_ai.policy.retrieval.exchange import (
    CORRECTS,
    ENDS_ASKING,
    DialogueLine,
    companions,
    same_subject,
    signs_of,
    subject_of,
)
from evennia_ai.policy.retrieval.words import find_words

GAP_S = 20.0
LATER_S = 4_000.0


def talk(*lines: str, gap_s: float = GAP_S) -> list[DialogueLine]:
    """Return "Ann: words" lines as a talk."""
    parts = [line.partition(": ") for line in lines]
    who = [speaker for speaker, _, _ in parts]
    return [
        DialogueLine(who.index(speaker), signs_of(words), number * gap_s)
        for number, (speaker, _, words) in enumerate(parts)
    ]


@pytest.mark.parametrize("place", [0, 2])
def test_a_short_answer_and_its_question_belong_together(place: int) -> None:
    lines = talk("Ann: The best bait?", "Cas: More ale here!", "Ben: Frogs.", "Ann: Right.")
    assert {0, 2} <= {place, *companions(lines, place)}


def test_what_fits_best_brings_more_of_what_follows() -> None:
    lines = talk(
        "Ann: There is a price on the wolf.",
        "Cas: Somebody left the kitchen door open all through the night.",
        "Ann: Twelve sheep, to whoever brings the tail.",
    )
    assert companions(lines, 0) == []
    assert companions(lines, 0, wide=True) == [2]


@pytest.mark.parametrize("place", [0, 1, 3])
def test_lines_that_go_on_with_each_other_belong_together(place: int) -> None:
    lines = talk(
        "Ann: You should have known my gran, she kept bees all of her long life",
        "Ann: and when she died, she left me the whole of the orchard behind the mill",
        "Ben: Oh.",
        "Ann: but the bees went to my cousin Odo, who is afraid of them.",
        "Ann: Well, I have to go, my ship sails with the morning tide.",
    )
    assert {0, 1, 3} == {place, *companions(lines, place)} - {2, 4}


def test_a_long_answer_needs_no_question() -> None:
    words = "Ben: The best bait for the pike in the mill pond is a small green frog."
    assert companions(talk("Ann: The best bait?", words), 1) == []


@pytest.mark.parametrize(
    "correction",
    [
        "No wait, it was the red one.", "Sorry, the red one.", "Actually, make that red.",
        "I mean the red key.", "Not blue! Red.", "my bad, red", "nvm its the red one", "*red",
        "Nein, der rote war es.", "Ach, Quatsch, der rote.", "Non, attends, la rouge.",
        "En fait, c'était la rouge.", "No, espera, la roja.", "Mejor dicho, la roja.",
        "Нет, красный.", "Вернее, красный ключ.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 3])
def test_a_correction_comes_with_what_it_corrects(correction: str, place: int) -> None:
    lines = talk(
        "Ann: The blue key opens the cellar.",
        "Ben: Good to know.",
        "Cas: Ale!",
        f"Ann: {correction}",
    )
    assert signs_of(correction) & CORRECTS
    assert {0, 3} <= {place, *companions(lines, place)}


def test_somebody_elses_correction_is_not_the_speakers() -> None:
    lines = talk("Ann: The blue key opens the cellar.", "Ben: No wait, we have no ale.")
    assert companions(lines, 0) == []


def test_a_correction_of_another_hour_belongs_to_something_else() -> None:
    lines = talk("Ann: The blue key opens it.", "Ann: No wait, the red one.", gap_s=LATER_S)
    assert companions(lines, 0) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("Ann: My brother sails on the Heron.", "Ben: Oh?", "Ann: He is called Ott."),
        ("Ann: The password of the north gate is", "Ben: Hush!", "Ann: thistledown, if you must."),
        ("Ann: Meine Schwester wohnt in Brek.", "Ben: Ach.", "Ann: Sie ist Färberin."),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_two_halves_belong_together(lines: tuple[str, ...], place: int) -> None:
    assert {0, 2} <= {place, *companions(talk(*lines), place)}


def alike(one: str, other: str) -> bool:
    return same_subject(
        frozenset(find_words(one)), frozenset(find_words(other)), subject_of(other)[1]
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The toll at the bridge is five coppers.", "The toll at the bridge is seven coppers."),
        ("My ship is called the Heron.", "My ship is the Gannet now."),
        ("The guild meets in the tannery.", "The guild has moved, it meets at the mill now."),
    ],
)
def test_a_later_value_of_the_same_thing_is_on_the_same_subject(one: str, other: str) -> None:
    assert alike(one, other)


def test_another_thing_is_another_subject() -> None:
    assert not alike("The toll at the bridge is five coppers.", "My ship is called the Heron.")
    assert not alike("I owe Ben a crown.", "Now where is my hat?")


@pytest.mark.parametrize(
    ("words", "asks"),
    [("Frogs?", True), ('"Frogs?!" ', True), ("Frogs? No", False), ("?_", False), ("", False)],
)
def test_a_question_mark_counts_behind_the_last_word(words: str, asks: bool) -> None:
    assert bool(signs_of(words) & ENDS_ASKING) is asks


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["?", "? ", ").", "no ", "oh ", "i ", "actually ", "1,", "ne "])
def test_hostile_words_are_read_in_one_pass(unit: str) -> None:
    assert signs_of(unit * 200_000 + "x") >= 0

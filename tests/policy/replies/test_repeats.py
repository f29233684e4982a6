"""A line said again is found; a line that says something else is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.replies.output_checks import find_repeat

LINES = st.text(alphabet="ab cdé.!?'", max_size=60)


@pytest.mark.parametrize(
    ("words", "earlier"),
    [
        ("The gate must be done before the storms.", "The gate must be done before the storms."),
        ("the gate must be done before the storms", "“The gate must be done, before the storms!”"),
        (
            "Aye, the gate must be done before the storms.",
            "The gate must be done before the storms.",
        ),
        ("The gate must be done.", "The gate must be done before the storms."),
        (
            "Good evening, Ann! Sit down by the fire and have a bowl of our fish stew with bread.",
            "Good evening, Tom! Sit down by the fire and have a bowl of our fish stew with bread.",
        ),
        ("Das Tor muss vor den Stürmen fertig sein.", "Das Tor muss vor den Stürmen fertig sein!"),
        ("Setz dich doch ans Feuer, mein Freund!", "Setz dich ans Feuer, mein Freund."),
        ("Je n’ai pas vu ton frère ici.", "Je n'ai pas vu ton frère ici !"),
        ("我不知道是谁做的。", "我不知道是谁做的！"),
    ],
)
def test_a_line_said_again_is_a_repeat(words, earlier):
    assert find_repeat(words, ["Something else entirely.", earlier, "Aye."]) == earlier


@pytest.mark.parametrize(
    ("words", "earlier"),
    [
        ("A mug of ale costs a penny.", "A mug of cider costs a penny."),
        (
            "You owe me 3 pennies for the stew and the bread, Ann.",
            "You owe me 7 pennies for the stew and the bread, Ann.",
        ),
        ("The gate must be done before the storms.", "The gate weighs as much as six oxen."),
        ("Ein Krug Bier kostet einen Pfennig.", "Ein Krug Most kostet einen Pfennig."),
        ("Tom left by the north road at dawn.", "Ann left by the south road at dusk."),
        ("Aye. Now hand me the long nails, and mind the coals.", "Aye. Now."),
        ("I know nothing of it, but ask old Pell, who lights the lamp.", "I know nothing of it."),
        ("", "Aye."),
        ("...", "..."),
    ],
)
def test_a_line_that_says_something_else_is_none(words, earlier):
    assert find_repeat(words, [earlier]) == ""


def test_a_short_line_may_come_back_after_two_others():
    assert find_repeat("Aye.", ["Aye.", "No."]) == "Aye."
    assert find_repeat("Aye.", ["Aye.", "No.", "Perhaps."]) == ""
    assert find_repeat("Good evening, Ann!", ["Good evening, Ann!"]) == "Good evening, Ann!"
    assert find_repeat("Good evening, Tom!", ["Good evening, Ann!"]) == ""


@given(LINES.filter(lambda line: any(char.isalpha() for char in line)))
def test_a_line_repeats_itself(line):
    assert find_repeat(line, [line]) == line

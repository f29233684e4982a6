"""What an asker told and a hollow answer leaves out."""

import pytest

from evennia_ai.policy.facts.check import left_out

DEBT = "I still owe old Pell sixty-two crowns, Mira, and I would rather he forgot it."
RECALLED = (f"Ben: {DEBT}", "Ann: I owe Pell nothing.", "Ben: How much do I owe you?")
RECALLED += ("Dan: My horse is called Marigold.", "Dan: My dog Biscuit ran off.")


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, I don't remember that.",
        "I don't have that information.",
        "I remember that.",
        "I see.",
        "You owe old Pell.",
    ],
)
def test_an_answer_that_tells_nothing_leaves_out_what_the_asker_told(reply):
    assert left_out("Mira, how much do I owe old Pell?", reply, RECALLED, "Ben", "Mira") == DEBT


@pytest.mark.parametrize(
    ("question", "reply", "asker"),
    [
        ("Mira, how much do I owe old Pell?", "Sixty-two crowns.", "Ben"),
        ("Mira, what is my dog called?", "Biscuit.", "Dan"),
        ("Mira, how much do I owe old Pell?", "Ask him, he wrote it on his slate.", "Ben"),
        ("Mira, how much do I owe old Pell?", "I don't know.", "Cleo"),  # who told nothing
        ("How much does the smith owe you?", "Nothing.", "Ben"),  # not of the asker
        ("Where can I find old Pell?", "I don't know.", "Ben"),  # of no memory
        ("I owe old Pell too much.", "I see.", "Ben"),  # no question
        ("Mira, what is my horse called?", "I don't know.", "Ben"),  # nothing was told
    ],
)
def test_any_other_answer_is_left_alone(question, reply, asker):
    assert left_out(question, reply, RECALLED, asker, "Mira") == ""

"""What one asks with one word, and people tell with another, is found without an embedder."""

import pytest

from evennia_ai.memory.index import MemoryIndex

CHATTER = [
    "hey all", "one more round please", "the castle gate is closed again", "my bag is full again",
    "who wants to duel me", "I got lost in the swamp", "is it raining again?", "where did Bob go",
]  # fmt: skip
TOLD = [
    ("what may I not eat?", "im allergic to nuts btw"),
    ("what do I do for money?", "I got hired at the docks"),
    ("am I married?", "our anniversary is in May"),
    ("what class do I play?", "lol paladin, what else"),
    ("what frightens me?", "heights give me the creeps"),
    ("Wovor habe ich Angst?", "Vor Spinnen ist mir ein Grauen"),
]


@pytest.mark.parametrize(("asked", "told"), TOLD)
def test_a_question_finds_what_was_told_in_other_words(asked, told):
    index = MemoryIndex(None)
    for number, text in enumerate([*CHATTER, told, *CHATTER]):
        index.add(str(number), text)
    ((found, _score),) = index.search(asked, 1)
    assert found == str(len(CHATTER))

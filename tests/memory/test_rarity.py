"""How rare the words of memories are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.lexical import Rarity, number_of

TEXTS = st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=10), max_size=40)


def of(texts, public=lambda _row: True):
    """Return the rarity of texts, all in rows of their own."""
    rarity = Rarity()
    for row, words in enumerate(texts):
        rarity.put(row, map(number_of, words), public(row))
    return rarity


def rows(*numbers):
    """Return rows as an index names them."""
    return np.array(numbers, dtype=np.int64)


def test_words_of_many_are_less_rare_than_words_of_one():
    rarity = of([*[["rain"]] * 9, ["orphan"], [], ["rain", "orphan"]])
    common, own, none, both = rarity.of(rows(0, 9, 10, 11)).tolist()
    assert none == 0 < common < both < own <= 1


def test_hidden_memories_do_not_count():
    hidden = of([["rain"], ["orphan"], *[["orphan"]] * 9], public=lambda row: row < 2)
    assert hidden.of(rows(0, 1)).tolist() == of([["rain"], ["orphan"]]).of(rows(0, 1)).tolist()


@given(TEXTS, st.data())
def test_after_removals_it_is_as_if_they_had_never_been(texts, data):
    gone = data.draw(st.sets(st.sampled_from(range(len(texts))))) if texts else set()
    rarity = of(texts)
    for row in gone:
        rarity.drop(row)
    left = [row for row in range(len(texts)) if row not in gone]
    fresh = of([texts[row] for row in left]).of(rows(*range(len(left)))).tolist()
    assert rarity.of(rows(*left)).tolist() == fresh
    rarity.keep(rows(*left))
    assert rarity.of(rows(*range(len(left)))).tolist() == fresh


def test_more_rows_need_more_buckets_and_fewer_need_less():
    rarity = of([[f"w{row}", "stone"] for row in range(2_000)])
    few = of([["w0", "stone"]]).nbytes
    assert few < rarity.nbytes < 200 * 2_000
    for row in range(1, 2_000):
        rarity.drop(row)
    rarity.keep(rows(0))
    assert rarity.nbytes == few


def test_of_two_lines_that_fit_alike_the_one_with_words_of_its_own_is_first():
    index = MemoryIndex()
    for number in range(20):
        index.add(f"talk{number}", "Fine weather, Ann.", "Ben", float(number * 4_000))
    index.add("fact", "Orphan, Ann.", "Ben", 90_000.0)
    assert index.search("Ann", 1)[0][0] == "fact"

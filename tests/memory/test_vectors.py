"""The vectors of memories: a first look at many of them, and what no library may do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.memory import ranking
from evennia_ai.memory.columns import ALONE
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.vectors import UNSHARED, ones_in, product, signs_of
from tests.memory.filled_index import found

WORDS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9)


@pytest.mark.parametrize("dimensions", [256, 300])
def test_a_first_look_at_thousands_never_loses_the_nearest(dimensions, monkeypatch):
    rng = np.random.default_rng(5)
    own, common = rng.normal(size=(3_000, dimensions)), rng.normal(size=dimensions)
    vectors = own + 2 * common  # texts of a language have much in common
    index = MemoryIndex()
    for number, vector in enumerate(vectors):
        index.add(f"m{number}", "soup", vector=vector, place=ALONE)
    asked = vectors[:200] + rng.normal(size=(200, dimensions))
    quick = [found(index, "?", 1, vector=vector) for vector in asked]
    monkeypatch.setattr(ranking, "ALL_UP_TO", len(vectors))
    assert quick == [found(index, "?", 1, vector=vector) for vector in asked]


@given(WORDS)
def test_ones_are_counted_without_the_function_of_a_newer_numpy(words):
    numbers = np.array(words, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(np, "bitwise_count", raising=False)
        assert ones_in(numbers).tolist() == [word.bit_count() for word in words]
    assert ones_in(numbers).tolist() == [word.bit_count() for word in words]


def test_a_sign_is_one_bit_and_what_is_missing_is_none():
    assert ones_in(signs_of(np.array([3, -3, 0, 1] * 20, dtype=np.int8))).tolist() == [32, 8]


@pytest.mark.parametrize("rows", [0, 1, 3, 700])
@pytest.mark.parametrize("columns", [1, 2, 700])
def test_a_product_in_pieces_is_the_product(rows, columns):
    rng = np.random.default_rng(2)
    one = rng.integers(-9, 9, (rows, 256)).astype(np.float32)
    other = rng.integers(-9, 9, (256, columns)).astype(np.float32)
    assert rows * other.size > UNSHARED or rows < 700 or columns == 1
    assert np.array_equal(product(one, other), one @ other)


def test_vectors_of_thousands_are_renumbered_and_some_rows_have_none():
    rng = np.random.default_rng(8)
    given = [vector if n % 5 else None for n, vector in enumerate(rng.normal(size=(5_000, 16)))]
    index, fresh = MemoryIndex(), MemoryIndex()
    for number, vector in enumerate(given):
        index.add(f"m{number}", "soup", vector=vector, place=number)
    for number, vector in enumerate(given):
        if number % 3:
            index.remove(f"m{number}")
        else:
            fresh.add(f"m{number}", "soup", vector=vector, place=number)
    for number in range(1, 5_000, 3):
        index.add(f"m{number}", "bread", vector=given[number])
        index.remove(f"m{number}")
    asked = rng.normal(size=16)
    assert index.find("?", 50, vector=asked) == fresh.find("?", 50, vector=asked)


def test_the_first_vector_may_come_after_rows_were_renumbered():
    index = MemoryIndex()
    for number in range(3_000):
        index.add(f"m{number}", "soup", place=number)
    for number in range(2_900):
        index.remove(f"m{number}")
    index.add("m2950", "soup", vector=[0.0, 1.0], place=2_950)
    assert found(index, "?", 1, vector=[0.0, 1.0]) == ["m2950"]

"""The index of memories: lines beside notes, and who may find what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.memory.columns import ALONE
from evennia_ai.memory.index import MemoryIndex
from tests.memory.filled_index import DAY, MAY_8, LettersEmbedder, filled, found

# --- lines and notes -----------------------------------------------------------------------------

TALK = ("What is your sister's name?", "Odile, as always.", "I like bread.", "Bye now.")


def talk(order, notes=()):
    index = MemoryIndex()
    for note in notes:
        index.add(note, note, place=ALONE)
    for number in order:
        speaker = ("Ann", "Ben")[number % 2]
        index.add(f"m{number}", TALK[number], speaker, place=number, at=MAY_8 + number)
    return index


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 3, 0, 2), (3, 2, 1, 0)])
def test_lines_are_neighbours_by_place_in_whatever_order_they_come(order):
    index, notes = talk(order, ["a note on tar"]), talk(range(4))
    query = "the name of the sister"
    assert found(index, query, 2) == ["m0", "m1"]
    lines = [hit for hit in index.find(query, 9) if hit.id.startswith("m")]
    assert [hit.id for hit in lines] == found(notes, query)


def test_a_note_has_no_neighbours_and_is_none():
    index = filled("What is your sister's name?")
    index.add("note", "Bread is dear.", place=ALONE)
    index.add("line", "Odile, as always.", "Ben")
    assert found(index, "the name of the sister", 2) == ["m0", "line"]


def test_lines_after_a_place_are_left_out_and_notes_never():
    index = talk(range(4), ["my sister's name"])
    asked = "the name of the sister; bread; bye"
    assert set(found(index, asked, upto=1)) == {"m0", "m1", "my sister's name"}
    assert found(index, asked, upto=-1) == ["my sister's name"]
    assert len(found(index, asked, upto=3)) == len(found(index, asked)) == 5
    fewer = talk((0, 1), ["my sister's name"])
    assert found(index, asked, upto=1) == found(fewer, asked)


def test_only_some_notes_are_searched_and_none_that_the_audience_may_not_know():
    index = talk((), ["a ship of oak", "a ship of elm", "a ship of ash"])
    index.add("secret", "a ship of gold", place=ALONE, audience={"#1"})
    some = ["a ship of elm", "secret", "one that is gone"]
    assert [hit.id for hit in index.find("ship", 9, among=some)] == ["a ship of elm"]
    assert {hit.id for hit in index.find("ship", 9, {"#1"}, among=some)} == {*some[:2]}
    assert not index.find("ship", 9, among=[])


# --- who may know --------------------------------------------------------------------------------


def test_without_an_audience_only_what_everybody_may_know_is_found():
    index = filled("The toll is four")
    index.add("secret", "The toll is a lie", audience={"#1"})
    index.add("nobody", "The toll is nobody's", audience=())
    assert found(index, "toll") == ["m0"]
    assert found(index, "toll", audience=()) == ["m0"]
    assert set(found(index, "toll", audience={"#1"})) == {"m0", "secret"}
    assert found(index, "toll", audience={"#1", "#2"}) == ["m0"]
    assert set(found(index, "toll", everything=True)) == {"m0", "secret", "nobody"}


PEOPLE = ["#1", "#2", "#3"]
WORDS = ["dragon", "toll", "Mira", "Rowan", "bread", "north", "when", "may", "2023", "three", "?"]
AUDIENCES = st.none() | st.frozensets(st.sampled_from(PEOPLE))
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
MEMORIES = st.lists(
    st.tuples(
        TEXTS,
        st.sampled_from([None, "Mira", "Rowan", "Odile Bread"]),
        st.none() | st.integers(0, 5).map(lambda n: MAY_8 + n * DAY / 100),
        st.integers(1, 10),
        AUDIENCES,
        st.lists(st.integers(0, 15), max_size=2),
    ),
    max_size=16,
)


def in_view(item_audience, audience):
    return item_audience is None or bool(audience and audience <= item_audience)


def index_of(memories, keep=lambda audience: True):
    index = MemoryIndex(LettersEmbedder())
    for number, (text, speaker, at, importance, audience, sources) in enumerate(memories):
        if keep(audience):
            named = [f"m{source}" for source in sources]
            index.add(f"m{number}", text, speaker, at, importance, audience, named)
    return index


@given(MEMORIES, TEXTS, AUDIENCES)
def test_what_is_hidden_has_no_influence_at_all(memories, query, audience):
    """The same search with hidden memories never added gives the same, to the last bit."""
    whole = index_of(memories)
    without = index_of(memories, lambda item: in_view(item, audience))
    asked = {"audience": audience, "now": MAY_8 + DAY}
    assert whole.find(query, 20, **asked) == without.find(query, 20, **asked)


def test_what_is_hidden_has_no_influence_among_thousands_either():
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice(WORDS, 5)) + f" {n % 97}" for n in range(3_000)]
    whole, without = MemoryIndex(LettersEmbedder()), MemoryIndex(LettersEmbedder())
    for number, text in enumerate(texts):
        hidden = number % 3 == 0
        whole.add(f"m{number}", text, audience={"#1"} if hidden else None)
        if not hidden:
            without.add(f"m{number}", text)
    assert whole.find("dragon toll 42", 50) == without.find("dragon toll 42", 50)


@given(MEMORIES, st.lists(st.integers(0, 15), max_size=8), TEXTS)
def test_what_was_removed_has_no_influence(memories, gone, query):
    index = index_of(memories)
    ids = {f"m{number}" for number in gone}
    for name in ids:
        index.remove(name)
    never = MemoryIndex(LettersEmbedder())
    for number, (text, speaker, at, importance, audience, sources) in enumerate(memories):
        if f"m{number}" not in ids:
            named = [f"m{source}" for source in sources]
            never.add(f"m{number}", text, speaker, at, importance, audience, named)
    assert index.find(query, 20, everything=True) == never.find(query, 20, everything=True)

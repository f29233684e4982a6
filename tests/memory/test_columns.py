"""Views of the rows that an audience may know, kept while lines are added."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.memory.columns import ALONE, Columns

ANN = frozenset({"#1"})
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, ANN, frozenset({"#2"})]),
        st.sampled_from([ALONE, 0, 1, 2, 3, 40, 50]),
        st.sampled_from([None, 0.0, 900.0, 5_000.0]),
        st.sampled_from(["", "one", "two words"]),
    ),
    max_size=12,
)
ASKED = [(None, False, None), (ANN, False, None), (ANN, False, 2), (None, True, 40)]


def add(columns, audience, place, at, text):
    """Add a row as an index does."""
    row = columns.new_row()
    columns.put_place(row, place)
    at = np.nan if at is None else at
    columns.put(row, "Ann", audience, words=len(text.split()), at=at, importance=5, sourced=False)


@given(ROWS, st.data())
def test_a_view_that_grew_is_the_same_as_a_new_one(rows, data):
    asked = data.draw(st.sampled_from(ASKED))
    grown, fresh = Columns(), Columns()
    for row in rows:
        add(grown, *row)
        if data.draw(st.booleans()):
            grown.view(*asked)
    for row in rows:
        add(fresh, *row)
    for mine, new in zip(grown.view(*asked), fresh.view(*asked), strict=True):
        assert np.array_equal(mine, new)

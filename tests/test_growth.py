"""The helper that tells a square from a straight line."""

import pytest

from tests.growth import grows_like_a_square, text_grows_like_a_square


def each(text):
    return [letter == "x" for letter in text]


def each_with_each(text):
    return [one == other for one in text for other in text]


@pytest.mark.parametrize(("work", "is_square"), [(each, False), (each_with_each, True)])
def test_a_square_is_told_from_a_straight_line(work, is_square):
    assert grows_like_a_square(work, "ab" * 40, "ab" * 400) is is_square
    assert text_grows_like_a_square(work, "ab", 800) is is_square

"""The weights of the kinds of sentences are those of the sentences that are kept beside them."""

import pytest

from evennia_ai.contrib.stand_in.languages import ENGLISH, read
from tests.contrib.stand_in.learn_kinds import read_rows

AGREED = 0.6  # of the sentences, of which no kind is told where it is not sure


@pytest.mark.campaign
def test_what_was_learned_tells_the_kinds_of_the_kept_sentences():
    english, rows = read(ENGLISH), read_rows()
    right = sum(english.kind_of(text) == kind for kind, text in rows)
    assert right >= AGREED * len(rows), f"{right} of {len(rows)}: learn_kinds --write"

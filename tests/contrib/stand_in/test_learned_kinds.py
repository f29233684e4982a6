"""The weights of the kinds of sentences are those of the sentences that are kept beside them."""

import pytest

from evennia_ai.contrib.stand_in.languages import ENGLISH, read
from tests.contrib.stand_in.learn_kinds import read_rows

AGREED = 0.85  # of the sentences: what was learned is not by heart


@pytest.mark.campaign
def test_what_was_learned_tells_the_kinds_of_the_kept_sentences():
    english, rows = read(ENGLISH), read_rows()
    right = sum(english.kind_of(text) == kind for kind, text in rows)
    assert right >= AGREED * len(rows), f"{right} of {len(rows)}: learn_kinds --write"

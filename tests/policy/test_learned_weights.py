"""The weights that the package ships are those of the sentences that are kept here."""

import json

import pytest

from tests.policy.learn_weights import LEARNED, SMALLEST, learn, read_rows


@pytest.mark.parametrize("file", LEARNED, ids=lambda file: file.stem)
def test_the_weights_are_learned_from_the_kept_sentences(file):
    kept, learned = json.loads(file.read_text("utf-8")), learn(read_rows(*LEARNED[file]))
    apart = {name: (kept.get(name, 0), learned.get(name, 0)) for name in kept | learned}
    apart = {name: pair for name, pair in apart.items() if abs(pair[0] - pair[1]) > SMALLEST + 5}
    assert not apart, f"{apart}: python -m tests.policy.learn_weights --write"

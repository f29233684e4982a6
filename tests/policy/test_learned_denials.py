"""The weights by which a denial is found are those of the sentences that are kept beside it."""

import json

from tests.policy.learn_denials import WEIGHTS, learn, read_rows


def test_the_weights_are_learned_from_the_kept_replies():
    kept, learned = json.loads(WEIGHTS.read_text("utf-8")), learn(read_rows())
    apart = {name: (kept.get(name, 0), learned.get(name, 0)) for name in kept | learned}
    apart = {name: pair for name, pair in apart.items() if abs(pair[0] - pair[1]) > 45}
    assert not apart, f"{apart} python -m tests.policy.learn_denials --write"

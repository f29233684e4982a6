"""How far a spoken line runs through the package."""

import pytest

from tests.scripted import call
from tests.walk import walk_of

pytestmark = pytest.mark.engine

# They may only shrink: 80, 900 and 2,500 are the aim.
MOST_FILES, MOST_CHANGES, MOST_CALLS = 125, 1_850, 3_850


def test_a_spoken_line(game, ann, mira):
    game.model.add(*[call("say", text="Aye.")] * 3)
    for line in ("say Mira, hello.", "say Mira, how are you?"):
        ann.do(line)
        game.run(1)

    def speak():
        ann.do("say Mira, is the gate open?")
        game.run(1)

    walk = walk_of(speak)
    assert ann.last() == 'Mira says, "Aye."'
    print(f"\na spoken line: {walk}")
    assert len(walk.by_file) <= MOST_FILES
    assert walk.changes <= MOST_CHANGES
    assert walk.calls <= MOST_CALLS

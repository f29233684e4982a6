"""How far a spoken line, and a compaction, run through the package."""

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.plan import EMERGENCY, CompactionOrder
from tests.scripted import call
from tests.walk import walk_of

pytestmark = pytest.mark.engine

# They may only shrink: 80, 900 and 2,500 are the aim.
MOST_FILES, MOST_CHANGES, MOST_CALLS = 128, 1_475, 3_080


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


MOST_CHANGES_COMPACTING, MOST_CALLS_COMPACTING = 3_180, 8_500


def test_an_emergency_compaction_of_forty_messages(game, ann, mira):
    who, log = ann.character.dbref, mira.assistant.conversation
    for day in range(20):
        told = f"Ann says: my cousin Tom has {day} red boats and sails on Monday"
        log.append(
            [
                make_message("user", told, audience=[who], speaker=who, speaker_name="Ann"),
                make_message("assistant", f"The tide of the {day}th day.", audience=[who]),
            ]
        )
    game.model.add(*[call("say", text="Aye.")] * 2)
    for line in ("say Mira, hello.", "say Mira, where does my cousin sail?"):
        ann.do(line)
        game.run(1)
    told = "Ann told of her cousin Tom, of his 19 red boats, and that he sails on Monday"
    game.model.add(f"{told}; Mira of the tide of the 3th, the 12th and the 15th day.")
    request = CompactionOrder(EMERGENCY, force=True, keep_recent=4)
    walk = walk_of(lambda: game.result(mira.assistant.mind.compactor.compact(request)))
    assert log.current.record is not None
    print(f"\na compaction: {walk}")
    assert walk.changes <= MOST_CHANGES_COMPACTING
    assert walk.calls <= MOST_CALLS_COMPACTING

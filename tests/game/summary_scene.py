"""A talk about goods, and its compaction by a model with a script."""

import pytest

from evennia_ai.sleep.compaction import compact_conversation_history

GOODS = "beer stew rope wine salt cloth tar oil corn wool".split()
SUMMARY_TEXT = "Ann sells beer for 3 silver. Ann sells stew for 4 silver. The baron is dead."
SECOND = "Ann sells beer, stew and rope. Everything costs silver. Ann asks about the harbour."
SECRET = (
    "Ann hides a ruby under the third stair. She tells only Mira of it, and nobody else. "
    "She sells beer and stew in the market hall, for 3 and 4 silver."
)


def talk(game, ann, number=8, how="say Mira, the"):
    """Let Ann tell the prices of her goods, and Mira answer."""
    for nth in range(number):
        game.model.add({"say": {"text": f"I hear you, number {nth}."}})
        ann.do(f"{how} {GOODS[nth % 10]} that I sell costs {nth + 3} silver in the market hall.")
        game.run(61)


def compact(game, mira, *replies, keep=2):
    game.model.script[:] = replies
    result = []
    doing = compact_conversation_history(mira.assistant, mira, force=True, keep_recent=keep)
    doing.addBoth(result.append)
    game.run(2)
    assert result[0]["success"], result


@pytest.fixture
def summed_up(game, mira, ann):
    """Return Mira after a compaction of what Ann said aloud."""
    talk(game, ann)
    compact(game, mira, SUMMARY_TEXT)
    return mira

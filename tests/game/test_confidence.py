"""What was told to two assistants at once stays between those who were told (P9)."""

import pytest

from evennia_ai.messages import Heard
from evennia_ai.models import Event
from tests.scripted import call

pytestmark = pytest.mark.engine

SECRET = "the gold is under the stone"


@pytest.fixture
def otto(game, tavern, mira):
    return game.assistant("Otto", tavern)


def tell_both(ann, mira, otto):
    """Ann whispers to both; each knows of the other."""
    for mind, other in ((mira, otto), (otto, mira)):
        ears = frozenset({ann.dbref, other.dbref})
        addressed = mind is mira
        heard = Heard("whisper", ann.dbref, "Ann", SECRET, ears, private=True, addressed=addressed)
        mind.assistant.mind.hearing.backlog.put(heard)


def what_otto_noticed(otto):
    return Event.objects.filter(assistant_id=otto.assistant.id, kind="emote").last()


def test_what_one_does_upon_it_is_no_room_talk_for_the_other(game, ann, mira, otto):
    tell_both(ann, mira, otto)
    game.model.add(call("emote", text=f"points: {SECRET}."), call("noop"))
    game.run()
    noticed = what_otto_noticed(otto)
    assert SECRET in noticed.text
    assert noticed.private
    assert set(noticed.audience) == {ann.dbref, mira.dbref}


def test_what_it_does_by_itself_afterwards_is_room_talk(game, ann, mira, otto):
    tell_both(ann, mira, otto)
    game.model.add(call("emote", text="points."), call("noop"))
    game.run()
    mira.execute_cmd("pose yawns.")
    assert not what_otto_noticed(otto).private

"""What was told to two assistants at once stays between those who were told (P9)."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import IncomingEvent
from evennia_ai.models import Event, Message
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
        heard = IncomingEvent(
            "whisper", ann.dbref, "Ann", SECRET, ears, private=True, addressed=addressed
        )
        mind.assistant.services.inbox_queue.put(mind.assistant.mind.hearing, heard)


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


def test_a_line_said_aloud_beside_a_whisper_is_public(game, ann, bob, mira):
    late = Deferred()
    game.model.add(late, call("say", text="Aye."))
    bob.do("say Ann, it is cold.")  # overheard: the turn of the whisper logs it
    ann.do(f"whisper Mira = {SECRET}")
    game.run()
    ann.do("say Mira, call me Zora.")
    bob.do("say Mira, call me Yorick.")
    late.callback(call("say", text="I keep it."))
    game.run(1)
    rows = Message.objects.filter(role="user").order_by("id")
    both = {ann.dbref, bob.dbref}
    assert [(row.private, set(row.audience)) for row in rows] == [
        (False, both),
        (True, {ann.dbref}),
        *[(False, both)] * 2,
    ]
    assert [row.turn_id - rows[0].turn_id for row in rows] == [0, 0, 1, 1]
    acts = Message.objects.filter(role="assistant").order_by("id")
    assert [row.private for row in acts] == [True, False]
    assert SECRET in str(game.model.requests[0]) and SECRET not in str(game.model.requests[1])


def test_what_it_does_by_itself_afterwards_is_room_talk(game, ann, mira, otto):
    tell_both(ann, mira, otto)
    game.model.add(call("emote", text="points."), call("noop"))
    game.run()
    mira.execute_cmd("pose yawns.")
    assert not what_otto_noticed(otto).private


def test_what_cannot_be_read_at_once_is_known_to_no_more_people(
    game, ann, mira, otto, tavern, monkeypatch
):
    def busy(*args):
        raise StoreUnavailable("locked")

    tell_both(ann, mira, otto)
    game.model.add(call("emote", text=f"points: {SECRET}."), call("noop"))
    with monkeypatch.context() as patch:
        patch.setattr(game.service.lines, "hear", busy)
        game.run()
    game.player("Bob", tavern)
    game.run(1)
    noticed = what_otto_noticed(otto)
    assert noticed.private and set(noticed.audience) == {ann.dbref, mira.dbref}
    assert noticed.authors.split() == [ann.dbref, "builder"]

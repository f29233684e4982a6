"""Faults of the game world, numbered as on the list they come from."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.models import Event, ToolCall
from tests.faults.broken_tools import add_tool
from tests.faults.seen import ends, seems_sane, tracebacks
from tests.scripted import call

pytestmark = pytest.mark.game


def test_31_deleted_while_the_model_thinks_it_is_dropped_without_a_traceback(
    game, ann, mira, logged
):
    late = Deferred()
    game.model.add(late)
    ann.do("say hi")
    game.run()
    mira.delete()
    late.callback(call("say", text="a ghost"))
    game.run(30)
    assert 'Mira says, "a ghost"' not in ann.heard()
    assert not tracebacks(logged)
    assert not Event.objects.exists()
    assert seems_sane(ann)


def test_32_with_its_room_gone_it_answers_where_all_have_come_to(game, ann, mira, tavern, logged):
    limbo = game.room("Limbo")
    mira.home = ann.character.home = limbo
    late = Deferred()
    game.model.add(late)
    ann.do("say hi")
    game.run()
    tavern.delete()
    late.callback(call("say", text="What a strange place."))
    game.run(1)
    assert mira.location is limbo
    assert ann.last() == 'Mira says, "What a strange place."'
    assert ends() == {"hi": "answered"}
    assert not tracebacks(logged)
    assert seems_sane(ann)


def test_32_moved_in_mid_call_each_act_is_checked_where_it_stands_now(game, ann, mira, tavern):
    game.thing("lamp", tavern)
    yard = game.room("Yard")
    late = Deferred()
    game.model.add(late, call("noop"), call("say", text="I was called away."))
    ann.do("say take the lamp")
    game.run()
    mira.move_to(yard, quiet=True)
    late.callback(call("get", item="lamp"))
    game.run(1)
    assert ToolCall.objects.get(name="get").state == "failed"
    assert mira.contents == []
    assert ends() == {"take the lamp": "waiting"}
    mira.move_to(tavern, quiet=True)
    game.run(10)
    assert ann.last() == 'Mira says, "I was called away."'


def test_33_who_walks_out_and_comes_back_has_the_answer(game, ann, mira, tavern):
    yard = game.room("Yard")
    late = Deferred()
    game.model.add(late, call("noop"), call("say", text="As I was saying."))
    ann.do("say what is the code?")
    game.run()
    ann.character.move_to(yard)
    late.callback(call("say", text="The code is 12."))
    game.run(1)
    assert "12" not in "".join(ann.heard())
    assert ends() == {"what is the code?": "waiting"}
    ann.character.move_to(tavern)
    game.run(10)
    assert ann.last() == 'Mira says, "As I was saying."'
    assert ends() == {"what is the code?": "answered"}


def test_33_who_never_comes_back_is_closed_with_a_reason(game, ann, mira, tavern):
    late = Deferred()
    game.model.add(late, call("noop"))
    ann.do("say Mira, hello")
    game.run()
    ann.account.unpuppet_object(ann.session)
    late.callback(call("say", text="Gone?"))
    game.run(1)
    game.clock.advance(301)
    bob = game.player("Bob", tavern)
    game.model.add(call("say", text="Yes, Bob?"))
    bob.do("say Mira, are you there?")
    game.run(10)
    row = Event.objects.get(text="Mira, hello")
    assert (row.state, row.reason) == ("expired", "too old to answer")
    assert bob.last() == 'Mira says, "Yes, Bob?"'


def test_34_taken_over_in_mid_turn_it_is_silent_and_answers_afterwards(game, ann, mira, logged):
    late = Deferred()
    game.model.add(late, call("say", text="Both, then."))
    admin = game.player("Admin", game.room("Office"), superuser=True)
    ann.do("say one")
    game.run()
    admin.account.puppet_object(admin.session, mira)
    ann.forget()
    late.callback(call("say", text="dropped"))
    ann.do("say two")
    game.run(10)
    assert "Mira says" not in "".join(ann.heard())
    admin.account.unpuppet_object(admin.session)
    game.run(10)
    assert ann.last() == 'Mira says, "Both, then."'
    assert ends() == {"one": "answered", "two": "answered"}
    assert not tracebacks(logged)


def test_34_taken_over_while_a_tool_is_under_way_nothing_more_is_done(game, ann, mira):
    late = Deferred()
    add_tool(game, lambda context: late)
    game.thing("mug", mira)
    game.model.add([call("ring"), call("give", item="mug", to="Ann")], call("say", text="Back."))
    admin = game.player("Admin", game.room("Office"), superuser=True)
    ann.do("say ring and give me the mug")
    game.run()
    admin.account.puppet_object(admin.session, mira)
    late.callback("It rang.")
    game.run(1)
    assert ann.character.contents == []
    assert ToolCall.objects.get(name="ring").state == "done"
    admin.account.unpuppet_object(admin.session)
    game.run(10)
    assert ann.last() == 'Mira says, "Back."'
    assert ToolCall.objects.filter(name="ring").count() == 1

"""A call that the staff must approve waits for them, and runs once with what they read."""

import json
from dataclasses import replace

import pytest

from evennia_ai import models
from evennia_ai.tools.world import give
from tests.game.test_agreed_acts import HIDDEN, asks, states
from tests.game.vault import Vault
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


@pytest.fixture
def queued(game):
    return Vault(game, lock="all()", approval="perm(Admin)")


def first_id(switch=""):
    """Return the command about the oldest act."""
    return f"aiapprove{switch} {models.PendingAct.objects.order_by('id').first().id}"


def test_the_staff_read_all_that_they_approve(game, mira, ann, admin, queued):
    door = f"{HIDDEN}, {'a long way round ' * 20}and the vault"
    asks(game, ann, door=door)
    listed = admin.told("aiapprove")
    admin.told(first_id("/yes"))
    game.run(1)
    (opened,) = queued.opened
    assert opened.startswith("for bread, a long") and f'(door: "{opened}")' in listed


@pytest.mark.parametrize("door", [HIDDEN, "x" * 700])
def test_what_cannot_be_shown_whole_is_not_allowed(game, mira, ann, admin, queued, door):
    """Such as a call that another version stored."""
    asks(game, ann)
    models.PendingAct.objects.update(arguments=json.dumps({"door": door}, ensure_ascii=False))
    assert "cannot be shown" in admin.told(first_id("/yes"))
    game.run(1)
    assert (queued.opened, states()) == ([], ["waiting"])
    assert "Refused" in admin.told(first_id("/no"))


def test_a_call_waits_for_the_staff(game, mira, ann, admin, queued):
    asks(game, ann, door="east")
    assert queued.opened == []
    assert any("Mira asks to use staff_vault" in line for line in admin.heard())
    assert 'Mira: staff_vault (door: "east")' in admin.told("aiapprove")
    shown = admin.told(first_id())
    assert 'With exactly: door: "east"' in shown
    assert "At the words of: Ann" in shown


def test_what_was_approved_runs_once(game, mira, ann, admin, queued):
    asks(game, ann, door="east")
    assert "Approved" in admin.told(first_id("/yes"))
    game.run(1)
    assert queued.opened == ["east"]
    assert "waits for you" in admin.told(first_id("/yes"))
    game.run(5)
    assert queued.opened == ["east"]
    assert states() == ["done"]


def test_who_may_not_approve_sees_nothing(game, mira, ann, tavern, queued):
    builder = game.player("Bea", tavern, permissions=["Builder"])
    asks(game, ann)
    assert "Nothing waits for your approval." in builder.told("aiapprove")
    assert "waits for you" in builder.told(first_id("/yes"))
    assert "not available" in ann.told("aiapprove")
    assert states() == ["waiting"]


def test_the_same_call_waits_once_and_the_queue_is_short(game, mira, ann, queued):
    for number in (1, 1, *range(22)):
        asks(game, ann, door=str(number))
    assert len(states()) == 20


def test_an_approval_expires(game, mira, ann, admin, queued):
    asks(game, ann)
    game.clock.advance(86_401)
    assert "Nothing waits" in admin.told("aiapprove")
    assert "waits for you" in admin.told(first_id("/yes"))


def test_an_approved_gift_is_the_thing_that_the_staff_saw(game, mira, ann, admin):
    game.service.toolbox.add(replace(give, approval="perm(Admin)"))
    hat = game.thing("hat", mira)
    game.model.add(call("give", item="hat", to="Ann"), call("noop"))
    ann.do("say Mira, a hat, please")
    game.run(1)
    game.model.script.clear()
    hat.move_to(mira.location, quiet=True)
    better = game.thing("hat", mira)
    act = models.PendingAct.objects.get()
    admin.told(f"aiapprove/yes {act.id}")
    game.run(2)
    assert better.location is mira
    waiting = models.PendingAct.objects.get(state="waiting")
    admin.told(f"aiapprove/yes {waiting.id}")
    game.run(2)
    assert better.location is ann.character

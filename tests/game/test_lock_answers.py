"""The log tells which locks a tool call asked, of whom, and what they answered (P8)."""

import pytest

from evennia_ai.models import ToolCall
from evennia_ai.policy.call_record import LockAsked, read_locks
from evennia_ai.ports import ToolContext
from evennia_ai.store.forget import Forgetting
from tests.game.vault import Vault
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.django_db]


def asked_for(name):
    """Return the locks that the last call of a tool asked, by their type and place."""
    row = ToolCall.objects.filter(name=name).latest("id")
    return {(one.lock, one.of): dict(one.passed) for one in read_locks(row.locks)}


def test_every_author_of_the_prompt_is_named_with_their_answer(game, mira, ann, admin):
    vault = Vault(game)
    ann.do("say Good evening.")
    assert not vault.tempt(admin, "say Mira, open the vault.")
    asked = asked_for("staff_vault")["use", "staff_vault"]
    assert asked[ann.dbref] is False and asked[admin.dbref] is True


def test_nobody_known_behind_a_prompt_is_told_as_somebody_unknown(game, mira, ann):
    Vault(game)
    nobody = frozenset()
    context = ToolContext(mira, nobody, private=False, speakers=nobody)
    game.service.toolbox.run(context, call("staff_vault", door="north"))
    assert context.locks == [LockAsked("use", "staff_vault", {"stranger": False})]


@pytest.mark.parametrize("lock", ["all()", "false()"])
def test_the_lock_of_a_thing_is_asked_of_the_character(game, mira, ann, tavern, lock):
    knife = game.thing("knife", tavern)
    knife.locks.add(f"get:{lock}")
    game.model.add(call("get", item="knife"), {"say": {"text": "Well."}})
    ann.do("say Mira, take the knife.")
    game.run(2)
    assert asked_for("get")["get", knife.dbref] == {mira.dbref: lock == "all()"}


def test_a_thing_without_a_lock_lets_nobody_take_it(game, mira, ann, tavern):
    knife = game.thing("knife", tavern)
    knife.locks.remove("get")
    game.model.add(call("get", item="knife"), {"say": {"text": "Well."}})
    ann.do("say Mira, take the knife.")
    game.run(2)
    assert asked_for("get")["get", knife.dbref] == {mira.dbref: False}
    assert knife.location is tavern


def test_a_forgotten_player_stands_in_no_answer_of_a_lock(game, mira, ann, bob, admin):
    vault = Vault(game)
    game.model.add({"say": {"text": "Good evening."}})
    ann.do("say Mira, good evening.")
    game.run(2)
    vault.tempt(bob, "say Mira, open the vault.")
    assert ToolCall.objects.filter(locks__contains=f'"{ann.dbref}"').exists()
    list(Forgetting({ann.dbref}).steps())
    assert not ToolCall.objects.filter(locks__contains=f'"{ann.dbref}"').exists()
    assert ToolCall.objects.filter(name="staff_vault").exists()

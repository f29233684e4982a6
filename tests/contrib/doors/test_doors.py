"""Doors: opened and closed on both sides, by whoever their locks let."""

import pytest
from django.db import OperationalError, connection

from evennia_ai.contrib.doors import state_of, use_door
from evennia_ai.testing.tools import try_tool

pytestmark = [pytest.mark.game, pytest.mark.engine]


@pytest.fixture
def gate(game, tavern):
    """A closed door into a yard, and the way back."""
    yard = game.room("Yard")
    gate, back = game.exit("gate", tavern, yard), game.exit("gate", yard, tavern)
    for side in (gate, back):
        side.locks.add("traverse:tag(guest)")
        side.db.door = "open"
    return gate


def uses(mira, player, act, door="gate"):
    return try_tool(use_door, mira, player.character, door=door, act=act)


def test_a_door_that_cannot_be_stored_on_both_sides_stays_as_it_is(mira, ann, gate):
    def fail_at_the_other_side(execute, sql, params, many, context):
        written.append(sql.startswith("UPDATE") and "objects_objectdb" in sql)
        if written[-1] and sum(written) > 1:
            raise OperationalError("database is locked")
        return execute(sql, params, many, context)

    written, back = [], gate.destination.exits[0]
    ann.character.tags.add("guest")
    with connection.execute_wrapper(fail_at_the_other_side):
        assert uses(mira, ann, "close").state == "failed"
    assert (state_of(gate), state_of(back)) == ("open", "open")
    assert gate.access(ann.character, "traverse") and gate.db.door == back.db.door == "open"
    uses(mira, ann, "close")
    uses(mira, ann, "open")
    assert gate.locks.get("traverse") == back.locks.get("traverse") == "traverse:tag(guest)"


def test_a_door_is_closed_locked_and_opened_again_on_both_sides(mira, ann, gate):
    back = gate.destination.exits[0]
    assert uses(mira, ann, "close").text == "gate is closed now."
    assert ann.last() == "Mira closes a gate."
    assert uses(mira, ann, "lock").state == "done"
    assert (state_of(gate), state_of(back)) == ("locked", "locked")
    assert uses(mira, ann, "open").text == "It is locked."
    ann.character.tags.add("guest")
    assert not gate.access(ann.character, "traverse")
    uses(mira, ann, "unlock")
    uses(mira, ann, "open")
    assert gate.locks.get("traverse") == back.locks.get("traverse") == "traverse:tag(guest)"
    assert gate.access(ann.character, "traverse")
    assert uses(mira, ann, "open").text == "It is open."


def test_its_locks_say_who_may(mira, ann, gate):
    gate.locks.add("lock:holds(iron key)")
    uses(mira, ann, "close")
    assert uses(mira, ann, "lock").text == "You cannot lock it."
    assert state_of(gate) == "closed"


def test_only_doors_are_closed(game, mira, tavern, ann, gate):
    game.exit("arch", tavern, gate.destination)
    assert uses(mira, ann, "close", "arch").text == "There is no door 'arch'. Doors: gate."

"""Forty appointments, with jumps of the clock, restarts and sudden deaths."""

import pytest

from evennia_ai.contrib.promises.promise_records import Promises
from tests.contrib.promises import promises_scene

asked_for, town = promises_scene.asked_for, promises_scene.town


def restart(town):
    """Let the process die without a word, and another one begin."""
    game = town.game
    game.service.accepting = False
    for npc in town.npcs:
        Promises.drop(npc)
        npc.assistant.ndb.mind = None
    game.service = game.next_process(town.mira.assistant)


@pytest.mark.soak
def test_forty_appointments_are_kept(town, game, ann):
    town.npcs = [
        town.mira,
        *(game.assistant(name, town.square) for name in ("Otto", "Lena", "Finn")),
    ]
    players = [ann, *(game.player(f"Guest{number}", town.square) for number in range(4))]
    rooms = [town.tavern, town.square, town.gate, game.room("Mill"), game.room("Harbour")]
    for key, room in (("mill", rooms[3]), ("harbour", rooms[4])):
        game.exit(key, town.gate, room)
        game.exit("out", room, town.gate)
    plans = []
    for number in range(40):
        npc, player = town.npcs[number % 4], players[number % 5]
        minutes, room = (
            60 + number // 4 * 60 + number % 4 * 10,
            rooms[1 + number % 3 + (number % 2)],
        )
        said = town.use(
            "promise", player, npc, what=f"talk {number}", when=f"in {minutes} minutes",
            where=room.key,
        )  # fmt: skip
        assert said.state == "done", said
        plans.append((minutes * 60, player, npc, room))
    begin = game.clock.seconds()
    for number, (due, player, _npc, room) in enumerate(sorted(plans, key=lambda plan: plan[0])):
        game.run(max(0, begin + due - game.clock.seconds() - 420))
        if number % 5 == 0:
            restart(town)
        town.wait(330, 30)
        player.character.move_to(room, move_type="traverse")
        town.wait(60, 5)
    kept = [
        r for npc in town.npcs for r in town.records(npc) if r["place"] and r["state"] == "kept"
    ]
    here = [line for player in players for line in player.heard() if "here I am" in line]
    assert len(kept) >= 38 and len(here) >= len(kept)
    assert not game.model.requests

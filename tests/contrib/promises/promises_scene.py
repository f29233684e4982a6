"""A tavern, a square and a gate behind it; Mira keeps promises."""

import json
from itertools import pairwise

import pytest

from evennia_ai.contrib.promises.promise_records import Promises
from evennia_ai.messages import ToolCallRequest
from evennia_ai.ports import ToolContext
from tests.game import extensions_scene

asked_for = extensions_scene.asked_for


class Town:
    """Rooms in a row, and what their people do."""

    def __init__(self, game, tavern, mira):
        self.game, self.tavern, self.mira = game, tavern, mira
        self.square, self.gate = game.room("Market Square"), game.room("Old Gate")
        rooms = (tavern, self.square, self.gate)
        for here, there in pairwise(rooms):
            game.exit(there.key.split()[-1].lower(), here, there)
            game.exit("back", there, here)

    def use(self, tool, player, npc=None, private=False, **arguments):
        """Let an NPC use a tool after a player spoke; returns the result."""
        npc, person = npc or self.mira, frozenset({player.dbref})
        context = ToolContext(
            assistant=npc.assistant.mind.tool_executor.tools,
            character=npc,
            audience=person,
            private=private,
            speakers=person,
            askers=person,
        )
        call = ToolCallRequest("1", tool, json.dumps(arguments))
        return self.game.result(self.game.service.toolbox.run(context, call), step_s=0)

    def wait(self, seconds, step=20.0):
        """Let time pass in steps."""
        while seconds > 0:
            self.game.run(min(step, seconds))
            seconds -= step

    def records(self, npc=None):
        return Promises.of(npc or self.mira).all()

    def go(self, person, place):
        """Let somebody walk into a place."""
        person.move_to(place, move_type="traverse")
        self.game.run(1)


@pytest.fixture
def town(asked_for, game, tavern, mira):
    asked_for("promises")
    return Town(game, tavern, mira)

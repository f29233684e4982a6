"""A tavern and a square beside it; Mira passes on messages."""

import json

import pytest

from evennia_ai.contrib.letters.letter_records import Letters
from evennia_ai.messages import ToolCallRequest
from evennia_ai.ports import ToolContext
from tests.game import extensions_scene

asked_for = extensions_scene.asked_for


class Post:
    """What people leave for each other, and what they hear."""

    def __init__(self, game, tavern, mira):
        self.game, self.tavern, self.mira = game, tavern, mira
        self.square = game.room("Market Square")
        game.exit("square", tavern, self.square)
        game.exit("back", self.square, tavern)

    def leave(self, player, to, text, npc=None, private=False):
        """Let an NPC use its tool after a player spoke; returns the result."""
        npc, person = npc or self.mira, frozenset({player.dbref})
        context = ToolContext(
            assistant=npc.assistant.mind.tool_executor.tools,
            character=npc,
            audience=person,
            private=private,
            speakers=person,
            askers=person,
        )
        call = ToolCallRequest("1", "leave_message", json.dumps({"to": to, "text": text}))
        return self.game.result(self.game.service.toolbox.run(context, call), step_s=0)

    def letters(self, npc=None):
        return Letters.of(npc or self.mira).all()

    def go(self, person, place):
        """Let somebody walk into a place."""
        person.character.move_to(place, move_type="traverse")
        self.game.run(1)


@pytest.fixture
def post(asked_for, game, tavern, mira):
    asked_for("letters")
    return Post(game, tavern, mira)


def lines_of(player, words):
    return [line for line in player.heard() if words in line]

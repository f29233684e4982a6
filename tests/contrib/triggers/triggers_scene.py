"""A yard beside the tavern, a builder who writes triggers, and what came of them."""

import pytest
from evennia.commands.cmdset import CmdSet

from evennia_ai.contrib.triggers.aitrigger import CmdAITrigger
from evennia_ai.models import ToolCall
from evennia_ai.signals import fight_noticed
from tests.game import extensions_scene

asked_for = extensions_scene.asked_for


class BuilderSet(CmdSet):
    key = "triggers"

    def at_cmdset_creation(self):
        self.add(CmdAITrigger())


@pytest.fixture
def yard(game, tavern, mira, asked_for):
    """A yard beside the tavern, and the extension."""
    asked_for("triggers")
    yard = game.room("Yard")
    game.exit("in", yard, tavern)
    game.exit("out", tavern, yard)
    return yard


@pytest.fixture
def bea(builder, yard):
    builder.character.cmdset.add(BuilderSet)
    return builder


def give(mind_of, *written):
    """Give a character triggers, as a builder wrote them."""
    lines = [f"{number} {text}" for number, text in enumerate(written, 1)]
    mind_of.assistant.mind.settings.write({"trigger_rules": "\n".join(lines)})


def strike(witness, victim, kind, actor=None, damage=0, health=100, before=100):
    """Let a character see an event of a fight, as the extension `fights` tells it."""
    blow = {"damage": damage, "health": health, "before": before, "kind": kind}
    script, people = witness.assistant, {"actor": actor, "victim": victim}
    fight_noticed.send(script, character=witness, **people, **blow)


def said():
    """Return what all characters said and did by tools, oldest first."""
    rows = ToolCall.objects.filter(state="done").order_by("id")
    return list(rows.values_list("arguments", flat=True))


def spoken():
    """Return what they said and did by tools that have arguments."""
    return [arguments for arguments in said() if arguments != "{}"]

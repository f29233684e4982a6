"""A town whose characters know things, tell rumours, and can be asked who knows what."""

import pytest
from evennia.commands.cmdset import CmdSet

from evennia_ai.contrib.who_knows.commands import CmdAIKnows, CmdAIRumour
from tests.game import extensions_scene

asked_for = extensions_scene.asked_for


class StaffSet(CmdSet):
    key = "who knows"

    def at_cmdset_creation(self):
        self.add(CmdAIKnows())
        self.add(CmdAIRumour())


@pytest.fixture
def who_knows(asked_for, game):
    """The extension, with no chance and no delay in what it does."""
    service = asked_for("who_knows", rumour_loss=0.0, rumour_delay=0.0)
    (extension,) = (item for item in service.extensions if item.name == "who_knows")
    return extension


@pytest.fixture
def meet(game, who_knows):
    """Return a function that lets everybody meet once; it returns how many were told."""

    def meet(times=1):
        return sum(game.result(who_knows.travel.step(), 0.01) for _ in range(times))

    return meet


@pytest.fixture
def admin(game, tavern, who_knows):
    return staff(game.player("Ada", tavern, permissions=["Admin"]))


@pytest.fixture
def bea(game, tavern, who_knows):
    """A builder who may edit nobody."""
    return staff(game.player("Bea", tavern, permissions=["Builder"]))


def staff(player):
    player.character.cmdset.add(StaffSet)
    return player


@pytest.fixture
def ask(game):
    """Return a function by which staff type a command; it returns all that they are shown."""

    def ask(player, line):
        player.forget()
        player.do(line)
        for _ in range(400):
            game.clock.advance(0.01)
        return "\n".join(player.heard())

    return ask


@pytest.fixture
def recalls(game):
    """Return a function that searches a character's memory as a prompt would."""

    def recalls(character, words):
        mind = character.assistant.mind
        game.result(mind.memories().prepare(mind.services, [words]), 0.01)
        hits = mind.memories().search(words, 5, None, mind.services.now())
        return [mind.recall.line(hit.record) for hit in hits]

    return recalls


def seed(who_knows, character, text):
    """Let a character know a rumour; returns it."""
    kept = character.journal.get(character.journal.add(text, source_type="builder"))
    script = character.assistant
    now = script.services.now()
    return who_knows.rumours.seed(script.id, character.dbref, kept, now)

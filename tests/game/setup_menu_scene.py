"""Builders who type in the menu of ``aisetup``."""

import pytest

STEPS = ("character", "persona", "model", "tools", "habits", "trial", "finish")


@pytest.fixture
def builder(game, tavern):
    return game.player("Bea", tavern, permissions=["Builder"])


@pytest.fixture
def admin(game, tavern):
    return game.player("Ada", tavern, permissions=["Admin"])


@pytest.fixture
def guard(game, tavern):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    found = create_object(DefaultCharacter, key="Guard", location=tavern)
    found.locks.add("edit:perm(Builder)")
    return found


def typed(player, *lines):
    """Type lines and return what the last one shows."""
    for line in lines:
        told = player.told(line)
        assert "Traceback" not in told and "Error in menu" not in told, told
    return told


def is_open(player):
    return bool(player.character.ndb._evmenu)


def restart(player):
    """Forget what a server that is started again does not have in memory."""
    player.character.ndb._evmenu = player.character.ndb._menutree = None


def walked_to(player, step):
    """Open the menu with a new character and go to a step."""
    typed(player, "aisetup", "new Otto", "You are Otto, a fiddler.")
    return typed(player, *["next"] * (STEPS.index(step) - 1))

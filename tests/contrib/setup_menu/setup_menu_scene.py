"""Builders who type in the menu of ``aisetup``."""

import pytest
from evennia.utils.ansi import strip_ansi


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


class Menu:
    """The open menu of a player, driven as Evennia drives a command's dialogue."""

    def __init__(self, player):
        from evennia_ai.contrib.setup_menu.menu import CmdAISetupMenu

        self.player, self.command = player, CmdAISetupMenu()
        self.command.caller, self.command.session = player.character, player.session
        self.command.args, self.command.switches, self.command.rhs = "", [], None
        self.dialogue = self.command.func()
        self.shown = next(self.dialogue)

    @property
    def is_open(self):
        return self.dialogue.gi_frame is not None

    def type(self, *lines):
        """Type lines, and return what the last one shows."""
        for line in lines:
            self.player.forget()
            try:
                self.shown = self.dialogue.send(line)
            except StopIteration:
                self.shown = ""
        return (
            "\n".join([*self.player.heard(), strip_ansi(self.shown)]).strip().replace("\u200c", "")
        )

    def draft(self):
        return self.command.draft


def menu_of(player, *lines):
    """Open a menu, and type lines."""
    menu = Menu(player)
    menu.type(*lines)
    return menu

"""The command set, and how it gets into a game's own command set."""

from typing import Any

from django.conf import settings
from evennia import CmdSet
from evennia.utils.utils import class_from_module

from evennia_ai.commands import control, lore, oversight, players
from evennia_ai.commands.history import CmdAIHistory
from evennia_ai.commands.memories import CmdAIMemory
from evennia_ai.commands.setup import CmdAISetup
from evennia_ai.commands.status import CmdAIStatus
from evennia_ai.game.extensions import ask_classes
from evennia_ai.game.settings import game_setting

CORE = (CmdAISetup, CmdAIHistory, CmdAIStatus, control.CmdAIStop)
EXPERTS = (CmdAIMemory, lore.CmdAILore, oversight.CmdAINote, control.CmdAICompact)
FOR_PLAYERS = (players.CmdForgetMe, players.CmdAboutMe, players.CmdMute, players.CmdDismiss)
COMMANDS = (*CORE, *EXPERTS, *FOR_PLAYERS)


class AICmdSet(CmdSet):
    """All commands of evennia_ai."""

    key = "EvenniaAI"

    def at_cmdset_creation(self) -> None:
        for command in all_commands():
            self.add(command())


def all_commands() -> list[type[Any]]:
    """Return the package's commands, and those of the extensions that the settings ask for."""
    return [*COMMANDS, *ask_classes(lambda item: item.commands())]


def add_to_characters() -> None:
    """Add the commands to characters not loaded yet, unless ``ADD_COMMANDS`` is False."""
    if game_setting("ADD_COMMANDS", True):
        add_commands(class_from_module(settings.CMDSET_CHARACTER))


def add_commands(cmdset_class: Any) -> None:
    """Wrap a command set's ``at_cmdset_creation`` to add `AICmdSet`; once, however often called."""
    original = cmdset_class.at_cmdset_creation
    if getattr(original, "adds_ai_commands", False):
        return

    def at_cmdset_creation(self: Any) -> None:
        original(self)
        self.add(AICmdSet)

    at_cmdset_creation.__dict__["adds_ai_commands"] = True
    cmdset_class.at_cmdset_creation = at_cmdset_creation

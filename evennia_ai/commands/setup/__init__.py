"""``aisetup``: the command, and the menu that it opens."""

from evennia_ai.commands.setup.command import CmdAISetup as CmdAISetup

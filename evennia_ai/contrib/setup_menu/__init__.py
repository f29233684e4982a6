"""``aisetup`` alone opens a menu: who, what persona, which settings, a trial talk."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.setup_menu.menu import CmdAISetupMenu
from evennia_ai.extension import Extension


class SetupMenuExtension(Extension):
    """Puts a command with the menu in the place of the plain `aisetup`."""

    name = "setup_menu"

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return [CmdAISetupMenu]


EXTENSION = SetupMenuExtension

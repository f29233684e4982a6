"""A tool for staff alone, as a game may write it, and a model that does what it is told."""

from pydantic import BaseModel

from evennia_ai.tools.base import tool
from tests.scripted import call


class VaultArguments(BaseModel):
    """Which vault, and how far."""

    door: str = "north"


class Vault:
    """The vault: which doors were opened, and its tool."""

    def __init__(self, game, **options):
        self.opened = []
        self.game = game

        @tool("staff_vault", **{"lock": "perm(Builder)"} | options)
        def staff_vault(context, arguments: VaultArguments) -> str:
            """Open a door of the vault."""
            self.opened.append(arguments.door)
            return f"The {arguments.door} door is open."

        self.tool = staff_vault
        game.service.toolbox.add(staff_vault)

    def is_offered(self, number=-1):
        """Return True if a request offered the tool."""
        schemas = self.game.model.requests[number].tools
        return "staff_vault" in [schema["function"]["name"] for schema in schemas]

    def tempt(self, player, line, door="north"):
        """Say something; the model calls the tool. Returns True if it ran."""
        before = len(self.opened)
        self.game.model.add(call("staff_vault", door=door), call("noop"))
        player.do(line)
        self.game.run(1)
        self.game.model.script.clear()
        return len(self.opened) > before

"""Tools that break."""

from pydantic import BaseModel

from evennia_ai.tools import tool


class NoArguments(BaseModel):
    """No arguments."""


def add_tool(game, run, name="ring", **how):
    """Give the game a tool of its own."""

    def ring(context, arguments: NoArguments):
        """Ring the bell."""
        return run(context)

    game.service.toolbox.add(tool(name, **how)(ring))

"""Tools of a game's own shop, which a scene of `ai_check` plays by the prices of the scene."""

from pydantic import BaseModel

from evennia_ai.tools.base import NoArguments, tool


class SaleArguments(BaseModel):
    item: str
    price: int


def looks(context):
    raise AssertionError("it looks at the game")


@tool("prices", reads=True, needed=looks)
def prices(context, arguments: NoArguments) -> str:
    """Look up what things cost."""
    return looks(context)


@tool("sell", sells=True, answers_only=True, needed=looks)
def sell(context, arguments: SaleArguments) -> str:
    """Sell a thing."""
    return looks(context)


@tool("use_door", needed=looks)
def use_door(context, arguments: NoArguments) -> str:
    """Open a door."""
    return looks(context)

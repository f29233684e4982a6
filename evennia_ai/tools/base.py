"""The public names with which a game defines a tool (`ports.tool`)."""

from evennia_ai.ports.tool import EVERYBODY, NoArguments, Tool, tool

__all__ = ["EVERYBODY", "NoArguments", "Tool", "tool"]

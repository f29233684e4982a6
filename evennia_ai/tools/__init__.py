"""The tools of an assistant, one file for each family."""

from evennia_ai.errors import NothingDone, ToolError
from evennia_ai.tools.base import Tool, tool

__all__ = ["NothingDone", "Tool", "ToolError", "tool"]

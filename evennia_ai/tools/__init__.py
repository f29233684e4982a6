"""The tools of an assistant, one file for each family."""

from evennia_ai.errors import ToolError
from evennia_ai.tools.base import Tool, tool

__all__ = ["Tool", "ToolError", "tool"]

"""What an assistant can do. One file for each family of tools."""

from evennia_ai.errors import ToolError
from evennia_ai.tools.base import Tool, tool

__all__ = ["Tool", "ToolError", "tool"]

"""A server for agents' tools (MCP) at ``/ai/mcp``: what the staff reads and writes by commands."""

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from evennia_ai.config.resolve import read_switch
from evennia_ai.extension import EntryReader, Extension


class McpServerExtension(Extension):
    """Answers agents that log in with the name and the password of a staff account."""

    name = "mcp_server"
    by_default = False
    entries = frozenset({"MCP_WRITES"})

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        settings.read("MCP_WRITES", read_switch, False)
        if find_spec("mcp") is None:
            lacking = "The package mcp is missing: pip install 'evennia-ai[mcp]'"
            services.problems.append(lambda _reader: [("mcp_server", lacking)])
            return False
        return True

    @classmethod
    def urls(cls, by_game: bool) -> Iterable[str]:
        if find_spec("mcp"):
            yield f"{__name__}.view"


EXTENSION = McpServerExtension

"""Tools, as the engine knows them, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from evennia_ai.messages import Audience, Authors


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call."""

    # done, failed, refused, asked if a person must agree first, or unknown if it did not finish
    state: str
    text: str  # what the model is told
    # dbrefs of those the act reached, None for the turn's whole audience
    heard_by: Audience | None = None
    read: tuple[str, ...] = ()  # references to what was consulted (`policy.compaction.materials`)
    changed: tuple[str, ...] = ()  # references to what was changed
    # authors of the text that did not write the prompt (`policy.audience`); what a tool shows
    # of players' own texts has them as authors
    authors: Authors = frozenset()
    # True if the text quotes lines of the log with `messages.MARK` before those that the game
    # perceived, and passed all else through `messages.unmarked`
    quotes_log: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """What the engine must know about a tool."""

    name: str
    category: str  # free, once (in a turn) or final (ends the turn)
    world: bool  # True if others notice its effect
    safe_to_retry: bool  # True if running it again after a crash does no harm
    schema: Mapping[str, Any] = field(repr=False)  # its JSON schema in chat-completions form
    tokens: int = 0  # size of the schema in a request, 0 if it is left out
    # False if the tool is left out of requests; it still runs if a model calls it
    shown: bool = True
    late: bool = False  # True if it is left out, and the talk tells of it instead

    @cached_property
    def left_out(self) -> ToolSpec:
        """Return this tool as one that requests do not show."""
        return replace(self, tokens=0, shown=False)

    @cached_property
    def told_late(self) -> ToolSpec:
        """Return this tool as one that the talk came to need after its start."""
        return replace(self.left_out, late=True)

"""Tools, as the engine knows them, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evennia_ai.messages import Audience, Authors


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call.

    Attributes:
        state: done, failed, refused, asked if a person must agree first, or unknown if it did not
            finish.
        text: what the model is told.
        heard_by: dbrefs of those the act reached, None for the turn's whole audience.
        read: references to what was consulted (`policy.compaction.consulted`).
        changed: references to what was changed.
        authors: authors of the text that did not write the prompt (`policy.authors`); what a tool
            shows of players' own texts has them as authors.
        quotes_log: True if the text quotes lines of the log with `messages.MARK` before those that
            the game perceived, and passed all else through `messages.unmarked`.
    """

    state: str
    text: str
    heard_by: Audience | None = None
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    authors: Authors = frozenset()
    quotes_log: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """What the engine must know about a tool.

    Attributes:
        category: free, once (in a turn) or final (ends the turn).
        world: True if others notice its effect.
        safe_to_retry: True if running it again after a crash does no harm.
        schema: its JSON schema in chat-completions form.
        tokens: size of the schema in a request, 0 if it is left out.
        shown: False if the tool is left out of requests; it still runs if a model calls it.
    """

    name: str
    category: str
    world: bool
    safe_to_retry: bool
    schema: Mapping[str, Any] = field(repr=False)
    tokens: int = 0
    shown: bool = True

    def left_out(self) -> ToolSpec:
        """Return this tool as one that requests do not show."""
        return replace(self, tokens=0, shown=False)

"""Tools and the context in which they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.messages import Audience, ToolCallRequest

if TYPE_CHECKING:
    from evennia_ai.ports.character import Character
    from evennia_ai.ports.script import Script


@dataclass(frozen=True)
class ToolContext:
    """The context of a tool call.

    Attributes:
        script: the assistant.
        character: its character.
        audience: dbrefs of everybody the prompt was built for.
        private: True if the prompt held anything that only ``audience`` may know.
        speakers: dbrefs of those whose new words are in the turn.
        whispered: True if the words that started the turn were whispered.
        askers: dbrefs of those who wait for the answer.
        hops: length of the chain of assistants' answers that led to the turn.
        allowed: names of the prompt context's tools, None for all.
        deadline_at: the clock's second at which the tool is cancelled.
        source_seqs: the messages that the call is about; empty for those this turn heard.
        remembered: dbrefs of those whose words were recalled. A tool's lock must let them pass too
            (P8), but they are no sources of what the tool writes down.
    """

    script: Script
    character: Character
    audience: Audience
    private: bool
    speakers: Audience
    whispered: bool = False
    askers: Audience = frozenset()
    hops: int = 0
    allowed: frozenset[str] | None = None
    deadline_at: float = 0.0
    source_seqs: tuple[int, ...] = ()
    remembered: Audience = frozenset()


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call.

    Attributes:
        state: done, failed, refused, or unknown if it did not finish.
        text: what the model is told.
        heard_by: dbrefs of those the act reached, None for the turn's whole audience.
        read: references to what was consulted (`policy.compaction.consulted`).
        changed: references to what was changed.
        speakers: dbrefs of those whose words the call recalled.
    """

    state: str
    text: str
    heard_by: Audience | None = None
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    speakers: Audience = frozenset()


@dataclass(frozen=True)
class ToolSpec:
    """What the engine must know about a tool.

    Attributes:
        name: its name.
        category: free, once (in a turn) or final (ends the turn).
        world: True if others notice its effect.
        safe_to_retry: True if running it again after a crash does no harm.
        schema: its JSON schema in chat-completions form.
        tokens: size of the schema in a request.
    """

    name: str
    category: str
    world: bool
    safe_to_retry: bool
    schema: Mapping[str, Any] = field(repr=False)
    tokens: int = 0


class Toolbox(Protocol):
    """The tools an assistant may use."""

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """Return the tools that every author of the prompt may use, in a stable order."""

    def run(self, context: ToolContext, call: ToolCallRequest) -> Deferred[ToolResult]:
        """Check locks and arguments again and run the tool. Never fails: errors are results."""

"""What an assistant can do."""

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
    """For whom and on whose words a tool runs.

    ``private`` is True when the prompt held anything only ``audience`` may know, ``whispered``
    when the words that set the turn off were whispered; ``askers`` wait for an answer;
    ``allowed`` narrows the tools to a
    prompt context's own; ``deadline_at`` is the clock's second at which a tool is given up;
    ``source_seqs`` are the messages it is all about, where those are not what this turn heard;
    ``remembered`` are those whose words are in the prompt as memories: they need a tool's right as
    the speakers do (P8), but what is written down is not theirs.
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
    """How a call ended: ``state`` is done, failed, refused or, where it did not come to an end,
    unknown; ``text`` goes back to the model.

    ``heard_by`` are those an act reached where it reached only some of the turn's audience;
    ``read`` and ``changed`` name what was consulted, see `policy.compaction.consulted`;
    ``speakers`` are those whose remembered words it brought back.
    """

    state: str
    text: str
    heard_by: Audience | None = None
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    speakers: Audience = frozenset()


@dataclass(frozen=True)
class ToolSpec:
    """What the engine must know of a tool. ``category`` is free, once or final; ``tokens`` is what
    its schema takes in a request."""

    name: str
    category: str
    world: bool
    safe_to_retry: bool
    schema: Mapping[str, Any] = field(repr=False)
    tokens: int = 0


class Toolbox(Protocol):
    """The tools an assistant may use."""

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """The tools that every speaker in the turn may use, in a stable order."""

    def run(self, context: ToolContext, call: ToolCallRequest) -> Deferred[ToolResult]:
        """Check rights and arguments again and run the tool. Never fails: errors are results."""

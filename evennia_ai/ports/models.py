"""A model, and the way to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.messages import Audience, LLMReply, Situation, WireMessage
from evennia_ai.policy.conversation.persona import Persona

TASK_SUMMARY = "summary"


@dataclass(frozen=True)
class HeardLine:
    """One new thing the character heard, as the prompt for this turn names it."""

    kind: str
    speaker: str
    text: str
    private: bool


@dataclass(frozen=True)
class Scene:
    """The same content as the prompt, structured, for a brain that is not a language model.

    It is built from the items selected for the prompt's audience and nothing else. ``lore`` holds
    the pieces of static knowledge in this prompt; ``step`` counts the turn's model calls from 1.
    ``task`` names what is wanted where it is not a turn, with its ``material``: for a summary the
    one so far, then what happened since, a line each; ``room_tokens`` is the most it may take.
    """

    name: str
    persona: Persona
    lines: tuple[HeardLine, ...]
    situation: Situation = field(default_factory=Situation)
    lore: tuple[str, ...] = ()
    step: int = 1
    task: str = ""
    material: tuple[str, ...] = ()
    room_tokens: int = 0


@dataclass(frozen=True)
class Caller:
    """On whose behalf a model is asked.

    ``speakers`` are the dbrefs whose words set the call off, and who pay for it; ``background`` is
    True where nobody waits for the reply; ``tokens_per_day`` is the assistant's own budget, None
    for no limit.
    """

    assistant: str = ""
    speakers: Audience = frozenset()
    background: bool = False
    tokens_per_day: int | None = None


@dataclass(frozen=True)
class LLMRequest:
    """One call of a model. ``messages`` and ``tools`` are in chat-completions form; ``tokens`` is
    the estimated length of both."""

    messages: Sequence[WireMessage]
    scene: Scene
    tools: Sequence[Mapping[str, Any]] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    tokens: int = 0
    caller: Caller = Caller()


class LLMClient(Protocol):
    """A model, wherever it runs."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Ask once, without retries.

        Fires with the reply; fails with a `ProviderError`. Cancelling abandons the call.
        """


class Gateway(Protocol):
    """The only way to a model: deadlines, retries, caps, budgets and choice of client."""

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask before ``deadline_at`` (the clock's seconds), as often as it takes and may help.

        Fires with the reply; fails with a `ProviderError` (`DeadlineExceeded` when time is up).
        """

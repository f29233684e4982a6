"""The parts of an assistant that need no other part: identity, settings, logs, prompt lines."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from datetime import datetime
from typing import Any, Protocol

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.tokens import CountText, UsageReport
from evennia_ai.ports.log import Conversation, Inbox, Turns


class StoredScript(Protocol):
    """Evennia's script.

    ``db`` and ``ndb`` are Evennia's handlers of stored Attributes and of state in memory; a name
    that was never set reads None. Evennia has no types, so these are Any.
    """

    db: Any
    ndb: Any

    @property
    def id(self) -> int:
        """Return the primary key."""

    @property
    def pk(self) -> int | None:
        """Return the primary key, None once the script is deleted."""

    @property
    def obj(self) -> Any:
        """Return the object that Evennia attached the script to, None if it is gone."""


class AssistantSettings(Protocol):
    """Who an assistant is and how it is set."""

    @property
    def character_name(self) -> str:
        """Return the character's name."""

    @property
    def persona(self) -> Persona:
        """Return the persona of the character."""

    @property
    def config(self) -> AssistantConfig:
        """Return the effective settings."""

    @property
    def profile(self) -> ModelProfile:
        """Return the model profile in use."""

    @property
    def is_on(self) -> bool:
        """Return False after ``aistop``."""


class AssistantLogs(Protocol):
    """What an assistant heard, thought and did, and what this cost.

    Attributes:
        prompt_overhead: tokens of the last request outside the conversation.
        compaction_strikes: compactions in a row that produced no summary.
        small_compactions: compactions in a row that removed little.
        compaction_cost: what the next compaction has cost so far (`policy.limits.budgets`).
    """

    prompt_overhead: int
    compaction_strikes: int
    small_compactions: int
    compaction_cost: Mapping[str, int]

    @property
    def conversation(self) -> Conversation:
        """Return the log of the conversation."""

    @property
    def inbox(self) -> Inbox:
        """Return the stored events."""

    @property
    def turns(self) -> Turns:
        """Return the stored turns, model calls and tool calls."""

    @property
    def count_text(self) -> CountText:
        """Return the token counter: the model's own if known, else an estimate."""

    @property
    def usage_reports(self) -> MutableSequence[UsageReport]:
        """Return the endpoint's latest token counts beside our estimates."""


class PromptLines(Protocol):
    """What an assistant puts into a prompt beside its conversation and its memories."""

    def pins(self, audience: Audience | None) -> Sequence[KnownLine]:
        """Return the pinned facts that an audience may know; None selects public ones."""

    def goals(self, audience: Audience | None) -> Sequence[KnownLine]:
        """Return the goals that an audience may know; None selects public ones."""

    def occupation(self) -> Sequence[KnownLine]:
        """Return the current part of the day plan as one line, or none."""

    def journalled_since(self, at: str, audience: Audience | None) -> Sequence[str]:
        """Return journal entries written since an ISO time that an audience may know."""

    @property
    def partners(self) -> MutableMapping[str, datetime]:
        """Return the character's conversation partners: dbref to time of the last exchange."""

    def is_in_conversation(self, dbref: str) -> bool:
        """Return True if the last exchange with somebody was recent enough."""

    def last_exchange_with(self, dbref: str) -> float:
        """Return the time of the last exchange in unix seconds, 0 if it is too long ago."""

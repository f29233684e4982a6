"""An assistant: the script of one character."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from datetime import datetime
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.tokens import CountText, UsageReport
from evennia_ai.ports.character import Character
from evennia_ai.ports.log import Conversation, Inbox, Turns
from evennia_ai.ports.memory import Memories
from evennia_ai.ports.services import GameServices, Services


class Script(Protocol):
    """What the engine, the tools and the timers use of an `AssistantScript`.

    Attributes:
        db: Evennia's handler of stored Attributes.
        ndb: Evennia's handler of state in memory; a name that was never set reads None.
        prompt_overhead: tokens of the last request outside the conversation.
        compaction_strikes: compactions in a row that produced no summary.
        small_compactions: compactions in a row that removed little.
        compaction_cost: what the next compaction has cost so far (`policy.limits.budgets`).
    """

    db: Any
    ndb: Any
    prompt_overhead: int
    compaction_strikes: int
    small_compactions: int
    compaction_cost: Mapping[str, int]

    @property
    def id(self) -> int:
        """Return the primary key."""

    @property
    def pk(self) -> int | None:
        """Return the primary key, None once the script is deleted."""

    @property
    def obj(self) -> Any:
        """Return the object that Evennia attached the script to, None if it is gone."""

    @property
    def character(self) -> Character:
        """Return the character of the assistant."""

    @property
    def character_name(self) -> str:
        """Return the character's name."""

    @property
    def config(self) -> AssistantConfig:
        """Return the effective settings."""

    @property
    def profile(self) -> ModelProfile:
        """Return the model profile in use."""

    @property
    def services(self) -> Services:
        """Return what all assistants share."""

    @property
    def persona(self) -> Persona:
        """Return the persona of the character."""

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
    def memories(self) -> Memories:
        """Return the search over journal, profiles and what others told."""

    @property
    def partners(self) -> MutableMapping[str, datetime]:
        """Return the character's conversation partners: dbref to time of the last exchange."""

    @property
    def count_text(self) -> CountText:
        """Return the token counter: the model's own if known, else an estimate."""

    @property
    def usage_reports(self) -> MutableSequence[UsageReport]:
        """Return the endpoint's latest token counts beside our estimates."""

    @property
    def is_on(self) -> bool:
        """Return False after ``aistop``."""

    # --- what belongs into a prompt ---------------------------------------------------------------

    def pins(self, audience: Audience | None) -> Sequence[KnownLine]:
        """Return the pinned facts that an audience may know; None selects public ones."""

    def goals(self, audience: Audience | None) -> Sequence[KnownLine]:
        """Return the goals that an audience may know; None selects public ones."""

    def occupation(self) -> Sequence[KnownLine]:
        """Return the current part of the day plan as one line, or none."""

    def journalled_since(self, at: str, audience: Audience | None) -> Sequence[str]:
        """Return journal entries written since an ISO time that an audience may know."""

    def is_in_conversation(self, dbref: str) -> bool:
        """Return True if the last exchange with somebody was recent enough."""

    def last_exchange_with(self, dbref: str) -> float:
        """Return the time of the last exchange in unix seconds, 0 if it is too long ago."""

    # --- what it does -----------------------------------------------------------------------------

    def may_think(self) -> bool:
        """Return False while the assistant must not start anything."""

    def players_near(self) -> bool:
        """Return True if a player hears the character."""

    def wake(self) -> None:
        """Tick soon. Several calls before that tick make one tick."""

    def tick(self) -> None:
        """Tick now and log its errors."""

    def resolve_settings(self) -> None:
        """Read the settings again."""

    def tell(self, key: str, dbrefs: Iterable[str]) -> None:
        """Tell people a line about the character that is not its own speech."""

    def tell_owner(self, trouble: str) -> None:
        """Report a problem to the owner, once."""

    def compact_on_overflow(self) -> Deferred[bool]:
        """Compact at once without a model. Fires with True if this freed room."""

    def compact_in_emergency(self) -> Deferred[dict[str, Any] | None]:
        """Compact if the context is nearly full. Fires with the result, None if it is not."""


class GameScript(Script, Protocol):
    """What the commands and the game use of an `AssistantScript` beyond `Script`."""

    @property
    def services(self) -> GameServices:
        """Return what all assistants share."""

    @property
    def attributes(self) -> Any:
        """Return Evennia's handler of Attributes."""

    @property
    def complaints(self) -> list[str]:
        """Return one sentence for each stored value or setting that cannot be used."""

    @property
    def warnings(self) -> list[str]:
        """Return the problems reported since the server start."""

    def own_settings(self) -> dict[str, Any]:
        """Return the settings stored on this assistant itself."""

    def hear(self, kind: str, words: str, speaker: Any) -> None:
        """Store what the character heard; wake if it calls for an answer."""

    def notify(self, text: str, importance: int = 5) -> None:
        """Tell the character about something that happened in the game."""

    def note_arrival(self, newcomer: Any) -> None:
        """Let one of the assistants present react to a player who arrived."""

    def stop_thinking(self) -> None:
        """Stop the assistant and drop the turn in flight."""

    def drop_turn(self, reason: str) -> list[str]:
        """End the turn in flight, if any; return the dbrefs of those who wait for it."""

    def forget(self, dbref: str) -> None:
        """Drop from memory what the tables no longer hold about somebody."""

    def compact(self, order: Any) -> Deferred[dict[str, Any]]:
        """Compact on an admin's request (`CompactionRequest`). Fires with the result."""

    def delete(self) -> bool:
        """Delete the assistant; return whether this happened."""

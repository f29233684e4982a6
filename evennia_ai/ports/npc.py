"""An NPC, as the engine, the tools and the commands use it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from evennia_ai.messages import IncomingEvent, Situation
from evennia_ai.ports.goal_records import DayPlan, Goals
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.profiles import EntityProfiles


class Character(Protocol):
    """What the engine, the tools and the commands use of an `AssistantCharacter`."""

    db: Any
    ndb: Any

    @property
    def id(self) -> int: ...
    @property
    def pk(self) -> int | None: ...  # None once it is deleted
    @property
    def dbref(self) -> str: ...  # such as ``#7``
    @property
    def key(self) -> str: ...  # its name
    @property
    def location(self) -> Any: ...  # None if it is nowhere
    @property
    def contents(self) -> Any: ...
    @property
    def has_account(self) -> bool: ...  # True while a player controls it
    @property
    def assistant(self) -> Any: ...  # its `AssistantScript`, None without one
    @property
    def journal(self) -> Journal: ...
    @property
    def ai_profiles(self) -> EntityProfiles: ...
    @property
    def ai_goals(self) -> Goals: ...
    @property
    def ai_plan(self) -> DayPlan: ...
    def ai_perceived(
        self, kind: str, actor: Any, item: Any = None, since: datetime | None = None
    ) -> bool: ...
    def at_ai_hear(self, event: IncomingEvent) -> IncomingEvent | None: ...
    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None: ...
    def at_ai_situation(self, situation: Situation) -> Situation: ...
    def at_ai_describe_self(self) -> str: ...
    def at_ai_say(self, text: str) -> str: ...
    def at_ai_thinking(self, seconds: float) -> str | None: ...
    def at_pre_say(self, message: str, **kwargs: Any) -> str | None: ...  # empty forbids the words
    def at_say(self, message: str, **kwargs: Any) -> None: ...

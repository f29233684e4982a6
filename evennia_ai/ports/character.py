"""The character of an assistant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from evennia_ai.messages import Heard, Situation
from evennia_ai.ports.records import DayPlan, EntityProfiles, Goals, Journal

if TYPE_CHECKING:
    from evennia_ai.ports.script import Script


class Character(Protocol):
    """What the engine, the tools and the commands use of an `AssistantCharacter`.

    ``location`` and ``contents`` are Evennia's objects; ``db`` and ``ndb`` are Evennia's handlers.
    Evennia has no types, so these are Any. ``pk`` is None once the character is deleted.
    """

    db: Any
    ndb: Any

    @property
    def id(self) -> int:
        """Return the primary key."""

    @property
    def pk(self) -> int | None:
        """Return the primary key, None once the character is deleted."""

    @property
    def dbref(self) -> str:
        """Return the dbref, such as ``#7``."""

    @property
    def key(self) -> str:
        """Return the name."""

    @property
    def location(self) -> Any:
        """Return the place of the character, None if it is nowhere."""

    @property
    def contents(self) -> Any:
        """Return the objects that the character carries."""

    @property
    def has_account(self) -> bool:
        """Return True while a player controls the character."""

    @property
    def assistant(self) -> Script | None:
        """Return the character's assistant, None if it has none."""

    @property
    def journal(self) -> Journal:
        """Return the journal."""

    @property
    def ai_profiles(self) -> EntityProfiles:
        """Return the entity profiles."""

    @property
    def ai_goals(self) -> Goals:
        """Return the goals."""

    @property
    def ai_plan(self) -> DayPlan:
        """Return the day plan."""

    def attach_assistant(self, persona: str = "") -> Any:
        """Give the character an assistant and return its script."""

    def at_ai_hear(self, event: Heard) -> Heard | None:
        """Return an event to store, changed or not; None drops it."""

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None:
        """Return False to forbid a tool call."""

    def at_ai_situation(self, situation: Situation) -> Situation:
        """Return what the character perceives, changed or not."""

    def at_ai_say(self, text: str) -> str:
        """Return the words to say, changed or not."""

    def at_ai_thinking(self, seconds: float) -> str | None:
        """Return what the character does during a long turn, None for nothing."""

    def at_pre_say(self, message: str, **kwargs: Any) -> str | None:
        """Return the words to say, changed or not; an empty value forbids them."""

    def at_say(self, message: str, **kwargs: Any) -> None:
        """Say or whisper words in the room."""

    def get_display_name(self, looker: Any = None) -> str:
        """Return the name that somebody sees."""

    def access(self, accessing_obj: Any, access_type: str = "read") -> bool:
        """Return True if a lock of the character lets an object pass."""

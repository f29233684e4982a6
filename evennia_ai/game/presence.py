"""Who is near an assistant's character and who is in conversation with it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.following import follow_leader
from evennia_ai.game.perception import can_hear, players_in
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import ARRIVE
from evennia_ai.store.brief_transaction import store_errors

if TYPE_CHECKING:
    Base = GameScript
else:
    Base = object

T = TypeVar("T")


class ScriptPart(Base):
    """A part of an `AssistantScript`; its state is in ``ndb``."""

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """Return a value that ``ndb`` keeps; ``make()`` it at the first call."""
        value: T | None = getattr(self.ndb, name)
        if value is None:
            value = make()
            setattr(self.ndb, name, value)
        return value


class AssistantPresenceMixin(ScriptPart):
    """The part of an `AssistantScript` that notices who comes, goes and talks."""

    def notice_move(self, mover: Any) -> None:
        """Note that somebody comes or goes; which of the two shows after the move."""
        if self.is_on and self.services and can_hear(mover):
            self.services.clock.callLater(0, self._moved, mover)

    def _moved(self, mover: Any) -> None:
        if not self.pk or not mover.pk or self.character is None:
            return
        here = mover.location is not None and mover.location is self.character.location
        self.hear("arrive" if here else "leave", "", mover)
        if here:
            self.wake()
            self.note_arrival(mover)
        else:
            follow_leader(self.character, mover)

    def note_arrival(self, newcomer: Any) -> None:
        """Let one of the assistants present react to a player who arrived."""
        if not newcomer.has_account or self.services is None:
            return
        line = self.services.lines.current(ARRIVE, "", newcomer, self.character)
        if line.greeter == self.character.dbref:
            self.ndb.news_at = self.services.clock.seconds()

    def notice_presence(self) -> None:
        """Wake after an untyped line: a player who enters the game may wait for a lost answer."""
        if self.is_on:
            self.wake()

    def notice_unpuppet(self) -> None:
        """Wake after a player left the character; the turn that they broke into has no lease."""
        if self.services:
            self.turns.lose_lease()
            self.wake()

    def notice_place(self) -> None:
        """Wake after the character moved: players may wait for an answer there."""
        if self.is_on and self.players_near():
            self.wake()

    def players_near(self) -> bool:
        """True if a player hears the character; another assistant does not count."""
        return bool(players_in(self.character.location) - {self.character})

    @property
    def partners(self) -> dict[str, datetime]:
        """Return the conversation partners: dbref to time of the last exchange."""

        def make() -> dict[str, datetime]:
            return self.inbox.recent_partners(self.config.conversation_timeout)

        try:
            with store_errors():
                return self.kept("partners", make)
        except StoreUnavailable:
            return {}  # a line must be heard all the same

    def is_in_conversation(self, dbref: str) -> bool:
        """True if the last exchange with somebody was within ``conversation_timeout``."""
        return self.last_exchange_with(dbref) > 0

    def last_exchange_with(self, dbref: str) -> float:
        """Return the time of the last exchange in unix seconds, 0 if it is too long ago."""
        last = self.partners.get(dbref)
        if last is None:
            return 0.0
        age_s = abs((self.services.now() - last).total_seconds())
        return 0.0 if age_s > self.config.conversation_timeout else last.timestamp()

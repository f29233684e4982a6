"""Who is near an assistant's character, and who is in conversation with it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet.defer import Deferred

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import can_hear, display_name, players_in
from evennia_ai.game.texts import text
from evennia_ai.game.tick_scheduler import GameAssistantStatus
from evennia_ai.messages import ARRIVE
from evennia_ai.ports import Character, Identity, Settings
from evennia_ai.scheduling import DelayedCall
from evennia_ai.signals import company_changed
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.transactions import store_errors


class GamePresence:
    """Notices who comes, goes and talks: the `Presence` port."""

    def __init__(
        self,
        who: Identity,
        settings: Settings,
        inbox: TableInbox,
        hear: Callable[[str, str, Any], None],
        status: GameAssistantStatus,
        services: Any,
    ) -> None:
        self._who, self._settings, self._inbox = who, settings, inbox
        self._hear, self._status, self._services = hear, status, services
        self.last_talk_at: float | None = None
        self.news_at: float | None = None
        self._came_at = 0.0  # in unix seconds, to the present place
        self._partners: dict[str, datetime] | None = None
        self._pausing: tuple[Deferred[bool], DelayedCall] | None = None

    def notice_move(self, mover: Any) -> None:
        """Note that somebody comes or goes; which of the two shows after the move."""
        if self._status.is_on and can_hear(mover):
            self._services.clock.callLater(0, self._moved, mover)

    def _moved(self, mover: Any) -> None:
        character = self._who.character
        if not self._status.is_alive or not mover.pk:
            return
        here = mover.location is not None and mover.location is character.location
        self._hear("arrive" if here else "leave", "", mover)
        if here:
            self._status.wake()
            self.note_arrival(mover)
        else:
            follow_leader(character, mover)

    def note_arrival(self, newcomer: Any) -> None:
        """Let one of the assistants present react to a player who arrived."""
        self._tell_company(newcomer)
        if not newcomer.has_account:
            return
        character = self._who.character
        if self._services.lines.current(ARRIVE, "", newcomer, character).greeter == character.dbref:
            self.news_at = self._services.clock.seconds()

    def notice_presence(self) -> None:
        """Wake after an untyped line: a player who enters the game may wait for a lost answer."""
        if self._status.is_on:
            self._status.wake()

    def notice_place(self) -> None:
        """Wake after the character moved: players may wait for an answer there."""
        self._came_at = self._services.now().timestamp()
        if self._status.is_on and self.players_near():
            self._status.wake()
        self._tell_company(None)

    def _tell_company(self, person: Any) -> None:
        character = self._who.character
        company_changed.send_robust(character.assistant, character=character, person=person)

    def players_near(self) -> bool:
        """Return True if a player hears the character; another assistant does not count."""
        character = self._who.character
        return bool(players_in(character.location) - {character})

    @property
    def partners(self) -> dict[str, datetime]:
        """Return the conversation partners: dbref to time of the last exchange."""
        if self._partners is None:
            try:
                with store_errors():
                    timeout_s = self._settings.config.conversation_timeout
                    self._partners = self._inbox.recent_partners(timeout_s)
            except StoreUnavailable:
                return {}  # a line must be heard all the same
        return self._partners

    def is_in_conversation(self, dbref: str) -> bool:
        return self.last_exchange_with(dbref) > 0

    def last_exchange_with(self, dbref: str) -> float:
        """Return the time of the last exchange in unix seconds, 0 if it is too long ago."""
        if (last := self.partners.get(dbref)) is None:
            return 0.0
        age_s = abs((self._services.now() - last).total_seconds())
        return 0.0 if age_s > self._settings.config.conversation_timeout else last.timestamp()

    def came_behind(self, dbref: str) -> float:
        """Return when the character walked in here behind somebody, in unix seconds; 0 if never."""
        return self._came_at if self._came_at and leader_id(self._who.character) == dbref else 0.0

    def pause(self, seconds: float) -> Deferred[bool]:
        """Fire with True after some seconds, with False if `end_pause` comes first."""
        pausing = Deferred[bool](lambda _: timer.cancel() if timer.active() else None)
        timer = self._services.clock.callLater(seconds, pausing.callback, True)
        self._pausing = (pausing, timer)
        return pausing

    def end_pause(self) -> None:
        """End the character's pause now, if it makes one."""
        if self._pausing is None:
            return
        (pausing, timer), self._pausing = self._pausing, None
        if timer.active():
            timer.cancel()
            pausing.callback(False)


FOLLOWING = "ai_following"


def leader_id(character: Any) -> str:
    """Return the dbref of whom a character follows, "" for nobody."""
    return str(read_attribute(character, FOLLOWING) or "")


def follow(character: Any, leader: Any | None) -> None:
    """Let a character follow somebody from now on, nobody for None; raises StoreUnavailable."""
    write_attribute(character, FOLLOWING, leader.dbref if leader else None)


def followers_of(leader: Any) -> list[Any]:
    """Return the characters that follow somebody, wherever they are."""
    objects = ObjectDB.objects.filter(db_attributes__db_key=FOLLOWING).distinct().order_by("id")
    return [item for item in objects if leader_id(item) == leader.dbref]


def shake_off(character: Any, leader: Any) -> bool:
    """End that a character follows somebody, and tell them; returns False if it did not."""
    if leader_id(character) != leader.dbref:
        return False
    follow(character, None)
    leader.msg(text("follows_no_more", name=clean_output(display_name(character, leader))))
    return True


def follow_leader(character: Character, leader: Any) -> None:
    """Move a character after its leader, who has left, through an exit that it may traverse.

    If there is none, the character has lost sight of its leader and follows no longer.
    """
    if leader_id(character) != leader.dbref or character.location is None:
        return
    for exit_obj in character.location.exits:
        if exit_obj.destination is leader.location and exit_obj.access(character, "traverse"):
            exit_obj.at_traverse(character, exit_obj.destination)
            return
    follow(character, None)

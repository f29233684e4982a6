# mypy: ignore-errors
# A part of an untyped Evennia class: mypy sees only what it calls and not what it is.
"""How an assistant hears: from what its character perceives to a stored event."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.following import follow_leader
from evennia_ai.game.hearing import is_chosen, perceive
from evennia_ai.game.perception import can_hear, display_name, is_assistant, listening_objects
from evennia_ai.game.sleep_state import on_addressed
from evennia_ai.game.texts import text
from evennia_ai.messages import Heard
from evennia_ai.policy.conversation.addressing import SPOKEN
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import (
    read_attribute,
    write_attribute,
)
from evennia_ai.store.backlog import Backlog
from evennia_ai.turn.answer_events import EXPIRED

log = Logger()

URGENT = 7
NOTEWORTHY = 4


def introduce(character: Any, player: Any) -> None:
    """Tell a player, the first time he talks to any such character, what it is."""
    if not player.has_account or read_attribute(player, "ai_introduced"):
        return
    try:
        write_attribute(player, "ai_introduced", True)
    except StoreUnavailable:
        return  # the next line he says is early enough
    line = text("first_meeting", name=display_name(character, player))
    if line:
        player.msg(line)


class AssistantHearingMixin:
    """The ears of an `AssistantScript`."""

    def hear(self, kind: str, words: str, speaker: Any) -> None:
        """Store what was heard, then wake if it calls for an answer."""
        if not self.is_on or self.services is None:
            return
        if self.character.dbref in getattr(speaker, "muted_assistants", ()):
            return
        try:
            self.take_words(kind, words, speaker)
        except Exception:  # noqa: BLE001  # a game's names and hooks; who speaks must not suffer
            log.failure("{name} could not hear", name=self.character_name)

    def take_words(self, kind: str, words: str, speaker: Any) -> None:
        """Make an event of what was heard, store it, and note who is talking with the character."""
        heard = perceive(kind, words, speaker, self.character, self.config)
        changed = self.pass_hook(heard)
        if changed is None:
            return
        self.take_in(changed)
        if changed.kind in SPOKEN:
            self.ndb.last_talk_at = self.services.clock.seconds()
        if changed.addressed:
            self.partners[changed.speaker] = self.services.now()

    def pass_hook(self, heard: Heard) -> Heard | None:
        """What the character's own hook makes of an event: the event as it was, if the hook fails,
        since words must not be lost by it."""
        try:
            changed: Heard | None = self.character.at_ai_hear(heard)
        except Exception:  # noqa: BLE001  # a builder's hook may raise anything
            log.failure("{name}: at_ai_hear failed", name=self.character_name)
            return heard
        if changed is None:
            return None
        return replace(changed, text=clean_heard(changed.text, self.config.max_heard_chars))

    def take_in(self, heard: Heard) -> None:
        """Store an event and see to it that somebody attends to it."""
        self.backlog.put(heard)

    def attend_to(self, heard: Heard, event_id: int) -> None:
        """An event is stored: answer it soon, if it calls for that."""
        if self.services.switched_off and heard.addressed:
            with suppress(StoreUnavailable):  # then it is closed by its age
                self.inbox.close([event_id], EXPIRED, self.services.switched_off)
            self.tell("switched_off", [heard.speaker])
            return
        self.services.attend(self)
        if heard.addressed:
            on_addressed(self, heard)
            self.wake()
            for person in ObjectDB.objects.dbref_search(heard.speaker):
                introduce(self.character, person)

    def give_up(self, heard: Heard, error: StoreUnavailable) -> None:
        """An event could not be stored: whoever spoke must know that it was not heard."""
        log.error("{name} did not hear a line: {error}", name=self.character_name, error=error)
        if heard.addressed:
            self.tell("unheard", [heard.speaker])

    def tell(self, key: str, dbrefs: Iterable[str]) -> None:
        """Tell some people a line about the character that is not in its own voice."""
        for dbref in dbrefs:
            for person in ObjectDB.objects.dbref_search(dbref):
                person.msg(text(key, name=display_name(self.character, person)))

    @property
    def backlog(self) -> Backlog:
        """What the database could not take yet."""
        if self.ndb.backlog is None:
            self.ndb.backlog = Backlog(
                self.services.clock, self.inbox.put, self.attend_to, self.give_up
            )
        return self.ndb.backlog

    def notify(self, text: str, importance: int = 5) -> None:
        """Tell the character of something that happened in the game: a quest, the weather.

        Args:
            text: one sentence, from its point of view.
            importance: 1 to 10. From 7 it thinks about it at once; from 4 it may react by itself;
                below it only knows.
        """
        if not self.is_on or self.services is None:
            return
        listeners = self.services.world.listeners(self.character)
        line = clean_heard(text, self.config.max_heard_chars)
        urgent = importance >= URGENT
        self.take_in(Heard("notice", "", "", line, listeners, addressed=urgent, reason="notice"))
        if importance >= NOTEWORTHY and not urgent:
            self.ndb.news_at = self.services.clock.seconds()

    def notice_move(self, mover: Any) -> None:
        """Somebody is coming or going: which of the two shows only when the move is done."""
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
        """A player has come: one of the assistants present may react to it."""
        colleagues = [obj for obj in listening_objects(self.character) if is_assistant(obj)]
        if newcomer.has_account and is_chosen(self.character, colleagues, newcomer, ""):
            self.ndb.news_at = self.services.clock.seconds()

    def notice_presence(self) -> None:
        """Somebody sent an untyped line, as when a player enters the game: answer what reached
        nobody."""
        if self.is_on:
            self.wake()

    def notice_place(self) -> None:
        """The character has come to another place: answer those who wait for it there."""
        if self.is_on and self.players_near():
            self.wake()

    def players_near(self) -> bool:
        """True where a player, and not only another assistant, hears the character."""
        return any(obj.has_account for obj in listening_objects(self.character))

    @property
    def partners(self) -> dict[str, datetime]:
        """Who is in conversation with the character: dbref → time of the last exchange."""
        if self.ndb.partners is None:
            self.ndb.partners = self.inbox.recent_partners(self.config.conversation_timeout)
        return self.ndb.partners

    def is_in_conversation(self, dbref: str) -> bool:
        """True where the last exchange with somebody is short enough ago."""
        return self.last_exchange_with(dbref) > 0

    def last_exchange_with(self, dbref: str) -> float:
        """When the last exchange with somebody was, in unix seconds; 0 if too long ago."""
        last = self.partners.get(dbref)
        timeout = self.config.conversation_timeout
        if last is None or abs((self.services.now() - last).total_seconds()) > timeout:
            return 0.0
        return last.timestamp()

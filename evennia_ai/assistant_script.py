"""The mind of one character, as Evennia sees it: a Script that is woken by events."""

from __future__ import annotations

from collections.abc import Generator
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from evennia.scripts.scripts import DefaultScript
from evennia.utils.dbserialize import deserialize
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.assistant_character import SCRIPT_KEY
from evennia_ai.config import (
    FIELDS,
    AssistantConfig,
    ModelProfile,
    resolve_lenient,
    resolve_profile,
)
from evennia_ai.errors import ConfigError, TurnAborted
from evennia_ai.hearing import perceive
from evennia_ai.messages import Message
from evennia_ai.policy.persona import Persona, read_persona
from evennia_ai.senses import can_hear
from evennia_ai.signals import turn_finished
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.turns import TableTurns
from evennia_ai.turn.attention import TURNS_A_TICK, answer_events

log = Logger()


class AssistantScript(DefaultScript):
    """Interval 0: a thousand timed scripts would hold a reload for seconds (measured). An event
    wakes it through one delayed call; all state of the living assistant is in ``ndb``."""

    shared_services: ClassVar[Any] = None

    # --- Evennia's hooks ---------------------------------------------------------------------

    def at_script_creation(self) -> None:
        """Settings are not written here, so that they go on being inherited."""
        self.key = SCRIPT_KEY
        self.desc = "the mind of a character"
        self.interval = 0
        self.persistent = True

    def at_repeat(self, **kwargs: Any) -> None:
        """For a builder who sets an interval. Returns nothing: Evennia would drop a Deferred."""
        self.tick()

    def at_server_start(self) -> None:
        """After a SIGKILL a timed script counts as active without a running task: start it."""
        if (
            self.interval > 0
            and self.db_is_active
            and not (self.ndb._task and self.ndb._task.running)
        ):
            self.start(force_restart=True)

    def at_server_reload(self) -> None:
        """From here on no new turn begins in this process."""
        if self.services:
            self.services.quiesce()

    # --- what the engine touches ------------------------------------------------------------

    @property
    def character(self) -> Any:
        """The character whose mind this is."""
        return self.obj

    @property
    def character_name(self) -> str:
        """The character's name, as others know it."""
        return str(self.obj.key)

    @property
    def persona(self) -> Persona:
        """Who the character is."""
        return read_persona(deserialize(self.obj.db.ai_persona))

    @property
    def services(self) -> Any:
        """What the service gives to all assistants; None in a process without it."""
        return self.ndb.services or AssistantScript.shared_services

    @property
    def conversation(self) -> TableConversation:
        """The log of everything said and done."""
        if self.ndb.conversation is None:
            self.ndb.conversation = TableConversation(self.id, self.services.now)
        return self.ndb.conversation

    @property
    def conversation_history(self) -> list[Message]:
        """The stored messages in view, oldest first."""
        return list(self.conversation.view())

    @property
    def inbox(self) -> TableInbox:
        """What was heard."""
        if self.ndb.inbox is None:
            self.ndb.inbox = TableInbox(self.id, self.services.now)
        return self.ndb.inbox

    @property
    def turns(self) -> TableTurns:
        """What was thought and done."""
        if self.ndb.turns is None:
            services = self.services
            self.ndb.turns = TableTurns(
                self.id, self.conversation, services.now, services.epoch, self.may_think
            )
        return self.ndb.turns

    @property
    def config(self) -> AssistantConfig:
        """The effective settings, resolved once a tick."""
        if self.ndb.config is None:
            self.resolve_settings()
        return self.ndb.config

    @property
    def profile(self) -> ModelProfile:
        """The model profile in force."""
        if self.ndb.profile is None:
            self.resolve_settings()
        return self.ndb.profile

    @property
    def complaints(self) -> list[str]:
        """One sentence for each setting that could not be used."""
        self.resolve_settings()
        return list(self.ndb.complaints)

    def own_settings(self) -> dict[str, Any]:
        """The settings stored on this assistant itself."""
        stored = {attribute.key: attribute.value for attribute in self.attributes.all()}
        return {name: stored[name] for name in FIELDS if stored.get(name) is not None}

    def resolve_settings(self) -> None:
        """Read the settings anew. A bad value is passed over and named; the character lives on."""
        game = getattr(settings, "AI_ASSISTANT", {})
        own = self.own_settings()
        chosen, complaints = resolve_lenient([game, own])
        profiles = self.services.profiles
        try:
            profile = resolve_profile(chosen.profile, profiles)
        except ConfigError as error:
            complaints.append(str(error))
            profile = resolve_profile("offline", profiles)
        config, all_complaints = resolve_lenient([game, profile.settings, own])
        self.ndb.config, self.ndb.profile = config, profile
        self.ndb.complaints = list(dict.fromkeys([*complaints, *all_complaints]))

    # --- hearing ------------------------------------------------------------------------------

    def hear(self, kind: str, words: str, speaker: Any) -> None:
        """Store what was heard, then wake if it calls for an answer."""
        if not self.is_on or self.services is None:
            return
        in_conversation = self.is_in_conversation(speaker.dbref)
        heard = perceive(kind, words, speaker, self.character, self.config, in_conversation)
        heard = self.character.at_ai_hear(heard)
        if heard is None:
            return
        self.inbox.put(heard)
        self.services.attend(self)
        if heard.addressed:
            self.partners[heard.speaker] = self.services.now()
            self.wake()

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

    def notice_presence(self, somebody: Any) -> None:
        """An untyped line, as when a player enters the game: answer what reached nobody."""
        if self.is_on and getattr(somebody, "has_account", False):
            self.wake()

    @property
    def partners(self) -> dict[str, datetime]:
        """Who is in conversation with the character: dbref → time of the last exchange."""
        if self.ndb.partners is None:
            self.ndb.partners = self.inbox.recent_partners(self.config.conversation_timeout)
        return self.ndb.partners

    def is_in_conversation(self, dbref: str) -> bool:
        """True where the last exchange with somebody is short enough ago."""
        last = self.partners.get(dbref)
        timeout = self.config.conversation_timeout
        return last is not None and (self.services.now() - last).total_seconds() <= timeout

    # --- ticking ------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """False after ``aisetup/stop``."""
        return not self.db.stopped

    def stop_thinking(self) -> None:
        """Hear and say nothing from now on; an answer on its way is dropped."""
        self.db.stopped = True
        if self.ndb.turns and self.ndb.turns.current:
            self.ndb.turns.finish(self.ndb.turns.current, "expired", "the assistant was stopped")

    def wake(self) -> None:
        """Tick soon. Any number of calls before that make one tick."""
        services = self.services
        if services is None or not services.accepting or self.ndb.wake_call is not None:
            return
        self.ndb.wake_call = services.clock.callLater(0, self._woken)

    def _woken(self) -> None:
        self.ndb.wake_call = None
        self.tick()

    def tick(self) -> None:
        """Run `at_tick` with its errors logged."""
        if self.pk:
            self.at_tick().addErrback(lambda failure: log.failure("a tick failed", failure=failure))

    @inlineCallbacks
    def at_tick(self) -> Generator[Deferred[Any], Any, int]:
        """Do everything there is to do now. Never overlaps with itself.

        Fires with the number of turns taken.
        """
        if self.ndb.ticking or not self.may_think():
            return 0
        self.ndb.ticking = True
        try:
            self.resolve_settings()
            turns = yield answer_events(self)
        except TurnAborted as error:
            log.info("{name}: {error}", name=self.character_name, error=error)
            return 0
        finally:
            self.ndb.ticking = False
        if turns:
            turn_finished.send(sender=self, character=self.character, turns=turns)
        if turns == TURNS_A_TICK:
            self.wake()
        return turns

    def may_think(self) -> bool:
        """False while it is stopped, the server goes down, somebody steers the character himself,
        or the character is nowhere."""
        character = self.character
        return bool(
            self.is_on
            and self.services
            and self.services.accepting
            and character is not None
            and character.pk
            and character.location
            and not character.has_account
        )

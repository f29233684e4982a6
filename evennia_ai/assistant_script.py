"""The mind of one character, as Evennia sees it: a Script that is woken by events."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from evennia.objects.models import ObjectDB
from evennia.scripts.scripts import DefaultScript
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
from evennia_ai.errors import ConfigError, StoreUnavailable, TurnAborted
from evennia_ai.events import Audience, Heard
from evennia_ai.game_settings import game_settings
from evennia_ai.hearing import is_chosen, perceive
from evennia_ai.llm.tokenizers import count_for
from evennia_ai.messages import Message
from evennia_ai.policy.addressing import SPOKEN
from evennia_ai.policy.autonomy import HOUR_S, AutonomyLimits, AutonomyState, should_act
from evennia_ai.policy.persona import Persona
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import CountText, UsageReport, count_message, estimate_tokens
from evennia_ai.profiles import missing_model
from evennia_ai.rest import is_asleep, sleep_through, wake_up
from evennia_ai.senses import can_hear, display_name, is_assistant, listening_objects
from evennia_ai.signals import turn_finished
from evennia_ai.sleep.compaction import (
    Order,
    compact,
    compact_if_urgent,
    is_urgent,
    make_room,
    mask_old_results,
)
from evennia_ai.store.attributes import (
    inspect_attribute,
    read_attribute,
    tell_once,
    write_attribute,
)
from evennia_ai.store.backlog import Backlog
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.lore import read_entries
from evennia_ai.store.turns import TableTurns
from evennia_ai.texts import text
from evennia_ai.tools.company import follow_leader
from evennia_ai.turn.attention import EXPIRED, TURNS_A_TICK, act_unasked, answer_events
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_AUTONOMOUS

log = Logger()

STORE_PAUSE_S = 5.0
GUESSED_OVERHEAD = 2_500
KEPT_REPORTS = 8
URGENT = 7
NOTEWORTHY = 4
CHARACTER_ATTRIBUTES = ("ai_lore", "ai_fillers", "ai_following")


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
        if self.obj is not None:
            self.obj.ndb.ai_assistant = None

    def at_repeat(self, **kwargs: Any) -> None:
        """For a builder who sets an interval. Returns nothing: Evennia would drop a Deferred."""
        self.tick()

    def at_script_delete(self) -> bool:
        """What could not be stored for it yet is nobody's any more. True lets it be deleted."""
        if self.ndb.backlog:
            self.ndb.backlog.clear()
        return True

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
        persona, trouble = self.inspect_persona()
        if trouble:
            tell_once(self.obj, trouble)
        return persona

    @property
    def services(self) -> Any:
        """What the service gives to all assistants; None in a process without it."""
        return self.ndb.services or AssistantScript.shared_services

    @property
    def conversation(self) -> TableConversation:
        """The log of everything said and done."""
        if self.ndb.conversation is None:
            count = partial(count_message, count_text=self.count_text)
            self.ndb.conversation = TableConversation(self.id, self.services.now, count)
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
        """One sentence for each setting, and for each other thing stored on it or its character,
        that could not be used."""
        self.resolve_settings()
        strange = [inspect_attribute(self, "stopped")[1]]
        strange += [inspect_attribute(self.obj, name)[1] for name in CHARACTER_ATTRIBUTES]
        strange += read_entries(inspect_attribute(self.obj, "ai_lore")[0])[1]
        _persona, trouble = self.inspect_persona()
        return [*self.ndb.complaints, *filter(None, [*strange, trouble])]

    def inspect_persona(self) -> tuple[Persona, str]:
        """Who the character is, nobody in particular where its persona cannot be used; and what is
        wrong with it, else an empty text."""
        stored, trouble = inspect_attribute(self.obj, "ai_persona")
        try:
            return self.services.personas.resolve(stored), trouble
        except ConfigError as error:
            return Persona(), str(error)

    def own_settings(self) -> dict[str, Any]:
        """The settings stored on this assistant itself."""
        stored = {attribute.key for attribute in self.attributes.all()}
        found = {name: read_attribute(self, name) for name in FIELDS if name in stored}
        return {name: value for name, value in found.items() if value is not None}

    def resolve_settings(self) -> None:
        """Read the settings anew. A bad value is passed over and named; the character lives on."""
        game = game_settings()
        own = self.own_settings()
        chosen, complaints = resolve_lenient([game, own])
        profiles = self.services.profiles
        try:
            profile = resolve_profile(chosen.profile, profiles)
        except ConfigError as error:
            complaints.append(str(error))
            profile = ModelProfile("offline", model="offline")
        config, all_complaints = resolve_lenient([game, profile.settings, own])
        if profile.client == "openai" and not (config.llm_model or profile.model):
            all_complaints.append(missing_model(profile.name))
        self.ndb.config, self.ndb.profile = config, profile
        self.ndb.complaints = list(dict.fromkeys([*complaints, *all_complaints]))
        for complaint in self.ndb.complaints:
            tell_once(self, complaint)

    # --- hearing ------------------------------------------------------------------------------

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
            introduce(self.character, speaker)

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
            self.wake()

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

    # --- ticking ------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """False after ``aistop``."""
        return not read_attribute(self, "stopped")

    def stop_thinking(self) -> None:
        """Hear and say nothing from now on; an answer on its way is dropped."""
        write_attribute(self, "stopped", True)
        self.drop_turn("the assistant was stopped")

    def drop_turn(self, reason: str) -> list[str]:
        """End the turn that is being thought, if any, without another word.

        Returns the dbrefs of those who wait for its answer.
        """
        turns = self.ndb.turns
        if not turns or not turns.current:
            return []
        waiting = turns.waiting_speakers()
        turns.finish(turns.current, EXPIRED, reason)
        return waiting

    def forget(self, dbref: str) -> None:
        """Drop from memory what the tables do not hold of somebody any more."""
        self.partners.pop(dbref, None)
        self.conversation.forget_view()

    def wake(self) -> None:
        """Tick soon. Any number of calls before that make one tick."""
        services = self.services
        if services is None or not services.accepting or self.ndb.woken:
            return
        self.ndb.woken = True
        services.slices.put(self._woken)

    def _woken(self) -> None:
        self.ndb.woken = False
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
        if self.ndb.ticking:
            self.ndb.tick_again = True
            return 0
        if not self.may_think():
            return 0
        self.ndb.ticking = True
        try:
            turns = yield self.take_turns()
        except TurnAborted as error:
            log.info("evennia_ai: {error}", error=error)
            return 0
        except StoreUnavailable as error:
            log.warn("{name} waits: {error}", name=self.character_name, error=error)
            self.services.clock.callLater(STORE_PAUSE_S, self.wake)
            return 0
        finally:
            self.ndb.ticking = False
            if self.pk and self.ndb.tick_again:
                self.ndb.tick_again = False
                self.wake()
        if turns:
            turn_finished.send_robust(sender=self, character=self.character, turns=turns)
        if turns == TURNS_A_TICK:
            self.wake()
        return turns

    @inlineCallbacks
    def take_turns(self) -> Generator[Deferred[Any], Any, int]:
        """Make room where the context is nearly full, then answer who waits; where nobody does,
        perhaps act unasked. Fires with the number of turns."""
        self.resolve_settings()
        yield self.character.journal.load(self.services.slices.put)
        mask_old_results(self)
        if is_urgent(self):
            yield compact_if_urgent(self)
        if is_asleep(self):
            open_events = self.inbox.open_events()
            if not (open_events.waiting or open_events.doubtful):
                if not self.ndb.slept:
                    yield sleep_through(self)
                return 0
            wake_up(self, "somebody speaks to it")
        turns: int = yield answer_events(self)
        if turns:
            self.ndb.news_at = None
        elif self.wants_to_act():
            self.autonomous_acts.append(self.services.clock.seconds())
            yield act_unasked(self)
            turns = 1
        return turns

    @inlineCallbacks
    def compact(self, order: Order) -> Generator[Deferred[Any], Any, dict[str, Any]]:
        """Compact at an admin's word, in the place of a tick. Fires with the result; fails with
        TurnAborted, also where it is thinking at this moment, and with StoreUnavailable."""
        if self.ndb.ticking:
            raise TurnAborted(f"{self.character_name} is thinking just now: try again in a moment.")
        self.ndb.ticking = True
        try:
            self.resolve_settings()
            result: dict[str, Any] = yield compact(self, order)
        finally:
            self.ndb.ticking = False
            if self.pk:
                self.wake()
        return result

    def make_room(self) -> Deferred[bool]:
        """Compact at once, without a model. Fires with True where there is more room now."""
        return make_room(self)

    def pins(self, audience: Audience) -> list[tuple[str, bool]]:
        """What it keeps in mind for good and this audience may know, a line each, with True where
        only they may know of it."""
        strict = self.config.discretion == "strict"
        found = self.character.journal.pinned(audience, self.config.discretion)
        return [(entry["content"], strict and entry["audience"] is not None) for entry in found]

    @property
    def count_text(self) -> CountText:
        """Counts the tokens of a text, as its model does where that is known."""
        model = self.config.llm_model or self.profile.model
        return count_for(model) or estimate_tokens

    @property
    def usage_reports(self) -> deque[UsageReport]:
        """What the endpoint counted of the latest requests, and what we had estimated."""
        if self.ndb.usage_reports is None:
            self.ndb.usage_reports = deque(maxlen=KEPT_REPORTS)
        return self.ndb.usage_reports

    @property
    def prompt_overhead(self) -> int:
        """Tokens that a request takes beside the conversation: tools, persona, situation. As it
        was at the last prompt; a guess before the first."""
        return int(self.ndb.prompt_overhead or GUESSED_OVERHEAD)

    @prompt_overhead.setter
    def prompt_overhead(self, tokens: int) -> None:
        self.ndb.prompt_overhead = tokens

    @property
    def compaction_strikes(self) -> int:
        """How often in a row no summary came of a compaction."""
        return int(self.ndb.compaction_strikes or 0)

    @compaction_strikes.setter
    def compaction_strikes(self, count: int) -> None:
        self.ndb.compaction_strikes = count

    @property
    def autonomous_acts(self) -> list[float]:
        """When it acted unasked within the last hour, in the clock's seconds."""
        if self.ndb.autonomous_acts is None:
            since = self.services.now() - timedelta(seconds=HOUR_S)
            times = self.turns.times_of(CONTEXT_TICK_AUTONOMOUS.name, since)
            self.ndb.autonomous_acts = [at.timestamp() for at in times]
        return self.ndb.autonomous_acts

    def wants_to_act(self) -> bool:
        """True where it is time for a little life of its own."""
        if self.config.autonomous_calls_per_hour == 0:
            return False
        state = AutonomyState(
            now=self.services.clock.seconds(),
            players_near=self.players_near(),
            acts=tuple(self.autonomous_acts),
            last_talk_at=self.ndb.last_talk_at,
            news_at=self.ndb.news_at,
        )
        limits = AutonomyLimits(self.config.autonomous_calls_per_hour, self.config.autonomy_quiet)
        return should_act(state, limits)

    def may_think(self) -> bool:
        """False while it is stopped, the server goes down, somebody steers the character himself,
        or the character is nowhere."""
        character = self.character
        return bool(
            self.pk
            and self.is_on
            and self.services
            and self.services.accepting
            and not self.services.switched_off
            and character is not None
            and character.pk
            and character.location
            and not character.has_account
        )

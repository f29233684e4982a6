"""The composition root: builds, starts and stops what all assistants share.

`services.plugin` passes Evennia's service and start-stop hooks on to this module.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from threading import current_thread, main_thread
from typing import Any

from evennia.server.signals import SIGNAL_EXIT_TRAVERSED, SIGNAL_OBJECT_POST_PUPPET
from twisted.application.service import MultiService, Service
from twisted.internet import reactor
from twisted.logger import Logger

from evennia_ai import signals
from evennia_ai.assistant_character import add_assistant_mixin, add_missing_mixins, look_round
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.config.resolve import read_person_limits
from evennia_ai.config.table_retention import limits_in_force
from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.client_notices import TypingIndicator, send_filler
from evennia_ai.game.client_text import read_hosts
from evennia_ai.game.extensions import entries_of, set_up_extensions
from evennia_ai.game.minds import GameMind
from evennia_ai.game.model_access import ModelAccess
from evennia_ai.game.perception import EvenniaPerception, listening_objects
from evennia_ai.game.rate_limits import RateLimiter, tell_channel
from evennia_ai.game.room_lines import RoomLines
from evennia_ai.game.settings import SettingReader, advice, game_setting
from evennia_ai.game.texts import check_texts, text
from evennia_ai.game.world_clock import make_world_clock, resume_world_time
from evennia_ai.models.fields import damage
from evennia_ai.policy.read_permissions import Reader, read_permissions
from evennia_ai.ports import Embedder, RemoteEmbedder, TurnRecord
from evennia_ai.scheduling import TimeSlices
from evennia_ai.services.forgetting import ForgettingService
from evennia_ai.services.memory_services import LongTermSync, MemoryServices
from evennia_ai.services.retention import NOTHING_DELETED, LogRetention
from evennia_ai.services.startup import StartupRecovery
from evennia_ai.services.timer import AssistantTimer, GarbageTimer
from evennia_ai.store.attributes import assistants
from evennia_ai.store.inbox import store_events
from evennia_ai.store.inbox_queue import InboxQueue
from evennia_ai.store.lore_records import LoreRecords, PersonaRecords
from evennia_ai.store.server_lock import KEEP_S, lock
from evennia_ai.store.server_settings import NEWEST, SWITCH, newest_server, of_shard, stored, write
from evennia_ai.store.transactions import guard_reactor, schema_trouble, store_errors
from evennia_ai.tools.registry import ToolRegistry, load_registry

log = Logger()

REVIVAL_S = 15.0


class AssistantService(Service):
    """What all assistants share; the `Services` port of the running game."""

    name = "evennia_ai"
    text = staticmethod(text)

    def __init__(self, clock: Any = None, environ: Mapping[str, str] = os.environ) -> None:
        main: Any = reactor
        self.clock = clock = clock or steady(main)
        self._wall_seconds: Callable[[], float] = getattr(clock, "wall", clock.seconds)
        self.accepting = self.quiet = False
        self.next_look: Any = None
        self.switched_off = self.schema_trouble = ""
        self.startup = StartupRecovery(self)
        self.slices = TimeSlices(clock)
        self.lines = RoomLines(clock)
        self.inbox_queue = InboxQueue(clock, lambda events: store_events(events, self.now()))
        settings = SettingReader(entries_of())
        self.complaints = settings.complaints
        call_from_thread = partial(self.slices.put_from_thread, main.callFromThread)

        self.world_clock = settings.read("WORLD_CLOCK", partial(make_world_clock, self.now), None)
        self.models = models = ModelAccess(clock, environ, settings, call_from_thread)
        self.profiles, self.gateway = models.profiles, models.gateway
        self.endpoints = models.endpoints
        self.memory = memory = MemoryServices(clock, settings, call_from_thread, models.client)
        self.loaded = memory.loaded
        self.memory_indices, self.lore_ranking = memory.indices, memory.lore_ranking
        self.nearness = memory.nearness
        self.toolbox: ToolRegistry = settings.read(
            "TOOLS", partial(load_registry, complain=settings.complain), ()
        )
        self.lore = settings.read("LORE", LoreRecords, ())
        self.personas = settings.read("PERSONAS", PersonaRecords, {})
        self.world = EvenniaPerception(self.lore)
        settings.read("TEXTS", check_texts, {})
        self.who_may_read = settings.read("WHO_MAY_READ", read_permissions, {})
        limits = settings.read("PLAYER_LIMITS", read_person_limits, {})
        self.crowd = RateLimiter(clock, limits)
        self.held_back = self.crowd.held_back
        self.link_hosts = settings.read("LINK_HOSTS", read_hosts, ())
        self.signs = TypingIndicator(clock, game_setting("TYPING_INDICATOR", True))

        self.garbage = GarbageTimer(clock, self.is_quiet)
        self.timer = AssistantTimer(clock, self.slices.put)
        retention = settings.read("RETENTION", limits_in_force, {}, ({}, NOTHING_DELETED))
        self.log_retention = LogRetention(clock, self.slices.put, retention)
        self.forgetting = ForgettingService(clock, call_from_thread, self.slices.put)
        # What extensions tell `aistatus`: called with the `Reader`, they return pairs of what it
        # concerns, and what is wrong.
        self.problems: list[Callable[[Reader], Iterable[tuple[str, str]]]] = []
        self.gateway.extensions = self.extensions = set_up_extensions(self, settings)
        self.toolbox.add_of(self.extensions)
        self.semantic = memory.long_term(self.extensions)
        self.long_term_sync = LongTermSync(clock, self.semantic)

    @property
    def embedder(self) -> Embedder | RemoteEmbedder | None:
        """Return what turns texts into vectors, None if words alone rank."""
        return self.memory.embedder

    @property
    def store_trouble(self) -> str:
        """Return why nothing may be stored, in a sentence for admins; "" if it may."""
        return self.schema_trouble or lock.trouble

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._wall_seconds(), UTC)

    def problems_told(self, reader: Reader) -> Iterator[tuple[str, str]]:
        """Yield what extensions tell that is wrong: what it concerns, and a sentence."""
        for tell in self.problems:
            try:
                yield from list(tell(reader))
            except Exception:  # noqa: BLE001  # an extension may raise anything
                log.failure("evennia_ai: an extension cannot tell aistatus what is wrong")

    def is_quiet(self) -> bool:
        lanes = self.gateway.lanes
        return not (lanes.in_flight or lanes.waiting or self.slices.waiting)

    def attend(self, mind: GameMind) -> None:
        """Tick an assistant while players are near, because something happens around it."""
        if self.accepting:
            self.watch(mind)
            mind.presence.last_talk_at = mind.presence.last_talk_at or self.clock.seconds()
            self.timer.keep(
                ("tick", mind.who.id), mind.settings.config.tick_rate, mind.tick_if_players_near
            )

    def let_hear(self, script: AssistantScript) -> None:
        """Let the character of an assistant hear that was just loaded, by no web thread."""

        def add() -> None:
            if script.pk and script.obj:
                add_assistant_mixin(script.obj)

        if current_thread() is main_thread():
            self.slices.put(add)

    def watch(self, mind: GameMind) -> None:
        """Look soon whether an assistant falls asleep or wakes, and until it needs no looks."""
        often = mind.settings.config.tick_rate_sleep
        self.timer.keep(("sleep", mind.who.id), often, mind.sleep.update, first_s=0.0)

    def startService(self) -> None:
        """Start the threads; not earlier, because twistd forks before this call."""
        super().startService()
        guard_reactor()
        if assistants().exists():
            _ = self.memory.embedder  # begins to load it
        self.models.start().addCallback(lambda _: self.garbage.freeze())
        AssistantScript.shared_services = self
        add_missing_mixins()
        SIGNAL_OBJECT_POST_PUPPET.connect(look_round)
        SIGNAL_EXIT_TRAVERSED.connect(look_round)
        self.signs.connect()
        self.check_store()
        self.accepting = not self.store_trouble
        if self.accepting:
            signals.service_started.send_robust(self)
        self.late_start = self.clock.callLater(REVIVAL_S, self.start_late)
        if exposed := advice():
            log.warn("evennia_ai: {advice}", advice=exposed)
        self.read_switch()

    def check_store(self) -> None:
        """Store nothing if the tables do not fit, or if another server has this world."""
        self.schema_trouble = schema_trouble()
        lock.on_lost = partial(self.clock.callLater, 0, self.lose_world)
        lock.had_server = lambda: newest_server() is not None
        if self.schema_trouble or lock.take():
            self.tell_trouble()
            return
        with suppress(StoreUnavailable):
            write(of_shard(NEWEST), time.time_ns() // 1_000_000)
        number = newest_server()
        lock.is_newest = lambda: newest_server() == number
        if lock.has_file:
            self.keep_world()

    def keep_world(self) -> None:
        """Keep the lock of this world from now on (`store.server_lock`)."""
        with suppress(StoreUnavailable), store_errors():  # the next write tells of it
            lock.keep()
        if not lock.trouble:
            self.next_look = self.clock.callLater(KEEP_S, self.keep_world)

    def tell_trouble(self) -> None:
        trouble = self.store_trouble
        log.error("evennia_ai: {trouble}", trouble=trouble)
        tell_channel(f"NPCs: {trouble}")
        self.complaints.append(trouble)
        if info := getattr(self.parent, "info_dict", None):  # what `evennia start` prints
            info["errors"] = f"{info['errors']} evennia_ai: {trouble}".strip()

    def lose_world(self) -> None:
        """Stop the assistants, since another server has taken the database over."""
        if self.quiet:  # it goes down
            return
        self.tell_trouble()
        self.quiesce()
        self.revival.cancel()
        self.gateway.switch_off(self.store_trouble)

    def stopService(self) -> None:
        """Stop everything at once: a server slow to stop does not come back (measured)."""
        super().stopService()
        self.quiesce()
        for call in (self.revival, self.late_start, self.next_look):
            if call and call.active():
                call.cancel()
        self.models.loop_thread.stop()
        self.semantic.stop()
        self.memory.stop()
        self.forgetting.worker.stop(int)

    def at_start(self) -> None:
        if self.late_start.active():
            self.late_start.cancel()
        self.resume()

    def start_late(self) -> None:
        """Resume work although another hook of the game failed before the start hook."""
        log.warn("evennia_ai: the server's start hook was not called; starting the assistants now")
        self.resume()

    def resume(self) -> None:
        """Resume work that an earlier process or a time switched off left unfinished."""
        if self.store_trouble:
            return
        self.startup.put(resume_world_time, self.world_clock)
        self.startup.begin()
        self.garbage.start()
        self.log_retention.start()
        self.long_term_sync.start()
        self.startup.put(self.forgetting.start)

    def look_for_damage(self, then: Callable[[], object] = lambda: None) -> None:
        """Look for damaged values, since a read failed; call ``then`` if there are new ones."""
        before = len(damage)
        self.startup.look_for_damage(lambda: then() if len(damage) > before else None)

    def quiesce(self) -> None:
        """Begin no more turns and drop those in flight; their events stay stored, or are told."""
        if self.quiet:
            return
        self.quiet, self.accepting = True, False
        timers = (self.timer, self.log_retention, self.long_term_sync, self.forgetting)
        for timer in timers:
            timer.stop()
        self.inbox_queue.close(StoreUnavailable("the server goes down."))
        self.garbage.stop()
        self.gateway.close()
        self.signs.disconnect()
        self.revival = self.clock.callLater(REVIVAL_S, self.revive)

    def revive(self) -> None:
        """Go on as before, because another hook of the game stopped a reload."""
        log.warn("evennia_ai: the reload did not happen; the assistants go on")
        self.quiet, self.accepting = False, not self.store_trouble
        self.gateway.open()
        self.signs.connect()
        if self.switched_off:
            self.gateway.switch_off(self.switched_off)
        self.resume()

    def read_switch(self) -> None:
        """Stop or start the assistants as another server stored it; raises Django's errors."""
        if (reason := str(stored(SWITCH) or "")) == self.switched_off:
            return
        self.switched_off = reason
        if reason:
            self.drop_turns(reason)
        else:
            self.gateway.open()

    def switch_off(self, reason: str) -> None:
        """Stop all until `switch_on`; raises StoreUnavailable, and then nothing has changed."""
        write(SWITCH, reason)
        self.switched_off = reason
        self.drop_turns(reason)

    def drop_turns(self, reason: str) -> None:
        scripts = AssistantScript.get_all_cached_instances()
        for script in sorted(scripts, key=lambda script_item: script_item.id or 0):
            if mind := script.ndb.mind:
                with suppress(StoreUnavailable):  # its turn ends without its model call, too
                    speakers = filter(self.crowd.should_tell, mind.drop_turn(reason))
                    mind.status.tell("switched_off", speakers)
        self.gateway.switch_off(reason)

    def switch_on(self) -> None:
        """Let the assistants take turns again; raises StoreUnavailable."""
        write(SWITCH, None)
        self.switched_off = ""
        self.gateway.open()
        self.resume()

    @staticmethod
    def thinking(script: AssistantScript, turn: TurnRecord, begins: bool) -> None:
        """Send the signal that a turn's model calls begin or have ended."""
        if not script.pk:  # a deleted script cannot send a signal
            return
        character = script.character
        listeners = script.services.world.listeners(character) if character else frozenset()
        audience = turn.audience if turn.private else listeners
        if begins:
            signals.thinking_started.send_robust(
                script, character=character, audience=audience, private=turn.private
            )
        else:
            signals.thinking_finished.send_robust(script, character=character, audience=audience)

    @staticmethod
    def compacting(script: AssistantScript, reason: str, result: Mapping[str, Any] | None) -> None:
        """Send the signal that a compaction begins (no result yet) or ended; tell its end."""
        if not script.pk:
            return
        character = script.character
        if result is None:
            signals.compaction_started.send_robust(script, character=character, reason=reason)
            return
        signals.compaction_finished.send_robust(
            script, character=character, reason=reason, result=result
        )
        figures = ", ".join(f"{key} {value}" for key, value in result.items())
        line = "evennia_ai: {name}: compaction ({reason}): {result}"
        log.info(line, name=script.mind.who.name, reason=reason, result=figures)
        waited = (
            character.location
            and not script.mind.sleep.is_asleep
            and script.mind.presence.players_near()
        )
        if result.get("success") and waited:
            send_filler(character, text("compacted"), listening_objects(character))


def steady(main: Any) -> Any:
    """Let a reactor go by the monotonic clock, so that setting the machine's time moves no call.

    Else, when the time is set back by an hour, every planned call of the game comes an hour late.
    """
    zero = time.time() - time.monotonic()
    main.seconds = lambda: zero + time.monotonic()
    main.wall = lambda: time.time()  # noqa: PLW0108  # as somebody may replace it meanwhile
    return main


def start_plugin_services(server: MultiService) -> None:
    AssistantService().setServiceParent(server)


def at_server_start() -> None:
    AssistantScript.shared_services.at_start()


def at_server_stop() -> None:
    if AssistantScript.shared_services:
        AssistantScript.shared_services.quiesce()

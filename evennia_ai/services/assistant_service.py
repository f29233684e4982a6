"""The composition root: everything is put together here, and started and stopped with the server.

This module is at once Evennia's service plugin (`start_plugin_services`) and a start-stop module
(`at_server_start` …); ``apps.py`` adds it to both settings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, TypeVar

from evennia.server.models import ServerConfig
from twisted.application.service import MultiService, Service
from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.config import FIELDS
from evennia_ai.config.profiles import default_profiles, merge_profiles
from evennia_ai.config.table_retention import read_retention
from evennia_ai.errors import ConfigError, StoreUnavailable
from evennia_ai.game.perception import EvenniaPerception, listening_objects
from evennia_ai.game.settings import game_setting, settings_complaints
from evennia_ai.game.sleep_state import is_asleep
from evennia_ai.game.texts import check_texts, text
from evennia_ai.game.typing_indicator import TypingIndicator, send_filler
from evennia_ai.llm.endpoint_windows import EndpointWindows, LearningClient
from evennia_ai.llm.gateway import GatewayLimits, ModelGateway
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import Prober
from evennia_ai.llm.tokenizers import load_for
from evennia_ai.memory.embedders import DEFAULT
from evennia_ai.memory.embedders import default as default_embedder
from evennia_ai.memory.embedders import make as make_embedder
from evennia_ai.memory.index import answers_at_once
from evennia_ai.memory.index_cache import Recollections
from evennia_ai.offline import OfflineBrain
from evennia_ai.ports import Embedder, RemoteEmbedder, TurnRecord
from evennia_ai.scheduling import TimeSlices, is_time, keep_running
from evennia_ai.services.long_term_sync import LongTermSync, make_memory
from evennia_ai.services.retention import LogRetention
from evennia_ai.services.shared_memory import SharedMemory
from evennia_ai.services.sleep_timer import SleepTimer
from evennia_ai.services.startup import StartupRecovery
from evennia_ai.signals import (
    compaction_finished,
    compaction_started,
    thinking_finished,
    thinking_started,
)
from evennia_ai.store.lore_records import LoreRecords, PersonaRecords
from evennia_ai.store.usage import spent_on
from evennia_ai.tools.registry import load_registry

log = Logger()
T = TypeVar("T")

SERVICE_NAME = "evennia_ai"
BEAT_S = 1.0
REVIVAL_S = 15.0
SWITCH = "evennia_ai_switched_off"
LONGEST_TURN_S = float(FIELDS["turn_deadline"].metadata["high"])


class AssistantService(Service):
    """What all assistants share: the way to the models, the tools, the senses and the clock."""

    name = SERVICE_NAME

    def __init__(self, clock: Any = reactor, environ: Mapping[str, str] = os.environ) -> None:
        self.clock = clock
        self.epoch = time.time_ns() // 1_000_000
        self.accepting = self.quiet = False
        self.switched_off = ""
        self.startup = StartupRecovery(self)
        self.complaints: list[str] = settings_complaints()
        built_in = default_profiles(environ)
        self.profiles = self.configured("PROFILES", partial(merge_profiles, built_in), {})
        self.slices = TimeSlices(clock)
        call_from_thread = partial(reactor.callFromThread, self.slices.put)
        self.loop_thread = LoopThread(call_from_thread)
        self.semantic = self.configured(
            "MEMORY", partial(make_memory, clock, call_from_thread, self.local_embedder), {}
        )
        self.long_term_sync = LongTermSync(clock, self.semantic)
        self.openai = OpenAIClient(self.loop_thread, environ, LONGEST_TURN_S)
        self.prober = Prober(clock, self.openai)
        self.windows = EndpointWindows(self.prober.window)
        self.gateway = ModelGateway(
            clock,
            {
                "openai": LearningClient(self.openai, self.windows),
                "offline": OfflineBrain(),
            },
            self.gateway_limits(),
            spent_on,
        )
        self.toolbox = self.configured("TOOLS", load_registry, ())
        self.lore = self.configured("LORE", LoreRecords, ())
        self.personas = self.configured("PERSONAS", PersonaRecords, {})
        self.configured("TEXTS", check_texts, {})
        self.world = EvenniaPerception(self.lore)
        self.signs = TypingIndicator(clock, game_setting("TYPING_INDICATOR", True))
        self.recollections = Recollections(lambda: self.embedder)
        self.shared_memory = SharedMemory(self.now, lambda: self.embedder)
        self.attended: dict[int, Any] = {}
        self.watch = SleepTimer(clock)
        retention = self.configured("RETENTION", read_retention, {})
        self.log_retention = LogRetention(clock, self.slices.put, retention)
        self.beat = LoopingCall(self.tick_attended)
        self.beat.clock = clock

    def configured(self, name: str, make: Callable[[Any], T], default: Any) -> T:
        """Make something of one of the game's settings, or of its default where it is wrong: a typo
        in a setting, or in a module it names, must not cost all characters their minds, only be
        told."""
        try:
            return make(game_setting(name, default))
        except (ConfigError, TypeError, ValueError, AttributeError) as error:
            self.complaints.append(f"AI_ASSISTANT['{name}']: {error}")
            log.warn("evennia_ai: {complaint}", complaint=self.complaints[-1])
        except Exception as error:  # noqa: BLE001  # a game's module may raise anything
            self.complaints.append(f"AI_ASSISTANT['{name}']: {type(error).__name__}: {error}")
            log.failure("evennia_ai: {complaint}", complaint=self.complaints[-1])
        return make(default)

    @cached_property
    def embedder(self) -> Embedder | RemoteEmbedder | None:
        """What turns memories into vectors. Loading it takes up to half a second (measured): where
        there are assistants that is done before players are served."""
        make = partial(make_embedder, client=self.openai)
        try:
            return self.configured("EMBEDDER", make, DEFAULT)
        except ConfigError as error:  # of the default itself
            self.complaints.append(f"{error} Until then memories are ranked by words alone.")
            log.warn("evennia_ai: {complaint}", complaint=self.complaints[-1])
            return None

    def local_embedder(self) -> Embedder:
        """The embedder for long-term memory, which must answer at once."""
        chosen = self.embedder
        return chosen if answers_at_once(chosen) else default_embedder()

    def gateway_limits(self) -> GatewayLimits:
        """What the game allows its models."""
        default = GatewayLimits()
        return GatewayLimits(
            max_in_flight=self.configured("MAX_CALLS_IN_FLIGHT", count, default.max_in_flight),
            max_queued=self.configured("MAX_CALLS_WAITING", count, default.max_queued),
            player_tokens_per_day=self.configured("PLAYER_TOKENS_PER_DAY", limit, None),
            game_tokens_per_day=self.configured("GAME_TOKENS_PER_DAY", limit, None),
        )

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.fromtimestamp(self.clock.seconds(), UTC)

    def text(self, key: str) -> str:
        """A line for players that no model wrote."""
        return text(key)

    def startService(self) -> None:
        """Threads start here and nowhere earlier: before, twistd has not forked yet."""
        from evennia_ai.assistant_script import AssistantScript
        from evennia_ai.store.attributes import SCRIPT_KEY

        super().startService()
        self.loop_thread.start()
        load_for(self.models_in_use())
        if AssistantScript.objects.filter(db_key=SCRIPT_KEY).exists():
            _ = self.embedder  # loads it
        if self.wants_models():
            self.openai.warm_up().addErrback(lambda failure: log.failure("no openai", failure))
        AssistantScript.shared_services = self
        self.signs.connect()
        self.accepting = True
        self.late_start = self.clock.callLater(REVIVAL_S, self.start_late)
        reason = ServerConfig.objects.conf(SWITCH)
        if reason:
            self.switch_off(str(reason))

    def wants_models(self) -> bool:
        """True where a profile of the environment or of the game's own asks a model. The built-in
        ones are there in every game and say nothing about it."""
        return any(profile.get("client") == "openai" for profile in self.profiles_in_use())

    def profiles_in_use(self) -> list[Mapping[str, Any]]:
        """The profile of the environment and those the game names itself."""
        named = {"default", str(game_setting("profile", "default")), *game_setting("PROFILES", ())}
        return [self.profiles[name] for name in sorted(named) if name in self.profiles]

    def models_in_use(self) -> list[str]:
        """The models that the game names; what they count in is loaded before players are served,
        since loading holds every thread for a moment (measured)."""
        if not self.wants_models():
            return []
        named = (profile.get("model") for profile in self.profiles_in_use())
        return [str(model) for model in (game_setting("llm_model", ""), *named) if model]

    def stopService(self) -> None:
        """Synchronous and short, and returns nothing: whatever lasts longer than a moment here
        leaves the game without a server (measured)."""
        super().stopService()
        self.quiesce()
        for call in (self.revival, self.late_start):
            if call.active():
                call.cancel()
        self.loop_thread.stop()
        self.semantic.stop()

    def quiesce(self) -> None:
        """Begin no turn any more and drop those in flight; their events wait for the next start.
        What could not be stored yet is lost with this process: its speakers are told."""
        from evennia_ai.assistant_script import AssistantScript

        if self.quiet:
            return
        self.quiet, self.accepting = True, False
        if self.beat.running:
            self.beat.stop()
        self.watch.stop()
        self.log_retention.stop()
        self.long_term_sync.stop()
        for script in AssistantScript.get_all_cached_instances():
            if script.ndb.backlog:
                script.ndb.backlog.give_up(StoreUnavailable("the server goes down."))
        self.gateway.close()
        self.signs.disconnect()
        self.revival = self.clock.callLater(REVIVAL_S, self.revive)

    def revive(self) -> None:
        """The server was to reload and still runs: some other hook of the game failed and stopped
        it from going down. Go on as before."""
        log.warn("evennia_ai: the reload did not come about; the assistants go on")
        self.quiet, self.accepting = False, True
        self.gateway.open()
        self.signs.connect()
        if self.switched_off:
            self.gateway.switch_off(self.switched_off)
        self.resume()

    def switch_off(self, reason: str) -> None:
        """Let no assistant think, now and after restarts, until `switch_on`; what they are thinking
        is dropped and those who wait for it are told."""
        from evennia_ai.assistant_script import AssistantScript

        self.switched_off = reason
        ServerConfig.objects.conf(SWITCH, reason)
        for script in AssistantScript.get_all_cached_instances():
            script.tell("switched_off", script.drop_turn(reason))
        self.gateway.switch_off(reason)

    def switch_on(self) -> None:
        """Let the assistants think again."""
        self.switched_off = ""
        ServerConfig.objects.conf(SWITCH, delete=True)
        self.gateway.open()
        self.resume()

    def thinking(self, script: Any, turn: TurnRecord, begins: bool) -> None:
        """Send the signal that a turn's thought begins or ends, whatever its receivers make of
        it. Without its key a deleted script cannot be the sender of one."""
        if not script.pk:
            return
        character = script.character
        listeners = self.world.listeners(character) if character else frozenset()
        audience = turn.audience if turn.private else listeners
        if begins:
            thinking_started.send_robust(
                script, character=character, audience=audience, private=turn.private
            )
        else:
            thinking_finished.send_robust(script, character=character, audience=audience)

    def compacting(self, script: Any, reason: str, result: Mapping[str, Any] | None) -> None:
        """Send the signal that a compaction begins or has ended; at its end, one line for the log,
        and one for the room where somebody may have had to wait for it."""
        if not script.pk:
            return
        character = script.character
        if result is None:
            compaction_started.send_robust(script, character=character, reason=reason)
            return
        compaction_finished.send_robust(script, character=character, reason=reason, result=result)
        log.info(
            "evennia_ai: {name}: compaction ({reason}): {result}",
            name=script.character_name,
            reason=reason,
            result=", ".join(f"{key} {value}" for key, value in result.items()),
        )
        seen = character.location and not is_asleep(script) and script.players_near()
        if result.get("success") and seen:
            send_filler(character, self.text("compacted"), listening_objects(character))

    def attend(self, script: Any) -> None:
        """Something happens around an assistant: tick it while players are near."""
        if not self.accepting:
            return
        self.watch.keep(script)
        if script.id not in self.attended:
            now = self.clock.seconds()
            self.attended[script.id] = script
            script.ndb.next_beat = now + script.config.tick_rate
            script.ndb.last_talk_at = script.ndb.last_talk_at or now
        keep_running(self.beat, BEAT_S)

    def tick_attended(self) -> None:
        """Wake who is due; forget who is alone. With nobody to attend, the beat stops."""
        now = self.clock.seconds()
        for script_id, script in list(self.attended.items()):
            if not script.pk or not script.obj or not script.players_near():
                del self.attended[script_id]
            elif is_time(script.ndb.next_beat, now, script.config.tick_rate):
                script.ndb.next_beat = now + script.config.tick_rate
                script.wake()
        if not self.attended:
            self.beat.stop()

    def at_start(self) -> None:
        """Evennia's start hook has come."""
        if self.late_start.active():
            self.late_start.cancel()
        self.resume()

    def start_late(self) -> None:
        """Evennia's start hook has not come: some other hook of the game failed before it."""
        log.warn("evennia_ai: the server's start hook was never called; the assistants go on")
        self.resume()

    def resume(self) -> None:
        """Take up what an earlier process, or a moment of being switched off, left."""
        self.startup.begin()
        self.log_retention.start()
        self.long_term_sync.start()


def count(value: Any) -> int:
    """A number of calls, at least one; raises ValueError."""
    if int(value) < 1:
        raise ValueError(f"it must be at least 1, not {value!r}.")
    return int(value)


def limit(value: Any) -> int | None:
    """A budget in tokens, None for no limit; raises ValueError."""
    if value is not None and int(value) < 0:
        raise ValueError(f"it must be 0 or more, not {value!r}.")
    return None if value is None else int(value)


def start_plugin_services(server: MultiService) -> None:
    """Evennia's plugin hook."""
    AssistantService().setServiceParent(server)


def at_server_start() -> None:
    """Evennia's start hook, after cold start, reload and crash alike."""
    from evennia_ai.assistant_script import AssistantScript

    AssistantScript.shared_services.at_start()


def at_server_stop() -> None:
    """Evennia's stop hook, called before the services are stopped."""
    from evennia_ai.assistant_script import AssistantScript

    if AssistantScript.shared_services:
        AssistantScript.shared_services.quiesce()

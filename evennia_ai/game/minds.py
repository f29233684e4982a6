"""The mind of an assistant in the game: where all its parts come together.

``shell`` is an `AssistantScript`; only the adapters here hold it.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.config import ALWAYS_ON, AssistantConfig, ModelProfile, read_families
from evennia_ai.config.profiles import complaints_of_extensions, context_complaints
from evennia_ai.errors import ConfigError
from evennia_ai.game.hearing import Hearing
from evennia_ai.game.presence import GamePresence
from evennia_ai.game.settings import effective_settings
from evennia_ai.game.sleep_state import GameSleep
from evennia_ai.game.tick_scheduler import GameAssistantStatus, TickScheduler
from evennia_ai.memory.index_cache import MixedSearch
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.messages import Authors, IncomingEvent
from evennia_ai.mind import Mind
from evennia_ai.mind.dry_run import DryRun, DryRunning, run_dry
from evennia_ai.policy.compaction.plan import CompactionOrder
from evennia_ai.policy.conversation.persona_and_lore import Persona, with_names
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import CountText, estimate_tokens
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.ports import Memories, MindContext, OfferedTools, RequestSizes, overriding
from evennia_ai.ports.extension import collect, memory_sources
from evennia_ai.ports.records import RecordStore
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import (
    inspect_attribute,
    own_settings,
    read_attribute,
    tell_once,
    write_attributes,
)
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.lore_records import by_builder, read_entries
from evennia_ai.store.names import own_name
from evennia_ai.store.pending_acts import TablePendingActs
from evennia_ai.store.personal_data import STORES
from evennia_ai.store.turns import TableTurns
from evennia_ai.turn.react_loop import EXPIRED

MIND_BYTES = 25_000  # of an assistant beside its talk and what its character knows (measured)
PERSONA_AUTHORS = "ai_persona_authors"
CHARACTER_ATTRIBUTES = ("ai_lore", "ai_fillers", "ai_following", "ai_quests")


class GameIdentity:
    """Who an assistant is: the `Identity` port."""

    def __init__(self, shell: Any, services: Any) -> None:
        self._shell, self._services = shell, services
        self._read_persona: tuple[Any, Persona] | None = None  # of which persona and name
        self.id = int(shell.id)

    @property
    def character(self) -> Any:
        return self._shell.obj

    @property
    def name(self) -> str:
        """Return the character's name, as others know it."""
        return own_name(self._shell.obj)

    @property
    def persona(self) -> Persona:
        """Return the persona of the character; a problem with it is logged once."""
        persona, trouble = self.inspect_persona()
        if trouble:
            tell_once(self.character, trouble)
        return persona

    def inspect_persona(self) -> tuple[Persona, str]:
        """Return the persona, an empty one if it cannot be used, and the problem, if any."""
        stored, trouble = inspect_attribute(self.character, "ai_persona")
        try:
            written = (self._services.personas.resolve(stored), self.character.key)
            if self._read_persona is None or self._read_persona[0] != written:
                named = written[0].map_texts(partial(with_names, name=self.name))
                self._read_persona = written, named
            return self._read_persona[1], trouble
        except ConfigError as error:
            return Persona(), str(error)

    @property
    def persona_authors(self) -> Authors:
        """Return the persona's authors; a builder, who can set the Attribute, always is one."""
        stored, _ = inspect_attribute(self.character, "ai_persona")
        own = map(str, read_attribute(self.character, PERSONA_AUTHORS) or ())
        return by_builder([*own, *self._services.personas.authors_of(stored)])


class GameSettings:
    """The effective settings of an assistant: the `Settings` port."""

    def __init__(self, shell: Any, who: GameIdentity, services: Any, sizes: RequestSizes) -> None:
        self._shell, self._who, self._services, self._sizes = shell, who, services, sizes
        self._complaints: list[str] = []
        self.warnings: list[str] = []  # the problems reported since the server start
        self._talk_tokens = 0  # of its log, when last known
        self.log: TableConversation | None = None  # once the mind has one

    @cached_property
    def config(self) -> AssistantConfig:
        """The effective settings, resolved once a tick."""
        return self.resolve()[0]

    @cached_property
    def profile(self) -> ModelProfile:
        """The model profile in use, with the assistant's own model if it has one."""
        return self.resolve()[1]

    @cached_property
    def count_text(self) -> CountText:
        """The token counter of its model if that is known, else an estimate."""
        extensions = overriding(self._services.extensions, "token_counter")
        counters = collect(extensions, lambda item: [item.token_counter(self.profile.model)])
        return next((count for count in counters if callable(count)), estimate_tokens)

    def own(self) -> dict[str, Any]:
        """Return the settings stored on this assistant itself."""
        return own_settings(self._shell)

    def write(self, changes: Mapping[str, Any]) -> None:
        """Store checked values on this assistant, None to inherit; raises StoreUnavailable."""
        write_attributes(self._shell, **changes)
        self.resolve()

    def resolve(self) -> tuple[AssistantConfig, ModelProfile]:
        """Read the settings again. A bad value is replaced by its default and reported."""
        effective = effective_settings(self._services, self.own(), self.prompt_tokens)
        config, profile, complaints = effective
        before = vars(self).get("profile")
        self.config, self.profile = config, profile
        vars(self).pop("count_text", None)
        if before and (before.name, before.model) != (profile.name, profile.model):
            self.warnings.clear()  # they were about the other model
        wrong = unknown_families(config.tools_off, self._services.toolbox.tools)
        silent = self._services.gateway.missing_client(profile)
        self._complaints = [*complaints, *filter(None, [wrong, silent])]
        for complaint in self._complaints:
            tell_once(self._shell, complaint)
        return config, profile

    def beside(self, profile: str) -> tuple[AssistantConfig, ModelProfile]:
        """Return the settings with another profile, and that; nothing changes."""
        own = {**self.own(), "profile": profile, "llm_model": None}
        return effective_settings(self._services, own, self.prompt_tokens)[:2]

    def prompt_tokens(self, config: AssistantConfig) -> int:
        """Return the estimated tokens of its next prompt, from what was last known of its log."""
        if self.log and self.log.is_known:
            self._talk_tokens = self.log.sizes.largest()
        return self._sizes.overhead + self._talk_tokens

    @property
    def complaints(self) -> list[str]:
        """Return a sentence for each value that cannot be used; reads the settings again."""
        self.resolve()
        character = self._who.character
        strange = [inspect_attribute(self._shell, "stopped")[1]]
        strange += [inspect_attribute(character, name)[1] for name in CHARACTER_ATTRIBUTES]
        strange += read_entries(inspect_attribute(character, "ai_lore")[0])[1]
        strange.append(self._who.inspect_persona()[1])
        strange += complaints_of_extensions(self.own(), self.profile)
        unfit = context_complaints(self.config, self.profile, self._sizes.overhead)
        return [*self._complaints, *filter(None, strange), *unfit]

    def tell_owner(self, trouble: str) -> None:
        """Log a problem once, and show it in ``aistatus`` until the server restarts."""
        if trouble not in self.warnings:
            self.warnings.append(trouble)
            tell_once(self._shell, trouble, about="")


class GameMind(Mind):
    """A mind with what the game adds: ticks, hearing, presence and sleep."""

    who: GameIdentity
    settings: GameSettings
    log: TableConversation
    inbox: TableInbox
    turns: TableTurns
    presence: GamePresence
    status: GameAssistantStatus
    sleep: GameSleep

    def __init__(self, shell: Any, services: Any) -> None:
        self._shell = shell
        self.services = services
        self.ticker = TickScheduler(shell, services)
        who, sizes, offered = GameIdentity(shell, services), RequestSizes(), OfferedTools()
        settings = GameSettings(shell, who, services, sizes)
        status = GameAssistantStatus(shell, services, settings, self.ticker.wake)
        note_use = partial(services.loaded.note, self)
        log = TableConversation(
            who.id,
            services.now,
            lambda message: count_stored(message, settings.count_text),
            note_use,
        )
        settings.log = log
        inbox = TableInbox(who.id, services.now)
        turns = TableTurns(who.id, log, services.now, status.may_think)
        sleep = GameSleep(
            shell, who, settings, inbox, turns, offered, self.ticker, services, self.drop_index
        )
        self.hearing = Hearing(who, settings, inbox, status, sleep, services)
        presence = GamePresence(who, settings, inbox, self.hearing.hear, status, services)
        self.is_rebuilding = self.is_dry_running = False
        super().__init__(
            MindContext(
                who=who,
                settings=settings,
                log=log,
                inbox=inbox,
                turns=turns,
                pending_acts=TablePendingActs(who.id, services.now),
                memories=self.memories,
                presence=presence,
                status=status,
                sleep=sleep,
                sizes=sizes,
                offered=offered,
                services=services,
            )
        )
        self.hearing.connect(presence, self.autonomy, partial(services.attend, self))

    def memories(self) -> Memories:
        """Return the search over its character's memories, and those that extensions add."""
        self.services.loaded.note(self)
        name_of = partial(self.services.world.name_of, self.who.character)
        indices = self.services.memory_indices
        own: RecallIndex = indices.of_character(self.who, self.log.lines, name_of)
        sources = memory_sources(self.around)
        return MixedSearch(own, sources) if sources else own

    def tick_if_players_near(self) -> float | None:
        """Tick soon if a player is near; returns in how many seconds to do so again, or None."""
        if not (self.status.is_alive and self.presence.players_near()):
            return None
        self.ticker.wake()
        return float(self.settings.config.tick_rate)

    def drop_turn(self, reason: str) -> list[str]:
        """End the turn in flight, if any; return the dbrefs of those who wait for its answer."""
        if not self.turns.current:
            return []
        waiting: list[str] = self.turns.waiting_speakers()
        self.turns.finish(self.turns.current, EXPIRED, reason)
        return waiting

    def notice_unpuppet(self) -> None:
        """Wake after a player left the character; the turn that they broke into has no lease."""
        self.turns.lose_lease()
        self.ticker.wake()

    def stop_thinking(self) -> None:
        """Stop hearing and speaking, and drop the turn in flight; tell those who wait for it."""
        self.status.turn_off(True)
        waiting = self.drop_turn("the assistant was stopped")
        self.status.tell("stopped", filter(self.services.crowd.should_tell, waiting))
        self.drop_index()

    def compact(self, request: CompactionOrder) -> Deferred[dict[str, Any]]:
        """Compact on an admin's request; fires with the result, fails as `run_instead`."""
        return self.ticker.run_instead(partial(self.compactor.compact, request))

    @inlineCallbacks
    def dry_run(self, around: MindContext, event: IncomingEvent, **more: Any) -> Coroutine[DryRun]:
        """Run a dry turn as `run_dry` does; fails with DryRunning during another one."""
        if self.is_dry_running:
            raise DryRunning(f"{self.who.name} is being tried already. Try again in a moment.")
        self.is_dry_running = True
        try:
            dry_run: DryRun = yield run_dry(
                around, event, lambda: bool(self.status.is_alive), **more
            )
            return dry_run
        finally:
            self.is_dry_running = False

    def break_off(self) -> None:
        """End the turn or the sleep pass under way; the turn's events are handled again."""
        self.turns.recover()
        self.sleep.break_off()

    def forget(self, dbref: str) -> None:
        """Drop from memory what the tables no longer hold about somebody."""
        self.presence.partners.pop(dbref, None)
        self.log.forget_view()

    def renew(self, seqs: Collection[int]) -> None:
        """Let the next prompt and the next recall show lines as they are amended now."""
        self.log.forget_view()
        self.services.memory_indices.renew(self.who.id, seqs)

    # --- as one of `store.mind_cache.CachedMind` -----------------------------------------------

    @property
    def nbytes(self) -> int:
        """Return about how much memory its talk and what its character knows take."""
        view = self.log.nbytes
        records = sum(store.nbytes for store in self._stores())
        index: int = self.services.memory_indices.bytes_of(self.who.id)
        return MIND_BYTES + view + records + index

    @property
    def is_busy(self) -> bool:
        """Return True while a tick, a rebuild or a trial works with what memory holds."""
        return self.ticker.is_ticking or self.is_rebuilding or self.is_dry_running

    def let_go(self) -> None:
        """Free what the database has too; the next use reads it again."""
        self.drop_index()
        for store in self._stores():
            store.unload()

    def drop_index(self) -> None:
        """Free the search index and the view; the next use reads them again."""
        self.services.memory_indices.drop(self.who.id)
        self.log.unload_view()

    def _stores(self) -> Iterator[RecordStore]:
        """Yield the stores of the character's records that were used."""
        if self.who.character:
            yield from filter(None, map(self.who.character.nattributes.get, STORES))


def unknown_families(tools_off: str | None, tools: Mapping[str, Any]) -> str:
    """Return what is wrong with a value of ``tools_off``, "" if it names families of tools."""
    if not tools_off:
        return ""
    known = {item.family for item in tools.values()} - {*ALWAYS_ON}
    unknown = sorted(read_families(tools_off) - known)
    name = clean_heard(", ".join(unknown), 60)
    families = ", ".join(sorted(known))
    return f"tools_off: there are no tools of '{name}'. Use {families}." if unknown else ""

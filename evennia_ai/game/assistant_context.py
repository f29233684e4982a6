"""What the engine uses of an assistant: settings, stores, model, token counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from evennia_ai.config import (
    ALWAYS_ON,
    FIELDS,
    AssistantConfig,
    ModelProfile,
    choose_settings,
    fit_settings,
    read_families,
)
from evennia_ai.config.checks import context_complaints
from evennia_ai.errors import ConfigError
from evennia_ai.game.author_note import note_lines
from evennia_ai.game.game_time import minute_now
from evennia_ai.game.presence import ScriptPart
from evennia_ai.game.script_memory import Remembered, memory_of
from evennia_ai.game.script_ports import GameServices
from evennia_ai.game.settings import game_settings
from evennia_ai.llm.tokenizers import count_for
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.memory.shared_search import SharedSearch
from evennia_ai.messages import Audience, Authors, Message
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.authors import of_record
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.conversation.react import ToolOffer
from evennia_ai.policy.records.day_plan import block_line
from evennia_ai.policy.records.goal import goal_lines
from evennia_ai.policy.records.shared_memory import read_scopes, select_scopes
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import CountText, UsageReport, count_message, estimate_tokens
from evennia_ai.ports.records import RecordStore
from evennia_ai.store.attributes import (
    forget_all_cached,
    inspect_attribute,
    read_attribute,
    tell_once,
)
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.lore_records import by_builder, read_entries
from evennia_ai.store.pending_acts import TablePendingActs
from evennia_ai.store.turns import TableTurns
from evennia_ai.store.who_knows import STORES

GUESSED_OVERHEAD = 1_600  # tokens
KEPT_REPORTS = 8
MIND_BYTES = 25_000  # of an assistant beside its talk and what its character knows (measured)
RECENT_ENTRIES = 200
PERSONA_AUTHORS = "ai_persona_authors"
# What ``ndb`` keeps of what is stored.
OF_TABLES = ("config", "profile", "partners", "autonomous_acts", "sleep_state")
CHARACTER_ATTRIBUTES = ("ai_lore", "ai_fillers", "ai_following")


class AssistantContextMixin(ScriptPart):
    """The part of an `AssistantScript` that the engine uses."""

    shared_services: ClassVar[Any]

    @property
    def ndb(self) -> Any:
        """Return what is in memory only."""
        return memory_of(self)

    @property
    def character(self) -> Any:
        """Return the character of the assistant."""
        return self.obj

    @property
    def character_name(self) -> str:
        """Return the character's name, as others know it."""
        return str(self.obj.key)

    @property
    def services(self) -> GameServices:
        """Return what all assistants share, None in a process without the service."""
        services: GameServices = self.ndb.services or self.shared_services
        return services

    @property
    def conversation(self) -> TableConversation:
        """Return the log of everything said and done."""

        def make() -> TableConversation:
            count = partial(count_message, count_text=self.count_text)
            note_use = partial(self.services.loaded.note, self)
            return TableConversation(self.id, self.services.now, count, note_use)

        return self.kept("conversation", make)

    @property
    def conversation_history(self) -> list[Message]:
        """Return the stored messages in the view, oldest first."""
        return list(self.conversation.view())

    @property
    def inbox(self) -> TableInbox:
        """Return the stored events."""
        services = self.services
        return self.kept("inbox", lambda: TableInbox(self.id, services.now, services.process))

    @property
    def turns(self) -> TableTurns:
        """Return the stored turns, model calls and tool calls."""
        return self.kept("turns", partial(self.services.make_turns, self))

    @property
    def pending_acts(self) -> TablePendingActs:
        """Return the acts that wait for a person."""
        return TablePendingActs(self.id, self.services.now)

    @property
    def config(self) -> AssistantConfig:
        """Return the effective settings, resolved once a tick."""
        config: AssistantConfig | None = self.ndb.config
        if config is None:
            self.resolve_settings()
            config = self.ndb.config
        return config

    @property
    def profile(self) -> ModelProfile:
        """Return the model profile in use, with the assistant's own model if it has one."""
        profile: ModelProfile | None = self.ndb.profile
        if profile is None:
            self.resolve_settings()
            profile = self.ndb.profile
        return profile

    @property
    def complaints(self) -> list[str]:
        """Return a sentence for each value that cannot be used; reads the settings again."""
        self.resolve_settings()
        strange = [inspect_attribute(self, "stopped")[1]]
        strange += [inspect_attribute(self.obj, name)[1] for name in CHARACTER_ATTRIBUTES]
        strange += read_entries(inspect_attribute(self.obj, "ai_lore")[0])[1]
        strange.append(self.inspect_persona()[1])
        unfit = context_complaints(self.config, self.profile, self.prompt_overhead)
        return [*self.ndb.complaints, *filter(None, strange), *unfit]

    @property
    def persona(self) -> Persona:
        """Return the persona of the character; a problem with it is logged once."""
        persona, trouble = self.inspect_persona()
        if trouble:
            tell_once(self.obj, trouble)
        return persona

    def inspect_persona(self) -> tuple[Persona, str]:
        """Return the persona, an empty one if it cannot be used, and the problem, if any."""
        stored, trouble = inspect_attribute(self.obj, "ai_persona")
        try:
            return self.services.personas.resolve(stored), trouble
        except ConfigError as error:
            return Persona(), str(error)

    @property
    def persona_authors(self) -> Authors:
        """Return the authors of the persona (`policy.authors`).

        A builder can change the Attribute by hand, so its text always counts as a builder's too.
        """
        stored, _ = inspect_attribute(self.obj, "ai_persona")
        own = read_attribute(self.obj, PERSONA_AUTHORS) or ()
        return by_builder([*own, *self.services.personas.authors_of(stored)])

    def read_again(self) -> None:
        """Drop what memory holds of the assistant: another process may have changed it."""
        self.services.memory_indices.drop(self)
        self.services.memory_indices.note(None, ())
        self.conversation.forget_view()
        for store in STORES.values():
            store.drop(self.obj)
        for obj in (self, self.obj):
            forget_all_cached(obj)
        for name in OF_TABLES:
            setattr(self.ndb, name, None)

    # --- as one of `store.loaded.Mind` --------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Return about how much memory its talk and what its character knows take."""
        log = self.ndb.conversation
        view = log.nbytes if log else 0
        records = sum(store.nbytes for store in self._stores())
        return MIND_BYTES + view + records + self.services.memory_indices.bytes_of(self)

    @property
    def is_busy(self) -> bool:
        """Return True while a tick, a rebuild or a trial works with what memory holds."""
        return bool(self.ndb.ticking or self.ndb.rebuilding or self.ndb.dry_running)

    def let_go(self) -> None:
        """Free what the database has too; the next use reads it again."""
        self.services.memory_indices.drop(self)
        for store in self._stores():
            store.unload()

    def _stores(self) -> Iterator[RecordStore]:
        """Yield the stores of the character's records that were used."""
        if self.obj:
            yield from filter(None, map(self.obj.nattributes.get, STORES))

    def own_settings(self) -> dict[str, Any]:
        """Return the settings stored on this assistant itself."""
        stored = {attribute.key for attribute in self.attributes.all()}
        found = {name: read_attribute(self, name) for name in FIELDS if name in stored}
        return {name: value for name, value in found.items() if value is not None}

    def resolve_settings(self) -> None:
        """Read the settings again. A bad value is replaced by its default and reported."""
        chosen = choose_settings(game_settings(), self.own_settings(), self.services.profiles)
        profile = self.services.endpoints.told(chosen.profile)
        before, self.ndb.profile = self.ndb.profile, profile
        if before and (before.name, before.model) != (profile.name, profile.model):
            self.warnings.clear()  # they were about the other model
        self.ndb.config = fit_settings(chosen.values, profile, self.prompt_tokens)
        wrong = unknown_families(self.ndb.config.tools_off, self.services.toolbox.tools)
        self.ndb.complaints = [*chosen.complaints, *filter(None, [wrong])]
        for complaint in self.ndb.complaints:
            tell_once(self, complaint)

    def prompt_tokens(self, config: AssistantConfig) -> int:
        """Return the estimated tokens of its next prompt; without its log while that is unused."""
        log: TableConversation | None = self.ndb.conversation
        talk = log.sizes.largest() if log else 0
        overhead: int = self.prompt_overhead
        return overhead + talk

    def tell_owner(self, trouble: str) -> None:
        """Log a problem once, and show it in ``aistatus`` until the server restarts."""
        if trouble not in self.warnings:
            self.warnings.append(trouble)
            tell_once(self, trouble, about="")

    @property
    def warnings(self) -> list[str]:
        """Return the problems reported since the server start."""
        return self.kept("warnings", list)

    @property
    def memories(self) -> RecallIndex | SharedSearch:
        """Return the search over its character's memories and those shared with it."""
        indices, shared = self.services.memory_indices, self.services.shared_memory
        self.services.loaded.note(self)
        own: RecallIndex = indices.of_character(self)
        chosen = read_scopes(self.config.share_memory)
        if not chosen:
            return own
        scopes = select_scopes(chosen, shared.labels_of(self.character))
        told = [indices.of_scope(scope) for scope in scopes]
        return SharedSearch(own, told, shared.still_told, self.character.dbref)

    def journalled_since(self, at: str, audience: Audience | None) -> list[str]:
        """Return the entries of the loaded journal since an ISO time that an audience may know."""
        entries = self.character.journal.newest(RECENT_ENTRIES, audience)
        return [entry["content"] for entry in entries if entry["timestamp"] >= at]

    def pins(self, audience: Audience | None) -> list[KnownLine]:
        """Return the pins that an audience may know (None: everybody), one line each."""
        return [
            KnownLine(pin["content"], pin["audience"] is not None, of_record(pin))
            for pin in self.character.journal.pinned(audience)
        ]

    def goals(self, audience: Audience | None) -> list[KnownLine]:
        """Return the goals that an audience may know (None: everybody), one line each.

        They take the tokens that the pins leave of ``pin_tokens``, but at least a third of it.
        """
        config, count = self.config, self.count_text
        pinned = sum(count(line.text) for line in self.pins(audience))
        room = max(config.pin_tokens - pinned, config.pin_tokens // 3)
        found = self.character.ai_goals.known(audience)
        return goal_lines(found, room, count)

    def author_note(self) -> list[KnownLine]:
        """Return the note of a builder as one line, or an empty list."""
        return note_lines(self)

    def occupation(self) -> list[KnownLine]:
        """Return the current part of the day plan as one line, or an empty list."""
        block = self.character.ai_plan.at(minute_now(self)) if self.config.daily_plan else None
        place = self.character.location
        return [block_line(block, place.key if place else "")] if block else []

    @property
    def count_text(self) -> CountText:
        """Return the token counter of its model if that is known, else an estimate."""
        return count_for(self.profile.model) or estimate_tokens

    @property
    def usage_reports(self) -> deque[UsageReport]:
        """Return the endpoint's latest token counts beside our estimates."""
        return self.kept("usage_reports", lambda: deque(maxlen=KEPT_REPORTS))

    # Tokens of the last request outside the conversation: tools, persona, situation.
    prompt_overhead = Remembered(GUESSED_OVERHEAD)
    # The tools that the current talk has needed so far.
    tool_offer = Remembered(ToolOffer())
    # Compactions in a row that produced no summary, and those that removed little.
    compaction_strikes = Remembered(0)
    small_compactions = Remembered(0)
    # What the next compaction has cost so far (`policy.limits.budgets`).
    compaction_cost = Remembered({})


def unknown_families(tools_off: str | None, tools: Mapping[str, Any]) -> str:
    """Return what is wrong with a value of ``tools_off``, "" if it names families of tools."""
    if not tools_off:
        return ""
    known = {item.family for item in tools.values()} - {*ALWAYS_ON}
    unknown = sorted(read_families(tools_off) - known)
    name = clean_heard(", ".join(unknown), 60)
    families = ", ".join(sorted(known))
    return f"tools_off: there are no tools of '{name}'. Use {families}." if unknown else ""

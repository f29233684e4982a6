# mypy: ignore-errors
# A part of an untyped Evennia class: mypy sees only what it calls and not what it is.
"""What the engine is given of an assistant: its settings, stores, model and figures."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from evennia_ai.config import (
    FIELDS,
    AssistantConfig,
    ModelProfile,
    resolve_lenient,
    resolve_profile,
)
from evennia_ai.config.checks import context_complaints
from evennia_ai.config.profiles import missing_model
from evennia_ai.errors import ConfigError
from evennia_ai.game.game_time import minute_now
from evennia_ai.game.settings import game_settings
from evennia_ai.llm.tokenizers import count_for
from evennia_ai.memory.episodic_index import EpisodicIndex
from evennia_ai.memory.shared_search import SharedSearch
from evennia_ai.messages import Audience, Message
from evennia_ai.policy.audience import KnownLine, speakers_in
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.records.day_plan import block_line
from evennia_ai.policy.records.goal_tree import goal_lines
from evennia_ai.policy.records.shared_memory import read_scopes, select_scopes
from evennia_ai.policy.tokens import CountText, UsageReport, count_message, estimate_tokens
from evennia_ai.store.attributes import (
    inspect_attribute,
    read_attribute,
    tell_once,
)
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.lore_records import read_entries
from evennia_ai.store.turns import TableTurns

GUESSED_OVERHEAD = 2_500
KEPT_REPORTS = 8
RECENT_ENTRIES = 200
CHARACTER_ATTRIBUTES = ("ai_lore", "ai_fillers", "ai_following")


class AssistantContextMixin:
    """The part of an `AssistantScript` that the engine touches; all of its state is in ``ndb``."""

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
        return self.ndb.services or self.shared_services

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
        that could not be used, and for settings that do not fit together."""
        self.resolve_settings()
        strange = [inspect_attribute(self, "stopped")[1]]
        strange += [inspect_attribute(self.obj, name)[1] for name in CHARACTER_ATTRIBUTES]
        strange += read_entries(inspect_attribute(self.obj, "ai_lore")[0])[1]
        _persona, trouble = self.inspect_persona()
        unfit = context_complaints(self.config, self.profile, self.prompt_overhead)
        return [*self.ndb.complaints, *filter(None, [*strange, trouble]), *unfit]

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
        told = self.services.windows.told(profile.base_url, config.llm_model or profile.model)
        self.ndb.config, self.ndb.profile = config, replace(profile, told_window=told)
        self.ndb.complaints = list(dict.fromkeys([*complaints, *all_complaints]))
        for complaint in self.ndb.complaints:
            tell_once(self, complaint)

    def tell_owner(self, trouble: str) -> None:
        """One line in the log, and in ``aistatus`` until the next start."""
        if trouble not in self.warnings:
            self.warnings.append(trouble)
            tell_once(self, trouble)

    @property
    def warnings(self) -> list[str]:
        """What whoever looks after it should know, since the start."""
        if self.ndb.warnings is None:
            self.ndb.warnings = []
        return self.ndb.warnings

    def journalled_since(self, at: str, audience: Audience | None) -> list[str]:
        """What was written into the journal since a time in ISO form and this audience may know,
        None for what everybody may; of a journal that is loaded."""
        entries = self.character.journal.newest(RECENT_ENTRIES, audience, self.config.discretion)
        return [entry["content"] for entry in entries if entry["timestamp"] >= at]

    @property
    def memories(self) -> EpisodicIndex | SharedSearch:
        """The search over its character's memories, and over what others shared with it."""
        indices, shared = self.services.memory_indices, self.services.shared_memory
        own = indices.of_character(self)
        chosen = read_scopes(self.config.share_memory)
        if not chosen:
            return own
        scopes = select_scopes(chosen, shared.labels_of(self.character))
        told = [indices.of_scope(scope) for scope in scopes]
        return SharedSearch(own, told, shared.still_told, self.character.dbref)

    def pins(self, audience: Audience | None) -> list[KnownLine]:
        """What it keeps in mind for good and this audience may know, None for what everybody may,
        a line each."""
        strict = self.config.discretion == "strict"
        found = self.character.journal.pinned(audience, self.config.discretion)
        return [
            KnownLine(
                entry["content"], strict and entry["audience"] is not None, speakers_in([entry])
            )
            for entry in found
        ]

    def goals(self, audience: Audience | None) -> list[KnownLine]:
        """What it is after and this audience may know, a line each, within the room that is left
        beside the pins; a third of that for pins at least."""
        config, count = self.config, self.count_text
        pinned = sum(count(line.text) for line in self.pins(audience))
        room = max(config.pin_tokens - pinned, config.pin_tokens // 3)
        found = self.character.ai_goals.known(audience, config.discretion)
        return goal_lines(found, room, count, strict=config.discretion == "strict")

    def occupation(self) -> list[KnownLine]:
        """What it is about at this time of its day, as far as that is planned: a line, or none."""
        block = self.character.ai_plan.at(minute_now(self)) if self.config.daily_plan else None
        place = self.character.location
        return [block_line(block, place.key if place else "")] if block else []

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
    def small_compactions(self) -> int:
        """How many compactions in a row took out little, since the start."""
        return int(self.ndb.small_compactions or 0)

    @small_compactions.setter
    def small_compactions(self, count: int) -> None:
        self.ndb.small_compactions = count

    @property
    def compaction_cost(self) -> Mapping[str, int]:
        """What was spent on the next compaction so far (`policy.limits.budgets`)."""
        return self.ndb.compaction_cost or {}

    @compaction_cost.setter
    def compaction_cost(self, cost: Mapping[str, int]) -> None:
        self.ndb.compaction_cost = cost

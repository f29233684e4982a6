"""A mind and its character without Evennia, for tests of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.mind import Mind
from evennia_ai.policy.audience import BUILDER, KnownLine
from evennia_ai.policy.conversation.character import Persona, read_persona
from evennia_ai.policy.tokens import CountText, estimate_tokens
from evennia_ai.ports import OfferedTools, RequestSizes, Surroundings, TurnRecord
from evennia_ai.testing.memory_services import (
    EmptyGoals,
    EmptyPlan,
    EmptyProfiles,
    MemoryJournal,
    NoPendingActs,
    StandInServices,
    StandInWorld,
)
from evennia_ai.testing.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns


class StandInCharacter:
    """Plays an `AssistantCharacter` before the engine, which calls no other hook."""

    def __init__(self, key: str, now: Callable[[], datetime]) -> None:
        self.key = key
        self.dbref, self.id, self.pk = "#7", 7, 7
        self.location, self.ndb = None, SimpleNamespace()
        self.journal = MemoryJournal(now)
        self.ai_profiles = EmptyProfiles()
        self.ai_goals = EmptyGoals()
        self.ai_plan = EmptyPlan()

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None:
        return None


class MemoryIdentity:
    """`ports.Identity` of a character in memory."""

    def __init__(self, character: Any, persona: str | Mapping[str, Any] | Persona) -> None:
        self.id = 1
        self.character = character
        self.persona = read_persona(persona)
        self.persona_authors = frozenset({BUILDER})

    @property
    def name(self) -> str:
        return str(self.character.key)


class MemorySettings:
    """`ports.Settings` that stay as they are; ``troubles`` were reported to the owner."""

    def __init__(self, config: AssistantConfig) -> None:
        self.config = config
        self.profile = ModelProfile("test", model="scripted")
        self.count_text: CountText = estimate_tokens
        self.troubles: list[str] = []

    def resolve(self) -> None:
        """Keep the settings."""

    def tell_owner(self, trouble: str) -> None:
        self.troubles.append(trouble)


class MemoryCompany:
    """`ports.Company`: everybody in the `StandInWorld` is a player."""

    def __init__(self, world: StandInWorld) -> None:
        self._world = world
        self.partners: dict[str, datetime] = {}
        self.last_talk_at: float | None = None
        self.news_at: float | None = None

    def is_in_conversation(self, dbref: str) -> bool:
        return dbref in self.partners

    def players_near(self) -> bool:
        return bool(self._world.present)

    def pause(self, seconds: float) -> Deferred[bool]:
        """Fire at once: nobody speaks meanwhile."""
        return succeed(True)


class MemoryLife:
    """`ports.Life` that lets the assistant do everything.

    Attributes:
        told: (key, dbref) of each line that is not the character's own speech.
        compactions: (reason, result) of each announcement of one.
        signals: what it was doing last, by name.
    """

    def __init__(self) -> None:
        self.is_forgetting = False
        self.thinks = True
        self.told: list[tuple[str, str]] = []
        self.compactions: list[tuple[str, Mapping[str, Any] | None]] = []
        self.signals: dict[str, bool] = {}

    def may_think(self) -> bool:
        return self.thinks

    def wake(self) -> None:
        """Do nothing: a test decides when it ticks."""

    def tell(self, key: str, dbrefs: Iterable[str]) -> None:
        self.told += [(key, dbref) for dbref in dbrefs]

    def author_note(self) -> Sequence[KnownLine]:
        return ()

    def minute_now(self) -> int:
        return 12 * 60

    def signal(self, name: str, on: bool) -> None:
        self.signals[name] = on

    def thinking(self, turn: TurnRecord, begins: bool) -> None:
        """Tell nobody."""

    def compacting(self, reason: str, result: Mapping[str, Any] | None) -> None:
        self.compactions.append((reason, result))


class NoRest:
    """`ports.Rest` of an assistant that never sleeps."""

    is_asleep = needs_pass = False
    woken_at: float | None = None

    def lie_down(self) -> None:
        """Stay awake."""


class MemoryMind(Mind):
    """A mind without Evennia and a database, for tests of the engine.

    ``config`` are its settings, ``character`` who it is; its memories are ranked by words alone
    if ``services`` have no embedder.
    """

    settings: MemorySettings
    log: MemoryConversation
    inbox: MemoryInbox
    turns: MemoryTurns
    company: MemoryCompany
    life: MemoryLife

    def __init__(
        self,
        services: StandInServices,
        config: AssistantConfig | None = None,
        persona: str | Mapping[str, Any] | Persona = "You are Mira, a barkeep.",
        name: str = "Mira",
        character: Any = None,
    ) -> None:
        self.services = services
        self.character = character = character or StandInCharacter(name, services.now)
        self.journal = character.journal
        log = MemoryConversation(services.now)
        inbox = MemoryInbox(services.now)
        self.memories = RecallIndex(
            character.journal,
            character.ai_profiles,
            services.embedder,
            partial(services.world.name_of, character),
            log.lines,
            name,
        )
        super().__init__(
            Surroundings(
                who=MemoryIdentity(character, persona),
                settings=MemorySettings(config or AssistantConfig()),
                log=log,
                inbox=inbox,
                turns=MemoryTurns(log, inbox),
                pending_acts=cast(Any, NoPendingActs()),
                memories=lambda: self.memories,
                company=MemoryCompany(services.world),
                life=MemoryLife(),
                rest=cast(Any, NoRest()),
                sizes=RequestSizes(overhead=0),
                offered=OfferedTools(),
                services=services,
            )
        )

    @property
    def mind(self) -> MemoryMind:
        """Return itself, so that it can stand for an `AssistantScript`."""
        return self

    @property
    def conversation(self) -> MemoryConversation:
        return self.log

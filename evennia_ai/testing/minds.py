"""What a mind needs around it, without Evennia and a database: for scenes and for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

from evennia_ai import ports
from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.memory.lore_index import LoreIndex
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.messages import Audience, Authors, Situation
from evennia_ai.policy.audience import BUILDER, KnownLine
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, Persona
from evennia_ai.policy.records.record import RecordSegment
from evennia_ai.policy.tokens import CountText, estimate_tokens
from evennia_ai.policy.tool_call_modes.form import Schema, parameters_of
from evennia_ai.ports.records import SegmentChanges, SegmentsByNumber
from evennia_ai.ports.world import utc_clock
from evennia_ai.scheduling import TimeSlices
from evennia_ai.store.mind_cache import MindCache

Now = Callable[[], datetime]


class StandInWorld:
    """`ports.World` with one room; everybody in ``present`` hears."""

    def __init__(self) -> None:
        self.present: Audience = frozenset({"#5"})
        self.seen = Situation(place="Tavern", people=("Ann",))
        self.known: list[LoreEntry] = []
        self.names = {"#5": "Ann"}
        self.looks: dict[str, str] = {}

    def listeners(self, character: ports.Character) -> Audience:
        return self.present

    def situation(self, character: ports.Character) -> Situation:
        return self.seen

    def lore(
        self, character: ports.Character, audience: Audience
    ) -> tuple[Sequence[LoreEntry], Audience]:
        return self.known, frozenset({"all"})

    def labels_of(self, character: ports.Character) -> frozenset[str]:
        return frozenset({"all"})

    def name_of(self, character: ports.Character, dbref: str) -> str:
        return self.names.get(dbref, "")

    def looks_of(self, character: ports.Character, dbref: str) -> str:
        return self.looks.get(dbref, "")

    def authors_of(self, dbref: str) -> Authors:
        return frozenset({dbref})


class ImmediateSlices(TimeSlices):
    """`TimeSlices` that do everything at once."""

    def __init__(self) -> None:
        super().__init__(Clock())

    def put(self, work: Callable[..., object], *args: Any) -> None:
        work(*args)


class StandInServices:
    """`ports.Services` on a fake clock."""

    def __init__(
        self,
        gateway: ports.Gateway,
        toolbox: Any = None,
        embedder: ports.Embedder | ports.RemoteEmbedder | None = None,
    ) -> None:
        self.clock = Clock()
        self.slices = ImmediateSlices()
        self.gateway = gateway
        self.toolbox, self.embedder = toolbox, embedder
        self.world = StandInWorld()
        self.semantic = ports.SemanticMemory()
        self.lore_ranking = LoreIndex(lambda: embedder)
        self.nearness = TextNearness(lambda: embedder)
        self.extensions: Sequence[ports.Extension] = ()
        self.link_hosts: tuple[str, ...] = ()
        self.profiles: dict[str, Mapping[str, Any]] = {}
        self.loaded = MindCache(self.clock)
        self.world_clock = utc_clock(self.now)

    def now(self) -> datetime:
        start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        return datetime.fromtimestamp(start + self.clock.seconds(), UTC)

    def held_back(self, speakers: Iterable[str]) -> frozenset[str]:
        return frozenset()

    def text(self, key: str, **values: str) -> str:
        return f"({key})" if not values else f"({key}: {values})"


class StandInSegments(dict[int, RecordSegment]):
    """`ports.records.Segments` without a database."""

    def __init__(self, store: ports.RecordStore | None = None) -> None:
        super().__init__()

    def numbers(self) -> Iterable[int]:
        return list(self)

    read = dict[int, RecordSegment].__getitem__

    def write(self, before: SegmentsByNumber, after: SegmentChanges) -> None:
        for number, content in after.items():
            self.pop(number, None)
            if content:
                self[number] = content


class InMemory(ports.RecordStore):
    """A store without a database, before the class of a kind of records."""

    stored_in: ClassVar[type[Any]] = StandInSegments

    def __init__(self, now: Now | None = None) -> None:
        self._now = now
        super().__init__(None)

    def now(self) -> datetime:
        return self._now() if self._now else super().now()


def in_memory(kind: type[ports.RecordStore], now: Now | None = None) -> Any:
    """Return a store of a kind of records without a database."""
    return type(kind.kind, (InMemory, kind), {})(now)


class StandInCharacter:
    """Plays an `AssistantCharacter` before the engine, which calls no other hook."""

    def __init__(self, key: str, now: Now) -> None:
        self.key = key
        self.dbref, self.id, self.pk = "#7", 7, 7
        self.location, self.ndb = None, SimpleNamespace()
        kinds = (ports.Journal, ports.EntityProfiles, ports.Goals, ports.DayPlan)
        stores = [in_memory(kind, now) for kind in kinds]
        self.journal, self.ai_profiles, self.ai_goals, self.ai_plan = stores

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None:
        return None


@dataclass
class MemoryIdentity:
    """`ports.Identity` of a character in memory."""

    character: Any
    persona: Persona
    persona_authors: Authors = frozenset({BUILDER})
    id: int = 1

    @property
    def name(self) -> str:
        return str(self.character.key)


@dataclass
class FixedSettings:
    """`ports.Settings` that stay as they are; ``troubles`` were reported to the owner."""

    config: AssistantConfig
    profile: ModelProfile
    count_text: CountText = estimate_tokens
    troubles: list[str] = field(default_factory=list)

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
    """`ports.Life` that lets it do everything, and keeps what was told and announced."""

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

    def tell(self, key: str, dbrefs: Iterable[str], reason: str = "") -> None:
        self.told += [(key, dbref) for dbref in dbrefs]

    def author_note(self) -> Sequence[KnownLine]:
        return ()

    def signal(self, name: str, on: bool) -> None:
        self.signals[name] = on

    def thinking(self, turn: ports.TurnRecord, begins: bool) -> None:
        """Tell nobody."""

    def compacting(self, reason: str, result: Mapping[str, Any] | None) -> None:
        self.compactions.append((reason, result))


class NeverAsleep:
    """`ports.Rest` of an assistant that never sleeps."""

    is_asleep = needs_pass = False
    woken_at: float | None = None

    def lie_down(self) -> None:
        """Stay awake."""


def surroundings(
    services: StandInServices,
    who: MemoryIdentity,
    settings: FixedSettings,
    log: Any,
    inbox: Any,
    turns: Any,
) -> ports.MindContext:
    """Return what a mind without Evennia is made of; without an embedder, words rank memories."""
    character = who.character
    memories = RecallIndex(
        character.journal,
        character.ai_profiles,
        services.embedder,
        partial(services.world.name_of, character),
        log.lines,
        who.name,
    )
    return ports.MindContext(
        who=who,
        settings=settings,
        log=log,
        inbox=inbox,
        turns=turns,
        pending_acts=cast(Any, SimpleNamespace(take=lambda: None)),
        memories=lambda: memories,
        presence=MemoryCompany(services.world),
        status=MemoryLife(),
        sleep=cast(Any, NeverAsleep()),
        sizes=ports.RequestSizes(overhead=0),
        offered=ports.OfferedTools(),
        services=services,
    )


def sample_arguments(schema: Schema, words: str) -> dict[str, Any]:
    """Return arguments that fit a tool: the words for each text, else the least value allowed."""
    known = parameters_of(schema)
    required = schema["function"].get("parameters", {}).get("required", [])
    chosen = {name: known[name] for name in required or list(known)[:1] if name in known}
    return {name: _sample(field, words) for name, field in chosen.items()}


def _sample(field: Mapping[str, Any], words: str) -> Any:
    kind = field.get("type", "string")
    if field.get("enum"):
        return field["enum"][0]
    if kind in ("integer", "number"):
        return field.get("minimum", 1)
    return {"boolean": True, "array": [], "object": {}}.get(kind, words or "attack")

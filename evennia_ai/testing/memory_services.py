"""A toolbox, a world and services without Evennia, for tests of the engine."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from twisted.internet.task import Clock

from evennia_ai.memory.lore_index import LoreIndex
from evennia_ai.messages import Audience, Authors, Situation
from evennia_ai.policy.conversation.character import LoreEntry
from evennia_ai.policy.records.provenance import Segment
from evennia_ai.policy.records.shared_memory import Told
from evennia_ai.ports import (
    Character,
    DayPlan,
    Embedder,
    EntityProfiles,
    Gateway,
    Goals,
    Journal,
    JournalArchive,
    Moderation,
    RecordStore,
    RemoteEmbedder,
)
from evennia_ai.store.loaded import LoadedMinds


class StandInWorld:
    """`ports.World` with one room; everybody in ``present`` hears."""

    def __init__(self) -> None:
        self.present: Audience = frozenset({"#5"})
        self.seen = Situation(place="Tavern", people=("Ann",))
        self.known: list[LoreEntry] = []
        self.names = {"#5": "Ann"}
        self.looks: dict[str, str] = {}

    def listeners(self, character: Character) -> Audience:
        return self.present

    def situation(self, character: Character) -> Situation:
        return self.seen

    def lore(
        self, character: Character, audience: Audience
    ) -> tuple[Sequence[LoreEntry], Audience]:
        return self.known, frozenset({"all"})

    def labels_of(self, character: Character) -> frozenset[str]:
        return frozenset({"all"})

    def name_of(self, character: Character, dbref: str) -> str:
        return self.names.get(dbref, "")

    def looks_of(self, character: Character, dbref: str) -> str:
        return self.looks.get(dbref, "")

    def authors_of(self, dbref: str) -> Authors:
        return frozenset({dbref})


class AtOnce:
    """`ports.Slices` that does everything at once."""

    def put(self, work: Callable[..., object], *args: Any) -> None:
        work(*args)


class NoSharedMemory:
    """`ports.SharedMemory` of a character that shares nothing."""

    def told_by(self, assistant_id: int) -> list[Told]:
        return []


class NoPendingActs:
    """`ports.PendingActs` without any."""

    def take(self) -> None:
        """Return none."""


class NoLongTermMemory:
    """`ports.SemanticMemory` of a game without any: nothing is asked of it."""

    is_off, was_used, trouble = True, False, "there is none here"


class StandInServices:
    """`ports.Services` on a fake clock."""

    def __init__(
        self,
        gateway: Gateway,
        toolbox: Any = None,
        embedder: Embedder | RemoteEmbedder | None = None,
    ) -> None:
        self.clock = Clock()
        self.slices = AtOnce()
        self.gateway = gateway
        self.toolbox, self.embedder = toolbox, embedder
        self.world = StandInWorld()
        self.semantic: Any = NoLongTermMemory()
        self.shared_memory: Any = NoSharedMemory()
        self.lore_ranking = LoreIndex(lambda: embedder)
        self.moderation: Moderation | None = None
        self.link_hosts: tuple[str, ...] = ()
        self.profiles: dict[str, Mapping[str, Any]] = {}
        self.loaded = LoadedMinds(self.clock)

    def now(self) -> datetime:
        start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        return datetime.fromtimestamp(start + self.clock.seconds(), UTC)

    def held_back(self, speakers: Iterable[str]) -> frozenset[str]:
        return frozenset()

    def text(self, key: str) -> str:
        return f"({key})"


Now = Callable[[], datetime]


class MemorySegments(dict[int, Segment]):
    """`ports.records.Segments` without a database."""

    def __init__(self, store: RecordStore | None = None) -> None:
        super().__init__()

    def numbers(self) -> Iterable[int]:
        return list(self)

    read = dict[int, Segment].__getitem__

    def write(self, before: Mapping[int, Segment], after: Mapping[int, Segment | None]) -> None:
        for number, content in after.items():
            self.pop(number, None)
            if content:
                self[number] = content


class InMemory(RecordStore):
    """A store without a database."""

    stored_in: ClassVar[type[Any]] = MemorySegments

    def __init__(self, now: Now | None = None) -> None:
        self._now = now
        super().__init__(None)

    def now(self) -> datetime:
        return self._now() if self._now else super().now()


class StaysEmpty(InMemory):
    """A store that drops every change."""

    def _store(self, before: Mapping[int, Segment], changed: Mapping[int, Segment]) -> None:
        """Store nothing."""


class MemoryArchive(InMemory, JournalArchive):
    """A `JournalArchive`."""


class MemoryJournal(InMemory, Journal):
    """A `Journal`."""

    archive: Any = None

    def __init__(self, now: Now) -> None:
        super().__init__(now)
        self.archive = MemoryArchive(now)


class EmptyProfiles(StaysEmpty, EntityProfiles):
    """The profiles of a character that knows nobody, whatever happens."""

    is_loaded = False


class EmptyGoals(StaysEmpty, Goals):
    """The goals of a character that wants nothing, whatever happens."""


class EmptyPlan(StaysEmpty, DayPlan):
    """The plan of a character whose days are never planned."""

    is_stale = False

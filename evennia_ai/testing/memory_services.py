"""A toolbox, a world and services without Evennia, for tests of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from twisted.internet.defer import inlineCallbacks, maybeDeferred
from twisted.internet.task import Clock

from evennia_ai.memory.lore_index import LoreIndex
from evennia_ai.messages import OWN_RESULTS, Audience, Authors, ToolCallRequest
from evennia_ai.policy.conversation.character import LoreEntry
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import Telling, Told
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
    Situation,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from evennia_ai.ports.records import Watcher
from evennia_ai.scheduling import Steps
from evennia_ai.store.loaded import LoadedMinds
from evennia_ai.turn.tool_execution import failed_call

TOOLS = {"say": "final", "whisper": "final", "noop": "final", "look": "free", "give": "once"}
SILENT = frozenset({"noop", "look", "add_journal_entry"})

Behaviour = Callable[[ToolContext, Mapping[str, Any]], Any]


class StandInToolbox:
    """`ports.Toolbox` that only records what was said, and to whom.

    Attributes:
        categories: category of each tool by name.
        behaviours: functions by tool name. A function gets the context and the arguments; it
            returns a text, a result, or a Deferred of one, or raises, as a game's tool does.
        spoken: (tool, words, audience) of each say and whisper.
    """

    def __init__(self, categories: Mapping[str, str] = TOOLS) -> None:
        self.categories = dict(categories)
        self.behaviours: dict[str, Behaviour] = {}
        self.spoken: list[tuple[str, str, Audience]] = []

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        return [
            ToolSpec(
                name, category, name not in SILENT, name in SILENT, {"function": {"name": name}}
            )
            for name, category in self.categories.items()
            if context.allowed is None or name in context.allowed
        ]

    def permitted(self, context: ToolContext, specs: Iterable[ToolSpec]) -> Sequence[ToolSpec]:
        return list(specs)

    @inlineCallbacks
    def run(
        self, context: ToolContext, call: ToolCallRequest, dry: bool = False
    ) -> Steps[ToolResult]:
        if call.name not in self.categories:
            return ToolResult("failed", f"There is no tool '{call.name}'.")
        if dry:
            return ToolResult("done", "")
        arguments = json.loads(call.arguments or "{}")
        behaviour = self.behaviours.get(call.name)
        try:
            text = OWN_RESULTS.get(call.name, "Done.")
            if behaviour:
                text = yield maybeDeferred(behaviour, context, arguments)
        except Exception as error:  # noqa: BLE001  # as the game's own registry
            return failed_call(error, call.name not in SILENT)
        if call.name in ("say", "whisper"):
            self.spoken.append((call.name, arguments.get("text", ""), context.audience))
        return text if isinstance(text, ToolResult) else ToolResult("done", str(text))


class StandInWorld:
    """`ports.World` with one room; everybody in ``present`` hears."""

    def __init__(self, present: Audience = frozenset({"#5"})) -> None:
        self.present = present
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
    """`ports.SharedMemory` without any content."""

    def labels_of(self, character: Character) -> frozenset[str]:
        return frozenset()

    def told_by(self, assistant_id: int) -> list[Told]:
        return []

    def open_among(self, assistant_id: int, seqs: Iterable[int]) -> frozenset[int]:
        return frozenset()

    def tell(self, assistant_id: int, teller: str, now: datetime, new: Sequence[Telling]) -> None:
        """Store nothing."""

    def still_told(self, ids: Iterable[str]) -> frozenset[str]:
        return frozenset()

    def take_back(self, ids: Sequence[int]) -> None:
        """Delete nothing."""


class NoPendingActs:
    """`ports.PendingActs` without any."""

    def take(self) -> None:
        """Return none."""

    def finish(self, id: int, state: str, result: str) -> None:
        """Store nothing."""


class NoLongTermMemory:
    """`ports.SemanticMemory` of a game without any: nothing is asked of it."""

    is_off, was_used, trouble = True, False, "there is none here"


class StandInServices:
    """`ports.Services` on a fake clock."""

    def __init__(self, gateway: Gateway, embedder: Embedder | RemoteEmbedder | None = None) -> None:
        self.clock = Clock()
        self.slices = AtOnce()
        self.gateway = gateway
        self.toolbox = StandInToolbox()
        self.world = StandInWorld()
        self.semantic: Any = NoLongTermMemory()
        self.shared_memory = NoSharedMemory()
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


class MemorySegments:
    """`store.segments.Segments` in the dict ``entries`` of a store, by id."""

    is_loaded = True

    def __init__(self, store: InMemory, noticed: Watcher) -> None:
        self._entries = store.entries
        self._prefix = store.prefix
        self._noticed = noticed
        self._given_out = len(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def load_steps(self) -> Iterator[None]:
        return iter(())

    def held(self) -> Iterator[Record]:
        return iter(list(self._entries.values()))

    all = held

    def load_all(self) -> None:
        """Do nothing."""

    reset = load_all

    def get(self, id: str) -> Record | None:
        return self._entries.get(id)

    def select(self, ids: Iterable[str]) -> list[Record]:
        wanted = set(ids)
        return [record for record in self._entries.values() if record["id"] in wanted]

    def next_ids(self) -> Iterator[str]:
        return (f"{self._prefix}{number}" for number in count(self._given_out + 1))

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        changes = {known: new for known, new in records.items() if known in self._entries}
        self._given_out += len(added)
        for known, new in [*changes.items(), *((one["id"], one) for one in added)]:
            old = self._entries.pop(known, None) if new is None else self._entries.get(known)
            if new is not None:
                self._entries[known] = new
            self._noticed(old, new)


class NoSegments(MemorySegments):
    """Segments that drop every change."""

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        """Store nothing."""


class InMemory(RecordStore):
    """A store without a database; ``entries`` are its records by id."""

    stored_in = MemorySegments

    def __init__(self, now: Now | None = None, entries: dict[str, Record] | None = None) -> None:
        self.entries: dict[str, Record] = {} if entries is None else entries
        self._now = now
        super().__init__(None)
        for record in self.entries.values():
            self.noticed(None, record)

    def now(self) -> datetime:
        return self._now() if self._now else super().now()


class MemoryArchive(InMemory, JournalArchive):
    """A `JournalArchive`."""


class MemoryJournal(InMemory, Journal):
    """A `Journal`."""

    archive: Any = None

    def __init__(self, now: Now, entries: dict[str, Record] | None = None) -> None:
        super().__init__(now, entries)
        self.archive = MemoryArchive(now)


class EmptyProfiles(InMemory, EntityProfiles):
    """The profiles of a character that knows nobody, whatever happens."""

    stored_in = NoSegments
    is_loaded = False


class EmptyGoals(InMemory, Goals):
    """The goals of a character that wants nothing, whatever happens."""

    stored_in = NoSegments


class EmptyPlan(InMemory, DayPlan):
    """The plan of a character whose days are never planned."""

    stored_in = NoSegments
    is_stale = False

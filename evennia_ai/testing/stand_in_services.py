"""A toolbox, a world and services without Evennia, for tests of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred, succeed
from twisted.internet.task import Clock

from evennia_ai.errors import ToolError
from evennia_ai.messages import Audience, ToolCallRequest
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.records.shared_memory import Telling, Told
from evennia_ai.ports import (
    Character,
    Found,
    Gateway,
    Memories,
    Script,
    Services,
    Situation,
    ToolContext,
    ToolResult,
    ToolSpec,
    TurnRecord,
)
from evennia_ai.scheduling import Steps
from evennia_ai.testing.semantic import StandInSemantic

TOOLS = {"say": "final", "whisper": "final", "noop": "final", "look": "free", "give": "once"}
SILENT = frozenset({"noop", "look"})

Behaviour = Callable[[ToolContext, Mapping[str, Any]], Any]


class StandInToolbox:
    """Tools that only write down who was told what.

    ``behaviours`` replaces what a tool does: called with context and arguments, it returns text or
    a Deferred of it, or raises `ToolError`.
    """

    def __init__(self, categories: Mapping[str, str] = TOOLS) -> None:
        self.categories = dict(categories)
        self.behaviours: dict[str, Behaviour] = {}
        self.spoken: list[tuple[str, str, Audience]] = []

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """Every tool the context allows."""
        return [
            ToolSpec(
                name, category, name not in SILENT, name in SILENT, {"function": {"name": name}}
            )
            for name, category in self.categories.items()
            if context.allowed is None or name in context.allowed
        ]

    @inlineCallbacks
    def run(self, context: ToolContext, call: ToolCallRequest) -> Steps[ToolResult]:
        """Run a tool. Fires with its result; never fails."""
        if call.name not in self.categories:
            return ToolResult("failed", f"There is no tool '{call.name}'.")
        arguments = json.loads(call.arguments or "{}")
        try:
            text = yield maybeDeferred(
                self.behaviours.get(call.name, self.write_down), context, arguments
            )
        except ToolError as error:
            return ToolResult("failed", str(error))
        if call.name in ("say", "whisper"):
            self.spoken.append((call.name, arguments.get("text", ""), context.audience))
        return ToolResult("done", str(text))

    def write_down(self, context: ToolContext, arguments: Mapping[str, Any]) -> str:
        """What a tool does where nothing else was set."""
        return "Done."


class StandInWorld:
    """A room: whoever is in ``present`` hears."""

    def __init__(self, present: Audience = frozenset({"#5"})) -> None:
        self.present = present
        self.seen = Situation(place="Tavern", people=("Ann",))
        self.known: list[LoreEntry] = []
        self.names = {"#5": "Ann"}
        self.looks: dict[str, str] = {}

    def listeners(self, character: Character) -> Audience:
        """Who is there."""
        return self.present

    def situation(self, character: Character) -> Situation:
        """What is seen."""
        return self.seen

    def lore(
        self, character: Character, audience: Audience
    ) -> tuple[Sequence[LoreEntry], Audience]:
        """What is known; the character is everybody."""
        return self.known, frozenset({"all"})

    def name_of(self, character: Character, dbref: str) -> str:
        """What somebody is called, by ``names``."""
        return self.names.get(dbref, "")

    def looks_of(self, character: Character, dbref: str) -> str:
        """What something looks like, by ``looks``."""
        return self.looks.get(dbref, "")


class AtOnce:
    """Slices for tests: everything is done at once."""

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)``."""
        work(*args)


class NoMemories:
    """It wrote nothing down."""

    def __len__(self) -> int:
        """Nothing can be found."""
        return 0

    def prepare(self, services: Services, queries: Sequence[str] = ()) -> Deferred[None]:
        """Nothing is to be done."""
        return succeed(None)

    def search(self, *args: Any, **kwargs: Any) -> Sequence[Found]:
        """Nothing is found."""
        return ()


class NoSharedMemory:
    """Nobody tells anybody anything."""

    def with_hearsay(self, script: Script, own: Any) -> Memories:
        """Return its own memories."""
        memories: Memories = own
        return memories

    def labels_of(self, character: Character) -> frozenset[str]:
        """Return none."""
        return frozenset()

    def told_by(self, assistant_id: int) -> list[Told]:
        """Return none."""
        return []

    def open_among(self, assistant_id: int, seqs: Iterable[int]) -> frozenset[int]:
        """Return none."""
        return frozenset()

    def tell(self, assistant_id: int, teller: str, now: datetime, new: Sequence[Telling]) -> None:
        """Store nothing."""

    def take_back(self, ids: Sequence[int]) -> None:
        """Delete nothing."""


class StandInWatch:
    """A sleep timer that never sends anybody to sleep; ``kept`` are the ids of the assistants."""

    def __init__(self) -> None:
        self.kept: list[int] = []

    def keep(self, script: Script) -> None:
        """Write down who is to be checked."""
        self.kept.append(script.id)


class StandInServices:
    """What a script is given."""

    def __init__(self, gateway: Gateway) -> None:
        self.clock = Clock()
        self.epoch = 1
        self.slices = AtOnce()
        self.gateway = gateway
        self.toolbox = StandInToolbox()
        self.world = StandInWorld()
        self.semantic = StandInSemantic(off="there is none here")
        self.shared_memory = NoSharedMemory()
        self.watch = StandInWatch()
        self.profiles: dict[str, Mapping[str, Any]] = {}
        self.thoughts: list[tuple[int, bool]] = []
        self.compactions: list[tuple[str, Mapping[str, Any] | None]] = []

    def compacting(self, script: Script, reason: str, result: Mapping[str, Any] | None) -> None:
        """Write down how compactions go."""
        self.compactions.append((reason, result))

    def thinking(self, script: Script, turn: TurnRecord, begins: bool) -> None:
        """Write down that a turn's thought begins or ends."""
        self.thoughts.append((turn.id, begins))

    def now(self) -> datetime:
        """The fake clock's time, counted from the beginning of 2026."""
        start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        return datetime.fromtimestamp(start + self.clock.seconds(), UTC)

    def text(self, key: str) -> str:
        """Every line for players is its own name."""
        return f"({key})"

"""An assistant, a toolbox and a world without Evennia: the engine runs on them as it is."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred, succeed
from twisted.internet.task import Clock

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ToolError
from evennia_ai.messages import Audience, Heard, ToolCallRequest
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.conversation.persona import read_persona
from evennia_ai.policy.tokens import UsageReport, estimate_tokens
from evennia_ai.ports import Gateway, Situation, ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.testing.memory_stores import (
    MemoryConversation,
    MemoryInbox,
    MemoryJournal,
    MemoryTurns,
)
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
    def run(
        self, context: ToolContext, call: ToolCallRequest
    ) -> Generator[Deferred[Any], Any, ToolResult]:
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

    def listeners(self, character: Any) -> Audience:
        """Who is there."""
        return self.present

    def situation(self, character: Any) -> Situation:
        """What is seen."""
        return self.seen

    def lore(self, character: Any, audience: Audience) -> tuple[Sequence[LoreEntry], Audience]:
        """What is known; the character is everybody."""
        return self.known, frozenset({"all"})

    def name_of(self, character: Any, dbref: str) -> str:
        """What somebody is called, by ``names``."""
        return self.names.get(dbref, "")

    def looks_of(self, character: Any, dbref: str) -> str:
        """What something looks like, by ``looks``."""
        return self.looks.get(dbref, "")


class AtOnce:
    """Slices for tests: everything is done at once."""

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)``."""
        work(*args)


class NoMemories:
    """It wrote nothing down."""

    def prepare(self, services: Any, queries: Sequence[str] = ()) -> Deferred[None]:
        """Nothing is to be done."""
        return succeed(None)

    def search(self, *args: Any, **kwargs: Any) -> Sequence[Any]:
        """Nothing is found."""
        return ()


class StandInServices:
    """What a script is given."""

    def __init__(self, gateway: Gateway) -> None:
        self.clock: Any = Clock()
        self.slices = AtOnce()
        self.gateway = gateway
        self.toolbox = StandInToolbox()
        self.world = StandInWorld()
        self.semantic = StandInSemantic(off="there is none here")
        self.profiles: dict[str, Mapping[str, Any]] = {}
        self.thoughts: list[tuple[int, bool]] = []
        self.compactions: list[tuple[str, Mapping[str, Any] | None]] = []

    def compacting(self, script: Any, reason: str, result: Mapping[str, Any] | None) -> None:
        """Write down how compactions go."""
        self.compactions.append((reason, result))

    def thinking(self, script: Any, turn: TurnRecord, begins: bool) -> None:
        """Write down that a turn's thought begins or ends."""
        self.thoughts.append((turn.id, begins))

    def now(self) -> datetime:
        """The fake clock's time, counted from the beginning of 2026."""
        start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        return datetime.fromtimestamp(start + self.clock.seconds(), UTC)

    def text(self, key: str) -> str:
        """Every line for players is its own name."""
        return f"({key})"


class StandInScript:
    """Plays an `AssistantScript` for the engine."""

    def __init__(
        self,
        gateway: Gateway,
        config: AssistantConfig | None = None,
        persona: str | Mapping[str, Any] = "You are Mira, a barkeep.",
    ) -> None:
        self.id = 1
        self.db = SimpleNamespace(context_signals=None)
        self.prompt_overhead = 0
        self.told: list[tuple[str, str]] = []
        self.compaction_strikes = 0
        self.small_compactions = 0
        self.compaction_cost: Mapping[str, int] = {}
        self.troubles: list[str] = []
        self.count_text = estimate_tokens
        self.usage_reports: deque[UsageReport] = deque(maxlen=8)
        self.services = StandInServices(gateway)
        self.config = config or AssistantConfig()
        self.profile = ModelProfile("test", model="scripted")
        self.persona = read_persona(persona)
        self.character_name = "Mira"
        self.character = self
        self.conversation = MemoryConversation(self.services.now)
        self.journal = MemoryJournal(self.services.now)
        self.inbox = MemoryInbox(self.services.now)
        self.memories = NoMemories()
        self.partners: dict[str, datetime] = {}
        self.turns = MemoryTurns(self.conversation, self.inbox)

    def compact_on_overflow(self) -> Deferred[bool]:
        """Compact as an `AssistantScript` does."""
        from evennia_ai.sleep.emergency import (
            compact_on_overflow,  # this module is below the engine
        )

        return compact_on_overflow(self)

    def compact_in_emergency(self) -> Deferred[dict[str, Any] | None]:
        """Compact where there is need, as an `AssistantScript` does."""
        from evennia_ai.sleep.emergency import (
            compact_in_emergency,  # this module is below the engine
        )

        return compact_in_emergency(self)

    def is_in_conversation(self, dbref: str) -> bool:
        """True where they talked, however long ago."""
        return dbref in self.partners

    def tell(self, key: str, dbrefs: Iterable[str]) -> None:
        """Write down who is told which line that is not in the character's own voice."""
        self.told += [(key, dbref) for dbref in dbrefs]

    def pins(self, audience: Audience | None) -> Sequence[KnownLine]:
        """It keeps nothing in mind."""
        return ()

    def goals(self, audience: Audience | None) -> Sequence[KnownLine]:
        """It is after nothing."""
        return ()

    def occupation(self) -> Sequence[KnownLine]:
        """It is about nothing in particular."""
        return ()

    def journalled_since(self, at: str, audience: Audience | None) -> Sequence[str]:
        """It has no journal."""
        return ()

    def tell_owner(self, trouble: str) -> None:
        """Write it down."""
        self.troubles.append(trouble)

    def may_think(self) -> bool:
        """It always may."""
        return True

    def hears(
        self,
        text: str,
        speaker: str = "#5",
        name: str = "Ann",
        audience: Audience | None = None,
        **fields: Any,
    ) -> int:
        """Put words into the inbox that call for an answer; returns the event's id."""
        heard_by = frozenset({speaker}) if audience is None else audience
        defaults: dict[str, Any] = {"kind": "say", "addressed": True, **fields}
        return self.inbox.put(
            Heard(speaker=speaker, speaker_name=name, text=text, audience=heard_by, **defaults)
        )

    def whispered(self, text: str, speaker: str = "#5", name: str = "Ann") -> int:
        """Put a whisper into the inbox."""
        return self.hears(text, speaker, name, kind="whisper", private=True)

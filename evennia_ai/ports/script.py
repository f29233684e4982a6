"""The assistant, its character and what all assistants share.

These protocols name each other, so they are one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.messages import Audience, Situation, ToolCallRequest
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import Telling, Told
from evennia_ai.ports.assistant import AssistantLogs, AssistantSettings, PromptLines, StoredScript
from evennia_ai.ports.character import CharacterParts
from evennia_ai.ports.log import TurnRecord
from evennia_ai.ports.memory import Found, SemanticMemory
from evennia_ai.ports.models import Gateway
from evennia_ai.ports.tools import ToolResult, ToolSpec
from evennia_ai.scheduling import Clock


class Character(CharacterParts, Protocol):
    """What the engine, the tools and the commands use of an `AssistantCharacter`."""

    @property
    def assistant(self) -> Script | None:
        """Return the character's assistant, None if it has none."""


class Memories(Protocol):
    """The search over a character's journal and profiles."""

    def __len__(self) -> int:
        """Return how many memories can be found."""

    def prepare(self, services: Services, queries: Sequence[str] = ()) -> Deferred[None]:
        """Index recent changes and embed the queries.

        Fires when a search is quick; fails with StoreUnavailable.
        """

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        discretion: str = "strict",
        keep: Callable[[Record], bool] | None = None,
    ) -> Sequence[Found]:
        """Return the best matching records that all of an audience may know, best first.

        Args:
            query: what is asked or said.
            limit: the most records.
            audience: dbrefs of everybody who will hear the answer; None selects public records.
            now: the time, in UTC.
            discretion: "trusting" ignores the audience.
            keep: returns False for records to leave out; None keeps all.
        """


@dataclass(frozen=True)
class ToolContext:
    """The context of a tool call.

    Attributes:
        script: the assistant.
        character: its character.
        audience: dbrefs of everybody the prompt was built for.
        private: True if the prompt held anything that only ``audience`` may know.
        speakers: dbrefs of those whose new words are in the turn.
        whispered: True if the words that started the turn were whispered.
        askers: dbrefs of those who wait for the answer.
        hops: length of the chain of assistants' answers that led to the turn.
        allowed: names of the prompt context's tools, None for all.
        deadline_at: the clock's second at which the tool is cancelled.
        source_seqs: the messages that the call is about; empty for those this turn heard.
        remembered: dbrefs of those whose words were recalled. A tool's lock must let them pass too
            (P8), but they are no sources of what the tool writes down.
    """

    script: Script
    character: Character
    audience: Audience
    private: bool
    speakers: Audience
    whispered: bool = False
    askers: Audience = frozenset()
    hops: int = 0
    allowed: frozenset[str] | None = None
    deadline_at: float = 0.0
    source_seqs: tuple[int, ...] = ()
    remembered: Audience = frozenset()


class Toolbox(Protocol):
    """The tools an assistant may use."""

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """Return the tools that every author of the prompt may use, in a stable order."""

    def run(self, context: ToolContext, call: ToolCallRequest) -> Deferred[ToolResult]:
        """Check locks and arguments again and run the tool. Never fails: errors are results."""


class World(Protocol):
    """What a character perceives."""

    def listeners(self, character: Character) -> Audience:
        """Return the dbrefs of everybody who would hear the character, without itself."""

    def situation(self, character: Character) -> Situation:
        """Return what the character sees."""

    def lore(
        self, character: Character, audience: Audience
    ) -> tuple[Sequence[LoreEntry], Audience]:
        """Return all lore, and the labels of what character and audience may know."""

    def name_of(self, character: Character, dbref: str) -> str:
        """Return what the character calls somebody, empty if nobody has that dbref."""

    def looks_of(self, character: Character, dbref: str) -> str:
        """Return the description of something the character sees, empty if it does not."""


class Slices(Protocol):
    """A queue of work that shares the reactor fairly."""

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)`` soon, after everything put before it."""


class SharedMemory(Protocol):
    """What assistants of one faction, place or world told each other."""

    def labels_of(self, character: Character) -> frozenset[str]:
        """Return the scopes that a character belongs to now."""

    def told_by(self, assistant_id: int) -> list[Told]:
        """Return what an assistant has told."""

    def open_among(self, assistant_id: int, seqs: Iterable[int]) -> frozenset[int]:
        """Return those of some message numbers that were said in public."""

    def tell(self, assistant_id: int, teller: str, now: datetime, new: Sequence[Telling]) -> None:
        """Store what an assistant tells, in one transaction; raises StoreUnavailable."""

    def still_told(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of some records, by id, that nobody has taken back."""

    def take_back(self, ids: Sequence[int]) -> None:
        """Delete what was told, by row id, in one transaction; raises StoreUnavailable."""


class Watch(Protocol):
    """The timer that lets assistants fall asleep and wake."""

    def keep(self, script: Script) -> None:
        """Check an assistant regularly from now on."""


class Services(Protocol):
    """What the engine uses of what all assistants share.

    ``epoch`` is the number of this server process; ``profiles`` are the model profiles by name.
    """

    @property
    def clock(self) -> Clock:
        """Return the clock."""

    @property
    def epoch(self) -> int:
        """Return the number of this server process."""

    @property
    def slices(self) -> Slices:
        """Return the queue of work."""

    @property
    def gateway(self) -> Gateway:
        """Return the way to the models."""

    @property
    def toolbox(self) -> Toolbox:
        """Return the tools."""

    @property
    def world(self) -> World:
        """Return what characters perceive."""

    @property
    def profiles(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the model profiles by name."""

    @property
    def semantic(self) -> SemanticMemory:
        """Return the long-term memory."""

    @property
    def shared_memory(self) -> SharedMemory:
        """Return the memory that assistants share."""

    @property
    def watch(self) -> Watch:
        """Return the sleep timer."""

    def now(self) -> datetime:
        """Return the time in UTC."""

    def text(self, key: str) -> str:
        """Return a line for players that no model wrote."""

    def compacting(self, script: Script, reason: str, result: Mapping[str, Any] | None) -> None:
        """Announce that a compaction starts (result None) or ended. Never raises."""

    def thinking(self, script: Script, turn: TurnRecord, begins: bool) -> None:
        """Announce that a turn starts or ended. Never raises."""


class Script(StoredScript, AssistantSettings, AssistantLogs, PromptLines, Protocol):
    """What the engine, the tools and the timers use of an `AssistantScript`."""

    @property
    def character(self) -> Character:
        """Return the character of the assistant."""

    @property
    def services(self) -> Services:
        """Return what all assistants share."""

    @property
    def memories(self) -> Memories:
        """Return the search over journal, profiles and what others told."""

    def may_think(self) -> bool:
        """Return False while the assistant must not start anything."""

    def players_near(self) -> bool:
        """Return True if a player hears the character."""

    def wake(self) -> None:
        """Tick soon. Several calls before that tick make one tick."""

    def tick(self) -> None:
        """Tick now and log its errors."""

    def resolve_settings(self) -> None:
        """Read the settings again."""

    def tell(self, key: str, dbrefs: Iterable[str]) -> None:
        """Tell people a line about the character that is not its own speech."""

    def tell_owner(self, trouble: str) -> None:
        """Report a problem to the owner, once."""

    def compact_on_overflow(self) -> Deferred[bool]:
        """Compact at once without a model. Fires with True if this freed room."""

    def compact_in_emergency(self) -> Deferred[dict[str, Any] | None]:
        """Compact if the context is nearly full. Fires with the result, None if it is not."""

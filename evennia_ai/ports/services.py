"""What all assistants share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.messages import Audience, Situation
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.records.shared_memory import Telling, Told
from evennia_ai.ports.log import TurnRecord
from evennia_ai.ports.memory import Memories, SemanticMemory
from evennia_ai.ports.models import Gateway
from evennia_ai.ports.tools import Toolbox
from evennia_ai.scheduling import Clock

if TYPE_CHECKING:
    from evennia_ai.ports.character import Character
    from evennia_ai.ports.script import Script


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

    def with_hearsay(self, script: Script, own: Any) -> Memories:
        """Return an assistant's own memories (its index), with what others told it."""

    def labels_of(self, character: Character) -> frozenset[str]:
        """Return the scopes that a character belongs to now."""

    def told_by(self, assistant_id: int) -> list[Told]:
        """Return what an assistant has told."""

    def open_among(self, assistant_id: int, seqs: Iterable[int]) -> frozenset[int]:
        """Return those of some message numbers that were said in public."""

    def tell(self, assistant_id: int, teller: str, now: datetime, new: Sequence[Telling]) -> None:
        """Store what an assistant tells, in one transaction; raises StoreUnavailable."""

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


class Personas(Protocol):
    """Personas that characters share."""

    def all(self) -> dict[str, Persona]:
        """Return every shared persona by name."""

    def resolve(self, value: Any) -> Persona:
        """Return a persona from its Attribute; raises ConfigError for an unknown name."""

    def write(self, name: str, persona: Persona) -> None:
        """Store a shared persona."""


class Lore(Protocol):
    """The lore of the game."""

    def entries(self) -> tuple[LoreEntry, ...]:
        """Return every entry."""

    def find(self, title: str) -> LoreEntry | None:
        """Return the entry with a title, in any case."""

    def write(self, entry: LoreEntry) -> None:
        """Store an entry; replace the one with the same title."""

    def remove(self, title: str) -> bool:
        """Delete an entry written in the game; return whether it existed."""


class Recollections(Protocol):
    """The indices of the assistants' own memories."""

    def of(self, script: Script) -> Any:
        """Return the index of an assistant's journal and profiles."""

    def drop(self, script: Script) -> None:
        """Rebuild the index of an assistant at its next use."""


class Windows(Protocol):
    """The context windows that endpoints reported."""

    def told(self, base_url: str, model: str) -> int | None:
        """Return the reported window of a model in tokens, None if unknown."""


class Prober(Protocol):
    """Tests what an endpoint can do."""

    def probe(self, profile: ModelProfile, progress: Callable[..., Any], /) -> Deferred[Any]:
        """Test an endpoint. Fires with the findings."""


class LogRetention(Protocol):
    """Deletes old rows of the logs."""

    retention: Mapping[str, Any]

    def check(self) -> None:
        """Raise `AssistantError` if nothing can be deleted now."""

    def preview(self, assistant_id: int | None = None) -> Deferred[Any]:
        """Fires with a tally by table of what `purge` would delete now."""

    def purge(
        self, assistant_id: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Deferred[Any]:
        """Delete rows beyond the retention limits. Fires with a tally by table."""


class GameServices(Services, Protocol):
    """What the commands and the game use beyond `Services`.

    ``gateway`` and ``toolbox`` are Any here, since commands read figures that only the real ones
    have. ``accepting`` is False before the start and after the stop of the server;
    ``switched_off`` is the reason while an admin has stopped all assistants, else empty.
    """

    accepting: bool
    switched_off: str
    complaints: list[str]

    @property
    def gateway(self) -> Any:
        """Return the gateway, with ``health()`` and ``tight_budgets()``."""

    @property
    def toolbox(self) -> Any:
        """Return the tool registry, with ``tools`` by name."""

    @property
    def personas(self) -> Personas:
        """Return the shared personas."""

    @property
    def lore(self) -> Lore:
        """Return the lore of the game."""

    @property
    def recollections(self) -> Recollections:
        """Return the indices of the assistants' memories."""

    @property
    def windows(self) -> Windows:
        """Return the windows that endpoints reported."""

    @property
    def prober(self) -> Prober:
        """Return the test of endpoints."""

    @property
    def log_retention(self) -> LogRetention:
        """Return the retention of the logs."""

    def attend(self, script: Script) -> None:
        """Tick an assistant while players are near."""

    def resume(self) -> None:
        """Resume interrupted work."""

    def quiesce(self) -> None:
        """Start no turn any more and drop those in flight."""

    def switch_off(self, reason: str) -> None:
        """Stop all assistants, until `switch_on`."""

    def switch_on(self) -> None:
        """Let the assistants think again."""

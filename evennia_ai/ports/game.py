"""What the commands and the game use beyond the engine's ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.ports.log import GameInbox
from evennia_ai.ports.script import Script, Services


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


class MemoryIndices(Protocol):
    """The search indices over memories, one a character and one a scope that shares."""

    def of_character(self, script: Script) -> Any:
        """Return the index of an assistant's journal and profiles."""

    def of_scope(self, scope: str) -> Any:
        """Return the index of what a scope was told."""

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
    recall_trouble: str

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
    def memory_indices(self) -> MemoryIndices:
        """Return the search indices over memories."""

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


class GameScript(Script, Protocol):
    """What the commands and the game use of an `AssistantScript` beyond `Script`."""

    @property
    def services(self) -> GameServices:
        """Return what all assistants share."""

    @property
    def inbox(self) -> GameInbox:
        """Return the stored events."""

    @property
    def attributes(self) -> Any:
        """Return Evennia's handler of Attributes."""

    @property
    def complaints(self) -> list[str]:
        """Return one sentence for each stored value or setting that cannot be used."""

    @property
    def warnings(self) -> list[str]:
        """Return the problems reported since the server start."""

    def own_settings(self) -> dict[str, Any]:
        """Return the settings stored on this assistant itself."""

    def hear(self, kind: str, words: str, speaker: Any) -> None:
        """Store what the character heard; wake if it calls for an answer."""

    def notify(self, text: str, importance: int = 5) -> None:
        """Tell the character about something that happened in the game."""

    def note_arrival(self, newcomer: Any) -> None:
        """Let one of the assistants present react to a player who arrived."""

    def notice_move(self, mover: Any) -> None:
        """Store that somebody arrived or left, once the move is done."""

    def notice_presence(self) -> None:
        """Wake, since somebody may have entered the game."""

    def notice_place(self) -> None:
        """Wake if players are near, since the character is in another place."""

    def stop_thinking(self) -> None:
        """Stop the assistant and drop the turn in flight."""

    def drop_turn(self, reason: str) -> list[str]:
        """End the turn in flight, if any; return the dbrefs of those who wait for it."""

    def forget(self, dbref: str) -> None:
        """Drop from memory what the tables no longer hold about somebody."""

    def compact(self, order: Any) -> Deferred[dict[str, Any]]:
        """Compact on an admin's request (`CompactionRequest`). Fires with the result."""

    def delete(self) -> bool:
        """Delete the assistant; return whether this happened."""

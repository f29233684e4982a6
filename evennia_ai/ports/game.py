"""What the commands and the game use beyond the engine's ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.messages import Authors, Heard
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.ports.log import GameInbox
from evennia_ai.ports.script import Script, Services


class Personas(Protocol):
    """Personas that characters share."""

    def all(self) -> dict[str, Persona]: ...
    def resolve(self, value: Any) -> Persona: ...  # from its Attribute; raises ConfigError
    def authors_of(self, value: Any) -> Authors: ...  # of the shared persona in its Attribute
    def write(self, name: str, persona: Persona, authors: Iterable[str] = ()) -> None: ...


class Lore(Protocol):
    """The lore of the game; titles are found in any case."""

    def entries(self) -> tuple[LoreEntry, ...]: ...
    def find(self, title: str) -> LoreEntry | None: ...
    def write(self, entry: LoreEntry) -> None: ...  # replaces the one with the same title
    def remove(self, title: str) -> bool: ...  # only an entry written in the game


class MemoryIndices(Protocol):
    """The search indices over memories, one a character and one a scope that shares."""

    def of_character(self, script: Script) -> Any: ...
    def of_scope(self, scope: str) -> Any: ...
    # Frees the memory of its index and of its view; the next use loads them again.
    def drop(self, script: Script) -> None: ...


class Endpoints(Protocol):
    """What is known of endpoints (`llm.endpoint_facts`)."""

    # Returns the profile with what is known of its endpoint and the model.
    def told(self, profile: ModelProfile) -> ModelProfile: ...


class Prober(Protocol):
    """Tests what an endpoint can do."""

    def probe(self, profile: ModelProfile, progress: Callable[..., Any], /) -> Deferred[Any]: ...


class LogRetention(Protocol):
    """Deletes old rows of the logs. The Deferreds fire with a tally by table."""

    retention: Mapping[str, Any]

    def check(self) -> None: ...  # raises `AssistantError` if nothing can be deleted now
    def preview(self, assistant_id: int | None = None) -> Deferred[Any]: ...
    def purge(
        self, assistant_id: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Deferred[Any]: ...


class CrowdControl(Protocol):
    """What every person causes lately (`policy.limits.people`)."""

    @property
    def trouble(self) -> str: ...  # the latest alert of staff while it is fresh, else empty
    def judge(self, heard: Heard, listener: str) -> str: ...  # why it is not answered; else empty
    def should_tell(self, speaker: str) -> bool: ...  # False if they read a refusal lately


class Overheard(Protocol):
    """What assistants overheard in this stretch of the reactor (`store.overheard`)."""

    def put(self, script: Script, heard: Heard) -> None: ...  # stored soon, with all others
    def flush_before(self, script: Script) -> None: ...  # stores all now, if it has any
    def flush(self) -> None: ...


class GameServices(Services, Protocol):
    """What the commands and the game use beyond `Services`.

    ``gateway`` and ``toolbox`` are Any here, since commands read figures that only the real ones
    have. ``accepting`` is False before the start and after the stop of the server;
    ``switched_off`` is the reason while an admin has stopped all assistants, else empty.
    ``schema_trouble`` says why the tables cannot be used, else it is empty; then nothing is stored,
    and `answer_unlogged` answers.
    """

    accepting: bool
    switched_off: str
    schema_trouble: str
    complaints: list[str]
    recall_trouble: str
    who_may_read: dict[str, str]  # the permission by kind of content; see `policy.disclosure`

    def answer_unlogged(self, script: GameScript, heard: Heard) -> None: ...
    @property
    def gateway(self) -> Any: ...  # with ``health()`` and ``tight_budgets()``
    @property
    def toolbox(self) -> Any: ...  # with ``tools`` by name
    @property
    def personas(self) -> Personas: ...
    @property
    def lore(self) -> Lore: ...
    @property
    def memory_indices(self) -> MemoryIndices: ...
    @property
    def endpoints(self) -> Endpoints: ...
    @property
    def prober(self) -> Prober: ...
    @property
    def log_retention(self) -> LogRetention: ...
    @property
    def crowd(self) -> CrowdControl: ...
    @property
    def forgetting(self) -> Any: ...  # `services.forgetting.ForgettingService`
    @property
    def lines(self) -> Any: ...  # `game.room_lines.RoomLines`
    @property
    def overheard(self) -> Overheard: ...
    def attend(self, script: Script) -> None: ...  # ticks it while players are near
    def quiesce(self) -> None: ...  # no turn starts any more; those in flight are dropped
    def switch_off(self, reason: str) -> None: ...  # stops all assistants until `switch_on`
    def switch_on(self) -> None: ...


class GameScript(Script, Protocol):
    """What the commands and the game use of an `AssistantScript` beyond `Script`."""

    @property
    def services(self) -> GameServices: ...
    @property
    def inbox(self) -> GameInbox: ...
    @property
    def attributes(self) -> Any: ...  # Evennia's handler
    @property
    def complaints(self) -> list[str]: ...  # a sentence for each stored value that cannot be used
    @property
    def warnings(self) -> list[str]: ...  # the problems reported since the server start
    def own_settings(self) -> dict[str, Any]: ...
    def hear(
        self, kind: str, words: str, speaker: Any, item: str = "", authors: Authors = frozenset()
    ) -> None: ...
    def note_arrival(self, newcomer: Any) -> None: ...
    def notice_move(self, mover: Any) -> None: ...
    def notice_presence(self) -> None: ...
    def notice_place(self) -> None: ...
    def notice_unpuppet(self) -> None: ...
    def stop_thinking(self) -> None: ...
    def drop_turn(self, reason: str) -> list[str]: ...
    def forget(self, dbref: str) -> None: ...
    def compact(self, order: Any) -> Deferred[dict[str, Any]]: ...  # a `CompactionRequest`
    def delete(self) -> bool: ...

"""What the commands and the game use of services and scripts beyond the engine's ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import Authors, Heard
from evennia_ai.ports import Script, Services

if TYPE_CHECKING:  # a typeclass imports this module: without NumPy and the rest, in half the time
    from evennia_ai.game.crowd import CrowdControl
    from evennia_ai.game.room_lines import RoomLines
    from evennia_ai.llm.endpoint_facts import EndpointRegistry
    from evennia_ai.llm.probe import Prober
    from evennia_ai.memory.index_cache import IndexCache
    from evennia_ai.store.conversation import TableConversation
    from evennia_ai.store.inbox import OverheardQueue, TableInbox
    from evennia_ai.store.loaded import LoadedMinds
    from evennia_ai.store.lore_records import LoreRecords, PersonaRecords
    from evennia_ai.store.processes import SingleProcess
    from evennia_ai.store.turns import TableTurns


class LogRetention(Protocol):
    """Deletes old rows of the logs. The Deferreds fire with a tally by table."""

    retention: Mapping[str, Any]

    def check(self) -> None: ...  # raises `AssistantError` if nothing can be deleted now
    def preview(self, assistant_id: int | None = None) -> Deferred[Any]: ...
    def purge(
        self, assistant_id: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Deferred[Any]: ...


class Processes(Protocol):
    """The server processes on this database (`services.server_processes`)."""

    # Holds the assistant's lease; raises RunElsewhere and StoreUnavailable.
    def lease(self, script: GameScript) -> AbstractContextManager[None]: ...
    def refresh(self, script: GameScript) -> None: ...  # reads what another process stored


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

    def make_turns(self, script: GameScript) -> TableTurns: ...
    def answer_unlogged(self, script: GameScript, heard: Heard) -> None: ...
    @property
    def process(self) -> SingleProcess: ...
    @property
    def processes(self) -> Processes: ...
    @property
    def gateway(self) -> Any: ...  # with ``health()`` and ``budgets``
    @property
    def toolbox(self) -> Any: ...  # with ``tools`` by name
    @property
    def personas(self) -> PersonaRecords: ...
    @property
    def lore(self) -> LoreRecords: ...
    @property
    def memory_indices(self) -> IndexCache: ...
    @property
    def loaded(self) -> LoadedMinds: ...
    @property
    def endpoints(self) -> EndpointRegistry: ...
    @property
    def prober(self) -> Prober: ...
    @property
    def log_retention(self) -> LogRetention: ...
    @property
    def crowd(self) -> CrowdControl: ...
    @property
    def forgetting(self) -> Any: ...  # `services.forgetting.ForgettingService`
    @property
    def lines(self) -> RoomLines: ...
    @property
    def overheard(self) -> OverheardQueue: ...
    def attend(self, script: Script) -> None: ...  # ticks it while players are near
    def quiesce(self) -> None: ...  # no turn starts any more; those in flight are dropped
    def switch_off(self, reason: str) -> None: ...  # stops all assistants until `switch_on`
    def switch_on(self) -> None: ...


class GameScript(Script, Protocol):
    """What the commands and the game use of an `AssistantScript` beyond `Script`."""

    @property
    def services(self) -> GameServices: ...
    @property
    def inbox(self) -> TableInbox: ...
    @property
    def conversation(self) -> TableConversation: ...
    @property
    def turns(self) -> TableTurns: ...
    @property
    def attributes(self) -> Any: ...  # Evennia's handler
    @property
    def complaints(self) -> list[str]: ...  # a sentence for each stored value that cannot be used
    @property
    def warnings(self) -> list[str]: ...  # the problems reported since the server start
    def own_settings(self) -> dict[str, Any]: ...
    def prompt_tokens(self, config: AssistantConfig) -> int: ...  # of its next prompt, estimated
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
    def break_off(self) -> None: ...
    def forget(self, dbref: str) -> None: ...
    def read_again(self) -> None: ...  # after another process may have changed it
    def compact(self, order: Any) -> Deferred[dict[str, Any]]: ...  # a `CompactionRequest`
    def delete(self) -> bool: ...

"""The turns of an assistant for observers: `services.metrics` and `services.tracing`.

Every turn, model call and tool call passes here on its way to the tables, whatever started it.
Without observers, assistants use `TableTurns` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from twisted.logger import Logger

from evennia_ai.messages import Audience, InboxEvent, Message, ToolCallRequest, turn_label
from evennia_ai.ports import ModelCallRecord, TurnRecord
from evennia_ai.ports.observing import Observer, OpenTurn, ToolRun
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.processes import SingleProcess
from evennia_ai.store.recovery import INTERRUPTED
from evennia_ai.store.turns import UNHEARD, TableTurns

log = Logger()


class ObservedTurns(TableTurns):
    """`TableTurns` that tells its observers; an error of theirs is logged and changes nothing."""

    def __init__(self, observers: Sequence[Observer], name: str, *args: Any) -> None:
        super().__init__(*args)
        self._observers, self._name = observers, name
        self._open: OpenTurn | None = None
        self._acts: dict[int, ToolRun] = {}

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn as `TableTurns` does, and tell."""
        record = super().begin(events, audience, private, context)
        if self._open is not None:  # an error left it open
            self._ended(self._open.id, INTERRUPTED)
        self._open = OpenTurn(record.id, self._name, context, self.now())
        self._tell("turn_began", record.id, self._open)
        return record

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn as `TableTurns` does, and tell."""
        super().finish(turn_id, outcome, detail)
        self._ended(turn_id, outcome)

    def give_back(self, turn_id: int) -> None:
        """Close a turn that nobody could hear as `TableTurns` does, and tell."""
        super().give_back(turn_id)
        self._ended(turn_id, UNHEARD)

    def recover(self) -> None:
        """Close the turn that an error left open as `TableTurns` does, and tell."""
        turn_id = self.current
        super().recover()
        self._ended(turn_id, INTERRUPTED)

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store a model call as `TableTurns` does, and tell."""
        super().record_model_call(turn_id, call)
        self._tell("model_called", turn_id, turn_id, call, self.now())

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store the intent of a tool call as `TableTurns` does, and remember it until its end."""
        act_id = super().intend(turn_id, call, world)
        self._acts[act_id] = ToolRun(call, turn_id, self.now())
        return act_id

    def record_outcome(
        self, act: int, state: str, result: str, messages: Sequence[Message] = (), locks: str = ""
    ) -> None:
        """Store a tool call's outcome as `TableTurns` does, and tell."""
        super().record_outcome(act, state, result, messages, locks)
        if act in self._acts:
            run = replace(self._acts.pop(act), state=state)
            self._tell("tool_called", run.turn_id, run, self.now())

    def _ended(self, turn_id: int | None, outcome: str) -> None:
        if self._open is not None and self._open.id == turn_id:
            turn, self._open, self._acts = self._open, None, {}
            self._tell("turn_ended", turn_id, turn, outcome, self.now())

    def _tell(self, hook: str, turn_id: int | None, *args: Any) -> None:
        for observer in self._observers:
            try:
                getattr(observer, hook)(*args)
            except Exception:  # noqa: BLE001  # a game's exporter must not cost a player the answer
                who = f"{self._name}, {turn_label(turn_id)}"
                log.failure(
                    "{who}: {observer!r} failed; the turn goes on", who=who, observer=observer
                )


def make_turns(
    observers: Sequence[Observer],
    now: Callable[[], datetime],
    process: SingleProcess,
    assistant_id: int,
    name: str,
    log: TableConversation,
    may_think: Callable[[], bool],
) -> TableTurns:
    """Return the turns of an assistant."""
    table = (assistant_id, log, now, process, may_think)
    if observers:
        return ObservedTurns(observers, name, *table)
    return TableTurns(*table)

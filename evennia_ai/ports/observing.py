"""Observers of what assistants do, such as `services.metrics` and `services.tracing`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from evennia_ai.messages import ToolCallRequest
from evennia_ai.ports.log import ModelCallRecord


@dataclass(frozen=True)
class OpenTurn:
    """A turn that has begun; ``name`` is the character's, ``context`` that of its prompt."""

    id: int
    name: str
    context: str
    at: datetime


@dataclass(frozen=True)
class ToolRun:
    """One tool call; ``state`` is its outcome."""

    call: ToolCallRequest
    turn_id: int
    at: datetime
    state: str = ""


class Observer(Protocol):
    """Is told what assistants do, in the reactor's thread, after it was stored."""

    def turn_began(self, turn: OpenTurn) -> None: ...
    def turn_ended(self, turn: OpenTurn, outcome: str, at: datetime) -> None: ...
    def model_called(self, turn_id: int | None, call: ModelCallRecord, at: datetime) -> None: ...
    def tool_called(self, run: ToolRun, at: datetime) -> None: ...

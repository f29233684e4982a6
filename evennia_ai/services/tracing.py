"""OpenTelemetry spans of turns: ``AI_ASSISTANT["TRACING"]`` and the extra ``tracing``.

By the semantic conventions for generative AI of version 1.41: a turn is ``invoke_agent``, and in it
each model call is ``chat`` and each tool call ``execute_tool``. The game chooses the SDK and the
exporter. Deferreds lose context variables, so that each span is given its parent. No span holds a
word that was said: its turn's number leads to them, for whoever may read them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from evennia_ai import __version__
from evennia_ai.config.resolve import read_switch
from evennia_ai.memory.extras import Extra
from evennia_ai.messages import OFFLINE
from evennia_ai.ports import ModelCallRecord
from evennia_ai.ports.observing import OpenTurn, ToolRun
from evennia_ai.store.turns import INTERRUPTED

EXTRA = Extra(
    "tracing", "opentelemetry-api", "opentelemetry.trace", "AI_ASSISTANT['TRACING'] has no effect"
)
SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
TURN = "evennia_ai.turn"  # the turn's number, as in the log, the tables and the request header
FAILED_TURNS = frozenset({"excused", "expired", INTERRUPTED})
MOST_TURN_S = 3_600.0  # an older turn was lost, such as that of a deleted assistant
FAILED_CALLS = frozenset({"failed", "unknown"})


class Tracing:
    """An `Observer` that writes spans; ``api`` is the module ``opentelemetry.trace``."""

    def __init__(self, api: Any) -> None:
        self._api = api
        self._tracer = api.get_tracer("evennia_ai", __version__, schema_url=SCHEMA)
        self._turns: dict[int, tuple[OpenTurn, Any]] = {}  # with their spans, oldest first

    def turn_began(self, turn: OpenTurn) -> None:
        """Begin the span of a turn; end those of turns that must be lost."""
        for lost, _span in list(self._turns.values()):
            if (turn.at - lost.at).total_seconds() <= MOST_TURN_S:
                break
            self.turn_ended(lost, INTERRUPTED, turn.at)
        attributes = {"gen_ai.agent.name": turn.name, "evennia_ai.context": turn.context}
        span = self._begin("invoke_agent", turn.name, turn.id, turn.at, attributes)
        self._turns[turn.id] = turn, span

    def turn_ended(self, turn: OpenTurn, outcome: str, at: datetime) -> None:
        """End the span of a turn."""
        _turn, span = self._turns.pop(turn.id, (turn, None))
        if span is not None:
            span.set_attribute("evennia_ai.outcome", outcome)
            self._end(span, at, outcome if outcome in FAILED_TURNS else "")

    def model_called(self, turn_id: int | None, call: ModelCallRecord, at: datetime) -> None:
        """Write the span of a model call, which has ended."""
        attributes: dict[str, Any] = {
            "gen_ai.provider.name": "evennia_ai" if call.model == OFFLINE else "openai",
            "gen_ai.request.model": call.model,
            "evennia_ai.profile": call.profile,
            "evennia_ai.purpose": call.purpose,
        }
        if call.finish_reason:
            attributes["gen_ai.response.finish_reasons"] = (call.finish_reason,)
        if call.usage is not None:
            attributes["gen_ai.usage.input_tokens"] = call.usage.prompt_tokens
            attributes["gen_ai.usage.output_tokens"] = call.usage.completion_tokens
            if call.usage.cached_tokens is not None:
                attributes["gen_ai.usage.cache_read.input_tokens"] = call.usage.cached_tokens
        began = at.timestamp() - call.duration_ms / 1_000
        span = self._begin("chat", call.model, turn_id, began, attributes)
        self._end(span, at, call.error_kind)

    def tool_called(self, run: ToolRun, at: datetime) -> None:
        """Write the span of a tool call, which has ended."""
        attributes = {
            "gen_ai.tool.name": run.call.name,
            "gen_ai.tool.call.id": run.call.id,
            "gen_ai.tool.type": "function",
            "evennia_ai.outcome": run.state,
        }
        span = self._begin("execute_tool", run.call.name, run.turn_id, run.at, attributes)
        self._end(span, at, run.state if run.state in FAILED_CALLS else "")

    def _begin(
        self,
        operation: str,
        subject: str,
        turn_id: int | None,
        at: datetime | float,
        attributes: dict[str, Any],
    ) -> Any:
        """Begin a span, in that of its turn if there is one."""
        _turn, parent = self._turns.get(turn_id or 0, (None, self._api.INVALID_SPAN))
        kinds = self._api.SpanKind
        attributes["gen_ai.operation.name"] = operation
        if turn_id is not None:
            attributes[TURN] = turn_id
        return self._tracer.start_span(
            f"{operation} {subject}",
            context=self._api.set_span_in_context(parent),
            kind=kinds.CLIENT if operation == "chat" else kinds.INTERNAL,
            attributes=attributes,
            start_time=nanoseconds(at),
        )

    def _end(self, span: Any, at: datetime, error: str) -> None:
        if error:
            span.set_attribute("error.type", error)
            span.set_status(self._api.StatusCode.ERROR)
        span.end(end_time=nanoseconds(at))


def nanoseconds(at: datetime | float) -> int:
    """Return a time in unix nanoseconds."""
    return int((at if isinstance(at, float) else at.timestamp()) * 1e9)


def make_tracing(value: Any) -> Tracing | None:
    """Return the tracing that a game's setting asks for, None for none; raises ConfigError."""
    return Tracing(EXTRA.load()) if read_switch(value) else None

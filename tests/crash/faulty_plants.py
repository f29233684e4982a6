"""Bugs to plant into the engine, which show that games with faults find them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.db import OperationalError, transaction

from evennia_ai import models
from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import IncomingEvent, ToolCallRequest
from evennia_ai.models.fields import new_token
from evennia_ai.ports import ToolResult
from evennia_ai.store import conversation, inbox, turns
from evennia_ai.store.inbox_queue import HearingAssistant, InboxQueue, WaitingLines
from evennia_ai.store.turns import TableTurns
from tests.simulation import world
from tests.simulation.plants import Plant, plant

real_begin = TableTurns.begin


@contextmanager
def only_busy() -> Iterator[None]:
    """Take only a busy database for unavailable, and no other error."""
    try:
        with transaction.atomic():
            yield
    except OperationalError as error:
        raise StoreUnavailable(str(error)) from error


def store_if_first(queue: InboxQueue, listener: HearingAssistant, heard: IncomingEvent) -> None:
    """Leave it to a retry, which may never come, to store an event after others."""
    lines = queue._waiting.setdefault(listener, WaitingLines())
    lines.items.append(replace(heard, token=new_token()))
    if len(lines.items) == 1:
        queue._store_waiting(listener)


def wait_for_ever(queue: InboxQueue, listener: HearingAssistant) -> None:
    """Let an event that cannot be stored keep all later ones waiting."""
    heard = queue._waiting[listener].items
    while heard:
        (event_id,) = queue._store([(listener.assistant_id, heard[0])])
        listener.attend_to(heard.popleft(), event_id)


def acts_by_time(table: TableTurns, turn_id: int) -> tuple[ToolCallRequest, ...]:
    """Look for earlier acts by the time of the first turn."""
    rows = models.ToolCall.objects.filter(
        assistant_id=table.assistant_id,
        at__gte=models.Turn.objects.get(id=turn_id).at,
        world=True,
        state__in=("done", "unknown"),
        turn__outcome__in=("interrupted", "unheard"),
    )
    return tuple(ToolCallRequest(r.call_id, r.name, r.arguments) for r in rows.order_by("id"))


def acts_of_the_latest(table: TableTurns, events: Any, *more: Any) -> Any:
    """Look for earlier acts from the newest retried line on, not from the oldest."""
    real = table._acts_since
    firsts = table._first_turns([event for event in events if event.attempts])
    table._acts_since = lambda turn_id: real(max(firsts.values()))  # type: ignore[method-assign]
    try:
        return real_begin(table, events, *more)
    finally:
        del table._acts_since


def failed_for_sure(error: Exception, in_doubt: bool) -> ToolResult:
    """Take an act whose tool raised for one that did not happen."""
    return ToolResult("failed", str(error))


def do_nothing(*arguments: Any) -> None:
    """Leave out what should happen."""


PLANTS: dict[str, Plant] = {
    "only a busy database counts as unavailable": Plant(
        "P1",
        tuple((module, "brief_transaction", only_busy) for module in (inbox, turns, conversation)),
    ),
    "an event that cannot be stored keeps the next one waiting": Plant(
        "P1", ((InboxQueue, "_store_waiting", wait_for_ever), (InboxQueue, "put", store_if_first))
    ),
    "earlier acts are found by time": plant("P2", TableTurns, "_acts_since", acts_by_time),
    "earlier acts are those of the newest line": plant(
        "P2", TableTurns, "begin", acts_of_the_latest
    ),
    "an act that raised counts as not done": plant("P2", world, "failed_call", failed_for_sure),
    "a puppet of a moment does not end the lease": plant(
        "P2", TableTurns, "lose_lease", do_nothing
    ),
}

"""Bugs to plant into the stores, which show that the kills find them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from evennia_ai.policy.conversation.batching import state_after_loss
from evennia_ai.store import turns
from evennia_ai.store.conversation import TableCompactions, TableConversation
from evennia_ai.store.rows import message_from_row
from evennia_ai.store.turns import TableTurns
from tests.simulation.plants import Plant, plant

real_begin = TableTurns.begin
real_outcome = TableTurns.record_outcome


def outcome_then_messages(
    table: TableTurns, act_id: int, state: str, result: str, messages: Any = (), locks: str = ""
) -> None:
    """One transaction is split in two."""
    real_outcome(table, act_id, state, result)
    table.conversation.append(messages)


def answered_waits_again(*about: Any, **more: Any) -> str:
    """After a kill, answered speech counts as unanswered."""
    state = state_after_loss(*about, **more)
    return "waiting" if state == "answered" else state


def forget_intent(table: TableTurns, turn_id: int, call: Any, world: bool) -> int:
    """An act is done without a stored intent."""
    return 0


@contextmanager
def no_transaction() -> Iterator[None]:
    """Each statement is its own transaction."""
    yield


def begin_in_pieces(table: TableTurns, *about: Any) -> Any:
    """The claim on events and their messages are not stored together."""
    with patch.object(turns, "brief_transaction", no_transaction):
        return real_begin(table, *about)


def mask_in_memory(table: TableCompactions, *about: Any) -> None:
    """A mask lasts only until the process ends."""


def view_stays(conversation: TableConversation, rows: Any) -> list[Any]:
    """A logged message comes into view only after a restart."""
    return [message_from_row(row) for row in rows]


PLANTS: dict[str, Plant] = {
    "an outcome and its messages are stored apart": plant(
        "P3", TableTurns, "record_outcome", outcome_then_messages
    ),
    "a turn begins in pieces": plant("P1", TableTurns, "begin", begin_in_pieces),
    "what was answered waits again": plant("P2", turns, "state_after_loss", answered_waits_again),
    "intents are not stored": plant("P2", TableTurns, "intend", forget_intent),
    "masks are not stored": plant("P3", TableCompactions, "mask", mask_in_memory),
    "what is logged is not in view": plant("P3", TableConversation, "extend_view", view_stays),
}

"""Stores in memory after a restart: the same rows in a new process."""

from collections.abc import Callable

from tests.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns, Now


class ReopenedTurns(MemoryTurns):
    """The turns of a process that is not the first."""

    def recover_open_turns(self) -> int:
        """Close the turns of earlier processes; return how many."""
        turns = enumerate(self.turns, 1)
        gone = [number for number, turn in turns if not turn.outcome and number != self.current]
        for turn_id in gone:
            self.recover_turn(turn_id)
        return len(gone)


def after_restart(
    turns: MemoryTurns, now: Now, may_go_on: Callable[[], bool] = lambda: True
) -> ReopenedTurns:
    """Return the turns of the next process: the same rows, an empty memory and no open turn.

    Its ``inbox`` and ``conversation`` are new as well.
    """
    conversation, inbox, rows = MemoryConversation(now), MemoryInbox(now), turns.conversation
    conversation.messages = conversation.lines.messages = rows.messages
    conversation.moves, inbox.rows = rows.moves, turns.inbox.rows
    again = ReopenedTurns(conversation, inbox, may_go_on)
    again.turns, again.acts, again.loose_calls = turns.turns, turns.acts, turns.loose_calls
    return again

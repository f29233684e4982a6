"""``aipromises``: what a character promised, what others promised it, and its letters."""

from evennia_ai.commands.common import AICommand, CommandResult, UsageError
from evennia_ai.commands.rendering import seen_lines
from evennia_ai.contrib.promises.promise_records import (
    CANCELLED,
    LETTER,
    OPEN,
    THEIRS,
    Promises,
    due_words,
)
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.record import Record
from evennia_ai.store.names import list_names

LINE_CHARS = 200
REASONS = {"no_way": "no way there", "held_up": "held up", "cancelled": "cancelled"}


class CmdAIPromises(AICommand):
    """list and cancel the promises, appointments and letters of an NPC

    Usage:
      aipromises <character>
      aipromises/cancel <character> = <number>

    An NPC goes to its appointments by itself, in time, waits there, and goes back.
    If it could not keep one, it tells the other person once, with the reason. A
    message for somebody who is away it tells that person alone, when they meet.

    To make one, say to the NPC, for example:
      say Mira, meet me at the old gate at dusk.
      say Mira, tell Ann that the boat is ready.
    If nothing was noted, |waiwhy Mira|n tells admins why.

    Without a switch: all that is open, and the last that is over, with how it
    ended. Only admins see what was agreed in a whisper, and letters.

    Switches:
      cancel - call off an open promise by its number; the other person is told

    Example:
      aipromises/cancel Mira = p3
    """

    key = "aipromises"
    switch_options = ("cancel",)

    def run(self) -> CommandResult:
        find = self.find_editable if self.switch else self.find_assistant
        find(self.lhs)
        return self.dispatch()

    def do_default(self) -> None:
        every = Promises.of(self.script.character).all()
        lines = seen_lines(self.reader, every, self.line)
        self.msg("\n".join(lines) or f"{self.name} has no promises, appointments or letters.")

    def do_cancel(self) -> None:
        record = Promises.of(self.script.character).get(self.rhs.strip().lower())
        if record is None or not may_read(self.reader, record):
            raise UsageError(
                f"There is no promise '{clean_output(self.rhs, 40)}'. |waipromises {self.name}|n "
                "lists them."
            )
        count_shown(self.reader, record)
        if record["state"] != OPEN:
            raise UsageError(f"{record['id']} is {record['state']} already.")
        is_told = record["kind"] in (LETTER, THEIRS)
        changes = {"state": CANCELLED, "reason": "cancelled", "told": is_told}
        Promises.of(self.script.character).update(record["id"], **changes)
        self.extension("promises").keeper.attend(self.script.character)
        self.msg(f"Cancelled: {self.line(record)}")

    def line(self, record: Record) -> str:
        who = list_names([record["entity"]])
        if record["kind"] == LETTER:
            about = f"letter for {who} from {list_names([record['source_entity']])}"
        else:
            about = f"{who} promised" if record["kind"] == THEIRS else f"promised to {who}"
        state = record["state"] + (record["reason"] and f": {REASONS[record['reason']]}")
        due = due_words(record, self.services.world_clock)
        details = clean_output(", ".join(filter(None, (about, due, state))), LINE_CHARS)
        return f"|w{record['id']}|n {clean_output(record['content'], LINE_CHARS)} |x({details})|n"

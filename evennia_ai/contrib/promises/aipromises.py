"""``aipromises``: what a character promised, and what others promised it."""

from evennia_ai.commands.common import AICommand
from evennia_ai.commands.rendering import seen_lines
from evennia_ai.contrib.promises.promise_records import THEIRS, Promises
from evennia_ai.contrib.promises.when import due_words
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.world_clock import clock_words
from evennia_ai.policy.records.record import Record
from evennia_ai.store.names import list_names

LINE_CHARS = 200


class CmdAIPromises(AICommand):
    """list the promises and appointments of an NPC

    Usage:
      aipromises <character>

    An NPC goes to its appointments by itself, in time, waits there, and goes back.
    If it could not keep one, it tells the other person once, with the reason.

    To make one, say to the NPC, for example:
      say Mira, meet me at the old gate at dusk.
    If nothing was noted, |waiwhy Mira|n tells admins why.

    It lists all that is open, and the last that is over, with how it ended. Only
    admins see what was agreed in a whisper.
    """

    key = "aipromises"

    def run(self) -> None:
        self.find_assistant(self.lhs)
        lines = seen_lines(self.reader, Promises.of(self.script.character).promises(), self.line)
        clock = clean_output(clock_words(self.services.world_clock), LINE_CHARS)
        lines += [f"|xTimes by {clock}.|n"] * bool(lines)
        self.msg("\n".join(lines) or f"{self.name} has no promises or appointments.")

    def line(self, record: Record) -> str:
        who = list_names([record["entity"]])
        about = f"{who} promised" if record["kind"] == THEIRS else f"promised to {who}"
        state = ": ".join(filter(None, (record["state"], record["reason"].replace("_", " "))))
        due = due_words(record, self.services.world_clock)
        details = clean_output(", ".join(filter(None, (about, due, state))), LINE_CHARS)
        return f"|w{record['id']}|n {clean_output(record['content'], LINE_CHARS)} |x({details})|n"

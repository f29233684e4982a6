"""``ailetters``: the messages that a character carries."""

from evennia_ai.commands.common import AICommand
from evennia_ai.commands.rendering import seen_lines
from evennia_ai.contrib.letters.letter_records import OPEN, Letters
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.records.record import Record
from evennia_ai.store.names import list_names

LINE_CHARS = 200


class CmdAILetters(AICommand):
    """list the messages that an NPC passes on

    Usage:
      ailetters <character>

    An NPC whispers a message to the one it is for, once, when they meet. To leave
    one, say to the NPC, for example:
      say Mira, tell Ann that the boat is ready.
    If nothing was noted, |waiwhy Mira|n tells admins why.

    Only admins may read messages: only the sender and the receiver know them.
    """

    key = "ailetters"

    def run(self) -> None:
        self.find_assistant(self.lhs)
        lines = seen_lines(self.reader, Letters.of(self.script.character).all(), self.line)
        self.msg("\n".join(lines) or f"{self.name} has no messages to pass on.")

    def line(self, letter: Record) -> str:
        whom, sender = list_names([letter["entity"]]), list_names([letter["source_entity"]])
        state = "not told yet" if letter["state"] == OPEN else "told"
        details = clean_output(f"for {whom}, from {sender}, {state}", LINE_CHARS)
        return f"|w{letter['id']}|n {clean_output(letter['content'], LINE_CHARS)} |x({details})|n"

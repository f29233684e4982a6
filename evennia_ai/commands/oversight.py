"""What people tell a character: a yes or no to what it asks, and a builder's note."""

from evennia import CmdSet
from evennia.utils import logger

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.confirmations import answer
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.policy import staff_controls
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.staff_controls import NOTE_CHARS, AuthorNote


class CmdYes(AICommand):
    """
    allow what a character asks you for

    Usage:
      yes

    The character then does exactly what you were told, once.
    """

    key = "yes"
    help_category = HELP_CATEGORY
    locks = "cmd:all()"

    def run(self) -> None:
        answer(self.caller, self.key == CmdYes.key)


class CmdNo(CmdYes):
    """
    refuse what a character asks you for

    Usage:
      no
    """

    key = "no"


class AnswerCmdSet(CmdSet):
    """The commands of a player who is asked something, for as long as that waits."""

    key = "EvenniaAIAnswers"
    priority = 1

    def at_cmdset_creation(self) -> None:
        self.add(CmdYes())
        self.add(CmdNo())


class CmdAINote(AICommand):
    """
    tell a character something for its next turns

    Usage:
      ainote <character> = <text> [for <n> turns or minutes or hours]
      ainote <character>
      ainote/clear <character>

    The note stands near the end of every prompt of the character, as what it
    should bear in mind now: a mood, a hint for a scene, what it must not give
    away. Everybody may hear of it: write no secrets of players into it. Without
    'for' it lasts 20 turns. A new note replaces the one before. The stand-in does
    not use it.

    Example:
      ainote Mira = You are in a hurry: the inn closes soon. for 5 turns
    """

    key = "ainote"
    switch_options = ("clear",)

    def run(self) -> None:
        self.find_editable(self.lhs)
        self.dispatch()

    def do_default(self) -> None:
        if self.rhs is not None:
            self.write(self.read_note(self.rhs))
        current_note = self.script.mind.status.note_in_force()
        if current_note is None:
            self.msg(f"{self.name} has no note.")
            return
        note, left = current_note
        minutes = f"{max(1, round(left / 60)):,} minutes"
        stands = minutes if note.turns is None else f"{left:,} turns"
        self.msg(f"{self.name} bears in mind, for {stands}: {clean_output(note.text)}")

    def read_note(self, typed: str) -> AuthorNote:
        try:
            typed, turns, minutes = staff_controls.split_duration(typed)
        except ValueError as error:
            raise UsageError(str(error)) from error
        words = one_line(typed)
        if not words:
            raise UsageError(
                "Which text? |wainote <character> = <text>|n, or |wainote/clear <character>|n"
            )
        if len(words) > NOTE_CHARS:
            raise UsageError(
                f"The note has {len(words):,} characters; at most {NOTE_CHARS} are "
                "allowed. What shall stay for good belongs into the persona: |waisetup/set|n"
            )
        until = self.services.now().timestamp() + 60 * minutes if minutes else None
        by, after = self.caller.dbref, self.script.mind.turns.newest()
        return AuthorNote(text=words, by=by, after_turn=after, turns=turns, until=until)

    def do_clear(self) -> None:
        if self.script.mind.status.note_in_force() is None:
            raise UsageError(f"{self.name} has no note.")
        self.write(None)
        self.msg(f"{self.name} no longer has a note.")

    def write(self, note: AuthorNote | None) -> None:
        """Store a note; the security log says who changed it, without its words."""
        self.script.mind.status.write_note(note)
        logger.log_sec(f"{self.describe_use()} changed the note of {self.script.character}")

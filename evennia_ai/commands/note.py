"""``ainote``: a builder's note that stands in a character's prompts for a while."""

from __future__ import annotations

from evennia.utils import logger

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.author_note import note_in_force, write_note
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.author_note import NOTE_CHARS, AuthorNote, split_duration
from evennia_ai.policy.sanitize import one_line


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
    'for' it stands for 20 turns. A new note replaces the one before. The offline
    brain does not use it.

    Switches:
      clear - remove the note

    Example:
      ainote Mira = You are in a hurry: the inn closes soon. for 5 turns
    """

    key = "ainote"
    locks = "cmd:perm(Builder)"
    switch_options = ("clear",)

    def do_default(self) -> None:
        script = self.find_editable(self.lhs)
        if self.rhs is None:
            self.msg(described(script))
            return
        try:
            typed, turns, minutes = split_duration(self.rhs)
        except ValueError as error:
            raise UsageError(str(error)) from error
        words = one_line(typed)
        if not words:
            raise UsageError(
                "Which text? |wainote <character> = <text>|n, or |wainote/clear <character>|n"
            )
        if len(words) > NOTE_CHARS:
            raise UsageError(
                f"The note has {len(words):,} characters; at most {NOTE_CHARS} are allowed. What "
                "shall stay for good belongs into the persona: |waisetup/set|n"
            )
        until = self.services.now().timestamp() + 60 * minutes if minutes else None
        by, after = self.caller.dbref, script.turns.newest()
        note = AuthorNote(text=words, by=by, after_turn=after, turns=turns, until=until)
        write_note(script, note)
        self.log_change(script)
        self.msg(described(script))

    def do_clear(self) -> None:
        script = self.find_editable(self.lhs)
        if note_in_force(script) is None:
            raise UsageError(f"{shown_name(script)} has no note.")
        write_note(script, None)
        self.log_change(script)
        self.msg(f"{shown_name(script)} has no note any more.")

    def log_change(self, script: GameScript) -> None:
        """Write into the security log who changed the note, without its words."""
        logger.log_sec(f"{self.describe_use()} changed the note of {script.character}")


def described(script: GameScript) -> str:
    """Return the note of an assistant, and how long it stands."""
    found = note_in_force(script)
    if found is None:
        return f"{shown_name(script)} has no note."
    note, left = found
    stands = (
        f"{left:,} turns" if note.turns is not None else f"{max(1, round(left / 60)):,} minutes"
    )
    return f"{shown_name(script)} bears in mind, for {stands}: {clean_output(note.text)}"

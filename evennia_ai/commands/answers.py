"""``yes`` and ``no``: a player's answer to a character that must ask before it acts."""

from __future__ import annotations

from evennia import CmdSet

from evennia_ai.commands.common import AICommand
from evennia_ai.game.act_answers import answer


class CmdYes(AICommand):
    """
    allow a character what it asks you for

    Usage:
      yes

    The character then does exactly what you were told, once.
    """

    key = "yes"
    locks = "cmd:all()"
    agrees = True

    def run(self) -> None:
        """Take the answer."""
        answer(self.caller, self.agrees)


class CmdNo(CmdYes):
    """
    forbid a character what it asks you for

    Usage:
      no
    """

    key = "no"
    agrees = False


class AnswerCmdSet(CmdSet):
    """The commands of a player who is asked something, for as long as that waits."""

    key = "EvenniaAIAnswers"
    priority = 1

    def at_cmdset_creation(self) -> None:
        """Add both answers."""
        self.add(CmdYes())
        self.add(CmdNo())

"""A tavern whose Mira may use commands of the game, and a smithy's commands."""

import pytest
from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command
from twisted.internet.defer import Deferred

from evennia_ai.contrib.command_tools.aicommands import CmdAICommands
from evennia_ai.contrib.command_tools.allowed import read_commands
from evennia_ai.contrib.command_tools.game_commands import TRIED, use_command
from evennia_ai.store.attributes import write_attribute
from evennia_ai.testing.tools import try_tool
from tests.game import extensions_scene

asked_for = extensions_scene.asked_for


class CmdForge(Command):
    key = "forge"

    def func(self):
        self.caller.ndb.forged = [*(self.caller.ndb.forged or ()), self.args.strip()]
        self.caller.msg(f"You forge a |r{self.args.strip()}|n.")
        self.caller.location.msg_contents("Sparks fly.", exclude=self.caller)


class CmdHeal(CmdForge):
    key = "heal"
    locks = "cmd:tag(healer)"


class CmdSing(Command):
    key = "sing"

    def func(self):
        self.caller.msg("You take a breath.")
        answer = yield "Which song?"
        self.caller.msg(f"You sing {answer}.")


class CmdBreak(Command):
    key = "break"

    def func(self):
        self.caller.msg("It cracks.")
        raise RuntimeError("secret path /srv/game")


class CmdSmelt(Command):
    key = "smelt"

    def func(self):
        self.caller.msg("The ore glows.")

    def at_post_cmd(self):
        return Deferred()


class CmdForgeClosely(CmdForge):
    key = "forge secret"


class SmithySet(CmdSet):
    key = "smithy"

    def at_cmdset_creation(self):
        for command in (CmdForge, CmdHeal, CmdSing, CmdBreak, CmdSmelt, CmdForgeClosely):
            self.add(command())


class BuilderSet(CmdSet):
    key = "command tools"

    def at_cmdset_creation(self):
        self.add(CmdAICommands())


@pytest.fixture
def smithy(asked_for, mira, builder):
    """Mira with the commands of a smithy; the builder has ``aicommands``."""
    asked_for("command_tools")
    mira.cmdset.add(SmithySet)
    builder.character.cmdset.add(BuilderSet)
    return mira


@pytest.fixture
def allow(smithy):
    """Return a function that allows Mira commands, as written by a builder and tried."""

    def allow(*written):
        text = "; ".join(written)
        smithy.assistant.mind.settings.write({"allowed_commands": text})
        write_attribute(smithy.assistant, TRIED, [item.form for item in read_commands(text)])

    return allow


@pytest.fixture
def uses(smithy, ann):
    """Return a function by which Mira types a line after somebody, else Ann, spoke to her."""

    def uses(line, speaker=None):
        return try_tool(use_command, smithy, (speaker or ann).character, line=line)

    return uses

"""Commands of the game as tools: a builder says which ones a character may use."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.command_tools.aicommands import CmdAICommands
from evennia_ai.contrib.command_tools.allowed import CommandSettings
from evennia_ai.contrib.command_tools.game_commands import tried_commands, use_command
from evennia_ai.extension import Extension, Tool
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import BUILDER, KnownLine
from evennia_ai.ports import MindContext

LABEL = "Commands for use_command"


class CommandToolsExtension(Extension):
    """Lets characters use commands of the game that a builder allowed and tried."""

    name = "command_tools"
    by_default = False
    settings = CommandSettings

    def tools(self) -> Iterable[Tool]:
        return (use_command,)

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAICommands,)

    def prompt_rows(
        self, around: MindContext, audience: Audience
    ) -> Iterable[tuple[str, KnownLine]]:
        """Return the commands that the character may use, for a model that calls tools."""
        if not around.profile.calls_tools:
            return
        if forms := [item.form for item in tried_commands(around.character)]:
            yield LABEL, KnownLine("; ".join(forms), authors=frozenset({BUILDER}))


EXTENSION = CommandToolsExtension

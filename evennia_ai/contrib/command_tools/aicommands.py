"""``aicommands``: which commands of the game a character may use."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from evennia_ai.commands.common import AICommand, CommandResult, Dialogue, UsageError
from evennia_ai.contrib.command_tools.allowed import (
    SLOT,
    AllowedCommand,
    read_command,
    read_commands,
)
from evennia_ai.contrib.command_tools.game_commands import (
    TRIED,
    allowed_commands,
    one_command,
    run_command,
    tried_commands,
)
from evennia_ai.contrib.command_tools.parsing import (
    Invocation,
    ensure_may,
    ensure_plain,
    find_command,
    lock_of,
    matching,
)
from evennia_ai.errors import ConfigError, NothingDone, ToolDenied, ToolError
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.confirmations import confirmed
from evennia_ai.game.perception import excessive_rights
from evennia_ai.store.attributes import write_attribute

STRANGERS_WORDS = (
    "What it shows may have been written by a player. So after it, nothing that has a lock is done "
    "in the same talk. If it never shows what players wrote, allow it again with |wgame text|n."
)


class CmdAICommands(AICommand):
    """let a character use commands of your game

    Usage:
      aicommands <character>
      aicommands[/allow] <character> = <command> [, <n> per hour] [, for <lock>]
                                       [, game text]
      aicommands/try <character> = <command as it is typed>
      aicommands/remove <character> = <command>

    A character with a model that calls tools may use the commands that you allow
    and try. Write a command as it is typed. Put <words> where the words may
    differ, and <spoon||ring> where only one of these may stand. It runs as the
    character: it can do what its own command sets and locks let it. What the
    command shows is what the character reads.

    Without a command: what the character may use, and what has not been tried.

    Switches:
      allow  - allow a command. You can add a limit (3 per hour, 1 per 30 minutes)
               and a lock (for perm(Smith)) that everybody must pass whose words
               may have caused it. The command's own lock is checked in any case.
               Add "game text" if the command never shows what players wrote.
      try    - show what would run and what would refuse it, ask whether to run it
               once, and then whether it worked. Before that, the character cannot
               use it.
      remove - no longer allow a command

    Staff commands can never be allowed: those whose lock refuses a plain
    player's account.

    Examples:
      aicommands/allow Mira = forge <thing>, 3 per hour, for perm(Smith)
      aicommands/try Mira = forge sword
    """

    key = "aicommands"
    switch_options = ("allow", "try", "remove")

    def do_default(self) -> CommandResult:
        if self.rhs:
            return self.do_allow()
        character = self.find_assistant(self.lhs).character
        tried = tried_commands(character)
        lines = [
            f"  {clean_output(item.written)}" + " |y(not tried yet)|n" * (item not in tried)
            for item in allowed_commands(character)
        ]
        none = f"{self.name} may use no commands. To allow one: |whelp aicommands|n"
        self.msg("\n".join([f"|w{self.name}|n may use:", *lines]) if lines else none)
        return None

    def do_allow(self) -> Dialogue:
        character = self.find_typed()
        try:
            added = read_command(self.rhs)
            others = [item for item in allowed_commands(character) if item.form != added.form]
            written = "; ".join(item.written for item in (*others, added))
            read_commands(written)
        except ConfigError as error:
            raise UsageError(clean_output(str(error))) from error
        if missing := self.why_missing(character, added):
            question = f"|y{missing}|n Allow it all the same? yes/[no]"
            if not (yield from confirmed(self, question, "Nothing was allowed.")):
                return
        self.script.mind.settings.write({"allowed_commands": written})
        tried = [item.form for item in tried_commands(character) if item.form != added.form]
        write_attribute(self.script, TRIED, tried)
        report = [f"Allowed for {self.name}: {clean_output(added.written)}"]
        report += [] if added.is_game_text else [STRANGERS_WORDS]
        typed = clean_output(SLOT.sub("...", added.form))
        report.append(f"To try it, before it can be used: |waicommands/try {self.name} = {typed}|n")
        self.msg("\n".join(report))

    def why_missing(self, character: Any, added: AllowedCommand) -> str:
        """Return why it is not there now, "" if it is; UsageError if it can never be a tool."""
        try:
            invocation = ready(find_command(character, SLOT.sub("x", added.form), added.head))
            ensure_plain(invocation.command)
        except ToolDenied as error:
            raise UsageError(clean_output(str(error))) from error
        except NothingDone as error:
            return clean_output(str(error))
        return ""

    def do_remove(self) -> None:
        character = self.find_typed()
        form = " ".join(self.rhs.split()).lower()
        commands = allowed_commands(character)
        texts = {item.written: (item.form.lower(), item.written.lower()) for item in commands}
        left = [written for written, names in texts.items() if form not in names]
        if len(left) == len(commands):
            raise UsageError(f"{self.name} has no such command. |waicommands {self.name}|n lists.")
        self.script.mind.settings.write({"allowed_commands": "; ".join(left)})
        self.msg(f"{self.name} may not use it any more.")

    def do_try(self) -> Dialogue:
        character = self.find_typed()
        try:
            line = one_command(self.rhs)
            allowed, _ = matching(line, allowed_commands(character))
            invocation = ready(find_command(character, line, allowed[0].head))
            ensure_plain(invocation.command)
        except ToolError as error:
            raise UsageError(f"It refuses: {clean_output(str(error))}") from error
        self.ensure_may_act("act")
        if too_much := excessive_rights(character):
            raise UsageError(clean_output(too_much))
        lines = self.describe(invocation, allowed)
        question = "\n".join([*lines, f"Run it now, as {self.name}? yes/[no]"])
        if not (yield from confirmed(self, question, "Nothing was run.")):
            return
        self.ensure_may_act("act")
        try:
            shown = ready(run_command(character, invocation))
        except NothingDone as error:
            raise UsageError(
                "It is still under way, and takes longer than a trial waits. So it does not count "
                "as tried, and the character may not use it."
            ) from error
        except Exception as error:
            raise UsageError(f"It failed: {clean_output(repr(error), 200)}") from error
        self.tell(f"{self.name} is shown: {clean_output(shown) or 'nothing'}")
        untried = "It does not count as tried, and the character may not use it."
        if not (yield from confirmed(self, "Did it do what it should? yes/[no]", untried)):
            return
        tried = {*(item.form for item in tried_commands(character)), *(c.form for c in allowed)}
        write_attribute(self.script, TRIED, sorted(tried))
        calls_tools = self.script.mind.settings.profile.calls_tools
        note = "" if calls_tools else " It will when a model answers that calls tools by itself."
        self.msg(f"{self.name} may use it from now on.{note}")

    def describe(self, invocation: Invocation, allowed: list[AllowedCommand]) -> list[str]:
        """Return what would run, and whether its locks let the caller's words cause it."""
        own = clean_output(invocation.command.key), clean_output(lock_of(invocation.command))
        given = "; ".join(clean_output(item.written) for item in allowed)
        lines = [f"This runs |w{own[0]}|n, with the lock {own[1]}.", f"Allowed as: {given}"]
        try:
            ensure_may(invocation, allowed, frozenset({self.caller.dbref}))
        except ToolError:
            lines.append("Words of yours do not cause it: a lock refuses you. This trial runs it.")
        return lines

    def find_typed(self) -> Any:
        """Return the character of a change; raises UsageError without a command."""
        if not (self.lhs and self.rhs):
            raise UsageError("Which command? See |whelp aicommands|n.")
        return self.find_editable(self.lhs).character


def ready(work: Deferred[Any]) -> Any:
    """Return what a Deferred fired with, raise its error; raises NothingDone if it has not yet."""
    results: list[Any] = []
    work.addBoth(results.append)
    if not results:
        raise NothingDone("It takes long.")
    if isinstance(results[0], Failure):
        results[0].raiseException()
    return results[0]

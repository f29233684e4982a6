"""The tool `use_command`: runs a command of the game as the character."""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any

from evennia.commands.cmdhandler import cmdhandler
from evennia.commands.command import InterruptCommand
from pydantic import BaseModel, Field
from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.command_tools.allowed import (
    LINE_CHARS,
    AllowedCommand,
    CommandSettings,
    read_commands,
)
from evennia_ai.contrib.command_tools.parsing import Invocation, ensure_may, find_command, matching
from evennia_ai.errors import NothingDone, ToolDenied
from evennia_ai.extension import tool
from evennia_ai.game.perception import find_named, plain
from evennia_ai.game.room_lines import split_message
from evennia_ai.messages import quoted
from evennia_ai.policy.audience import GAME, STRANGER
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import read_attribute, write_attributes
from evennia_ai.tools.world import around
from evennia_ai.turn.tool_executor import DONE, REFUSED

SHOWN_CHARS = 1_000
NOTHING_SHOWN = "Done. The game showed you nothing."
# Attributes of the assistant.
TRIED, USES = "commands_tried", "command_uses"
INPUT = "input_cmdset"  # Evennia's, while a command waits for an answer
DIALOGUES = (("_evmenu", "close_menu"), ("_more", "page_quit"))  # of Evennia, and how one ends


class CommandArguments(BaseModel):
    """A command of the game."""

    line: str = Field(description="one of your commands, with its <...> filled in")


def allowed_commands(character: Any) -> tuple[AllowedCommand, ...]:
    """Return the commands that a builder allowed a character, tried or not."""
    config = character.assistant.mind.settings.config
    return read_commands(config.part(CommandSettings).allowed_commands)


def tried_commands(character: Any) -> list[AllowedCommand]:
    """Return the commands that a builder allowed and tried."""
    tried = read_attribute(character.assistant, TRIED) or ()
    return [command for command in allowed_commands(character) if command.form in tried]


def has_commands(context: ToolContext) -> bool:
    """Return True if the character may use any command."""
    return bool(tried_commands(context.character))


def allowed_line(
    context: ToolContext, arguments: CommandArguments
) -> tuple[str, list[AllowedCommand], tuple[str, ...]]:
    """Return a line, the commands that allow it, and its slots; raises NothingDone without any."""
    line = one_command(arguments.line)
    allowed, slots = matching(line, allowed_commands(context.character))
    tried = tried_commands(context.character)
    if any(command not in tried for command in allowed):
        raise NothingDone("You cannot do that yet: the staff has not tried it.")
    return line, allowed, slots


@tool("use_command", needed=has_commands, leaves=True, check=allowed_line)
@inlineCallbacks
def use_command(context: ToolContext, arguments: CommandArguments) -> Coroutine[ToolResult]:
    """Use one of the commands of the game that you are told of."""
    character: Any = context.character
    line, allowed, slots = allowed_line(context, arguments)
    if context.private or context.whispered:
        ensure_named_here(character, slots)
    if (yield character.ai_mind.moderation_gate.why_unsaid(line)):
        raise NothingDone("The game does not allow these words.")
    invocation = yield find_command(character, line, allowed[0].head)
    try:
        ensure_may(invocation, allowed, context.all_authors, context.locks)
    except ToolDenied as error:
        return ToolResult(REFUSED, str(error))
    note_use(character.assistant, allowed, context.assistant.services.now().timestamp())
    shown = yield run_command(character, invocation)
    text = f"The game showed you: {quoted(shown)}" if shown else NOTHING_SHOWN
    vouched = all(command.is_game_text for command in allowed) or not shown
    return ToolResult(DONE, text, authors=frozenset({GAME if vouched else STRANGER}))


def one_command(line: str) -> str:
    """Return a line with single spaces; raises NothingDone for more than one line."""
    if not line.isprintable() or len(line) > LINE_CHARS:
        raise NothingDone(f"Write one line of at most {LINE_CHARS} characters.")
    return " ".join(line.split())


def ensure_named_here(character: Any, slots: Iterable[str]) -> None:
    """Raise NothingDone unless each slot names what is here: others could read a secret in it."""
    here = around(character)
    if not all(find_named(value, here, character) for value in slots):
        raise NothingDone("This talk is private: name only people and things that are here.")


def note_use(shell: Any, allowed: Iterable[AllowedCommand], now: float) -> None:
    """Count a use of commands; raises NothingDone if one was used too often.

    It is stored before the command runs, so that a crash gives no use back.
    """
    stored = read_attribute(shell, USES)
    uses = dict(stored) if isinstance(stored, Mapping) else {}
    limited = [command for command in allowed if command.most]
    for command in limited:
        recent = [at for at in uses.get(command.form, ()) if at > now - command.within_s]
        if len(recent) >= command.most:
            minutes = ceil((recent[-command.most] + command.within_s - now) / 60)
            raise NothingDone(f"You did that often enough. Again in {minutes} min.")
        uses[command.form] = [*recent, now]
    if limited:
        write_attributes(shell, **{USES: uses})


@inlineCallbacks
def run_command(character: Any, invocation: Invocation) -> Coroutine[str]:
    """Run a command as a character; fires with what it showed the character, on one line.

    Fails with what the command raised. What it shows later is not read.
    """
    errors: list[Exception] = []
    command = invocation.command
    command.retain_instance = True  # Evennia would run a copy
    for name in ("at_pre_cmd", "parse", "func", "at_post_cmd"):
        setattr(command, name, partial(guarded, getattr(command, name), errors))
    end_dialogues(character)
    with capturing(character) as shown:
        yield cmdhandler(
            character, invocation.args, callertype="object", cmdobj=command,
            cmdobj_key=invocation.name, cmdset=invocation.cmdset,
        )  # fmt: skip
        lines = list(shown)
        if end_dialogues(character):
            lines.append("(It asked you to choose or to answer, which you cannot do this way.)")
    if errors:
        raise errors[0]
    return plain(" ".join(lines), SHOWN_CHARS)


def guarded(method: Callable[[], Any], errors: list[Exception]) -> Any:
    """Call a method of a command; keep an error, of which Evennia would show the traceback."""
    try:
        returned = method()
    except InterruptCommand:
        raise
    except Exception as error:
        errors.append(error)
        raise InterruptCommand from error
    return (
        guarded_steps(returned, errors) if isinstance(returned, types.GeneratorType) else returned
    )


def guarded_steps(steps: Any, errors: list[Exception]) -> Iterator[Any]:
    """Go through the steps of a command that pauses or asks; keep an error."""
    try:
        yield from steps
    except Exception as error:  # noqa: BLE001  # a game's command may raise anything
        errors.append(error)


@contextmanager
def capturing(character: Any) -> Iterator[list[str]]:
    """Collect what a character is shown by its own act; what others do still reaches it."""
    shown: list[str] = []
    pass_on, before = character.msg, character.ndb.ai_acting

    def collect(text: Any = None, from_obj: Any = None, **kwargs: Any) -> None:
        if from_obj is not None and from_obj is not character:
            pass_on(text=text, from_obj=from_obj, **kwargs)
        elif words := split_message(text)[0]:
            shown.append(words)

    character.msg, character.ndb.ai_acting = collect, True
    try:
        yield shown
    finally:
        del character.msg
        character.ndb.ai_acting = before


def end_dialogues(character: Any) -> bool:
    """End what waits for the character to choose or answer; return whether anything did."""
    is_waiting = bool(character.ndb._getinput)
    if is_waiting:
        character.nattributes.remove("_getinput")
        character.cmdset.remove(INPUT)
    for name, end in DIALOGUES:
        if dialogue := character.nattributes.get(name):
            is_waiting = True
            getattr(dialogue, end)()
    return is_waiting

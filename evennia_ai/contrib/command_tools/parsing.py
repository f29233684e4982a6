"""Find the one command that a line means, by Evennia's own parser, and judge it by its lock."""

from collections.abc import Iterable
from copy import copy
from operator import itemgetter
from typing import Any, NamedTuple

from django.conf import settings
from evennia.commands.cmdhandler import generate_cmdset_providers, get_and_merge_cmdsets
from evennia.commands.cmdparser import build_matches
from evennia.utils.utils import class_from_module, variable_from_module
from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.command_tools.allowed import AllowedCommand, is_plain
from evennia_ai.errors import NothingDone, ToolDenied
from evennia_ai.game.perception import asked_for
from evennia_ai.messages import Authors
from evennia_ai.policy.call_record import LockAsked
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools.permission import PLAIN_PLAYER, LockSubjects, could_pass

SUBJECTS = LockSubjects()


class Invocation(NamedTuple):
    """A command of Evennia for one run, and what was typed."""

    command: Any
    name: str  # the key or alias that was typed
    args: str  # the rest of the line
    cmdset: Any


def matching(
    line: str, allowed: Iterable[AllowedCommand]
) -> tuple[list[AllowedCommand], tuple[str, ...]]:
    """Return all allowed commands that have the form of a line, and what stands in the slots.

    All of them must let it pass: a strict ``forge royal <thing>`` is no ``forge <thing>``.
    Raises NothingDone if there is none, or a slot holds what may not stand there.
    """
    pairs = [(command, slots) for command in allowed if (slots := command.slots(line)) is not None]
    if not pairs:
        forms = "; ".join(command.form for command in allowed) or "none"
        raise NothingDone(f"You have no such command. Your commands: {forms}.")
    values = tuple(value for _, slots in pairs for value in slots)
    if wrong := [value for value in values if not value or not is_plain(value)]:
        raise NothingDone(
            f"{asked_for(wrong[0])} cannot stand in a command: use letters, digits and .,!?'-()+>."
        )
    return [command for command, _ in pairs], values


@inlineCallbacks
def find_command(character: Any, line: str, head: str) -> Coroutine[Invocation]:
    """Find the command that Evennia would run for a character; nicks do not count.

    ``head`` are the fixed words of the line's form: the command's name must stand in them. Fires
    with the command; fails with NothingDone, and with ToolDenied for one that no character can run.
    """
    providers = generate_cmdset_providers(character)[1]
    cmdset = yield get_and_merge_cmdsets(character, providers, "object", line)
    parse = variable_from_module(*settings.COMMAND_PARSER.rsplit(".", 1))
    matches = parse(line, cmdset, character) if cmdset else []
    hidden = "" if matches else ensure_may_exist(line, cmdset)
    if len(matches) != 1 or len(matches[0][0]) > len(head):
        why = "Several commands have that name" if len(matches) > 1 else "There is no such command"
        kept = f": the lock or the set of {hidden} keeps it from this character" if hidden else ""
        raise NothingDone(f"{why} here and now{kept}.")
    name, args, command = matches[0][:3]
    return Invocation(copy(command), name, args, cmdset)


def ensure_may_exist(line: str, cmdset: Any) -> str:
    """Raise ToolDenied if a line names a command that no character may use; locks do not count.

    Beside the character's own commands these are those of the game's characters and accounts.
    Returns the name of the command that the line means, "" for none.
    """
    for path in (None, settings.CMDSET_CHARACTER, settings.CMDSET_ACCOUNT, settings.CMDSET_SESSION):
        commands = class_from_module(path)() if path else cmdset or ()
        matches = build_matches(line, commands, True) or build_matches(line, commands)
        if matches:
            command = max(matches, key=itemgetter(3))[2]
            ensure_plain(command)
            if path in (settings.CMDSET_ACCOUNT, settings.CMDSET_SESSION):
                raise ToolDenied(f"{command.key} is a command of accounts, and never a tool.")
            return str(command.key).lstrip("@")
    return ""


def lock_of(command: Any) -> str:
    """Return the lock functions of a command's lock ``cmd``."""
    return str(command.lockhandler.get("cmd")).partition(":")[2]


def ensure_plain(command: Any) -> None:
    """Raise ToolDenied for a command that a plain player could not run, whoever the character is.

    Its lock says so, with all that a builder can give a player, such as tags and things.
    """
    if not could_pass(PLAIN_PLAYER, lock_of(command)):
        raise ToolDenied(f"{command.key} is a command of the staff, and never a tool.")


def ensure_may(
    invocation: Invocation,
    allowed: Iterable[AllowedCommand],
    authors: Authors,
    noted: list[LockAsked] | None = None,
) -> None:
    """Raise ToolDenied if a lock refuses: the command's own, or one that the builder set.

    Each is asked of every author, and ``noted`` gets the answers.
    """
    ensure_plain(invocation.command)
    for lock in sorted({lock_of(invocation.command), *(command.lock for command in allowed)}):
        answers = SUBJECTS.answers(authors, lock)
        if noted is not None:
            noted.append(LockAsked("cmd", invocation.command.key, answers))
        if not all(answers.values()):
            raise ToolDenied("You may not do that for everybody who is speaking to you.")

"""Which commands a character may use: what a builder writes, read and compared with a line."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from unicodedata import category

from evennia.locks.lockhandler import get_all_lockfuncs, validate_lockstring

from evennia_ai.config import setting
from evennia_ai.errors import ConfigError
from evennia_ai.policy.audience import LOCK_FUNCTION

FORM_CHARS, LINE_CHARS = 80, 300
MOST_COMMANDS, MOST_SLOTS = 20, 3
FOR_EVERYBODY = "all()"
GAME_TEXT = "game text"
SLOT = re.compile(r"<([^<>]+)>")
DETAIL = re.compile(r",\s*(?=\d+ per |for |game text\b)")
LIMIT = re.compile(r"(\d{1,6}) per (?:(\d{1,3}) )?(minute|hour|day)s?")
SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}
# What a model may write into a <slot>, beside letters, digits and quotation marks. Evennia reads
# other signs as switches, numbers of objects, markup, functions or a second argument.
MARKS = frozenset(" .,!?'\":()-…+>")
FIXED_MARKS = MARKS | frozenset("=/")
PREFIXES = "@+&"  # that a command's name may have


@dataclass(frozen=True)
class AllowedCommand:
    """One command that a character may use.

    Attributes:
        form: the line, with a <slot> for each argument, such as ``forge <thing>``; of
            ``get <spoon|ring>`` it takes one of these.
        most: uses within ``within_s`` seconds; 0 is unlimited.
        lock: lock functions that everybody must pass whose words may have caused the command.
        is_game_text: True if the command shows no words of players.
        written: all this as a builder wrote it.
    """

    form: str
    most: int = 0
    within_s: int = 0
    lock: str = FOR_EVERYBODY
    is_game_text: bool = False
    written: str = field(default="", compare=False)

    @property
    def head(self) -> str:
        """Return the fixed words before the first slot."""
        return SLOT.split(self.form)[0].strip()

    @cached_property
    def _fixed(self) -> tuple[re.Pattern[str], ...]:
        *pieces, last = map(re.escape, SLOT.split(self.form)[::2])
        return tuple(re.compile(piece, re.IGNORECASE) for piece in (*pieces, rf"{last}\Z"))

    def slots(self, line: str) -> tuple[str, ...] | None:
        """Return what a line has in the slots, None if it does not have this form."""
        first, *others = self._fixed
        match, values = first.match(line), list[str]()
        for piece in others:
            if match is None:
                return None
            begin = match.end()
            match = piece.search(line, begin + 1)  # the first place leaves most to what follows
            values.append(line[begin : match.start()].strip() if match else "")
        _, *pieces = SLOT.split(self.form)
        fits = all(map(may_fill, values, pieces[::2], pieces[1::2]))
        return tuple(values) if match and fits else None


def may_fill(value: str, slot: str, after: str) -> bool:
    """Return True if a value may stand in a slot such as "thing" or "spoon|ring", before ``after``.

    Evennia reads a comma before ``=`` as a list, and a slot is for one.
    """
    choices = {item.strip().lower() for item in slot.split("|")}
    is_one = bool(value) and not ("," in value and "=" in after)
    return is_one and (len(choices) == 1 or value.lower() in choices)


def is_plain(text: str, marks: frozenset[str] = MARKS) -> bool:
    """Return True if a text has only letters, digits, quotation marks and ``marks``."""
    kinds = ((char, category(char)) for char in text)
    return all(
        char in marks or kind[0] in "LMN" or kind in ("Pd", "Pi", "Pf") for char, kind in kinds
    )


def read_command(written: str) -> AllowedCommand:
    """Return one command that a builder wrote; raises ConfigError."""
    form, *details = DETAIL.split(written.strip())
    form = " ".join(form.split())
    pieces = SLOT.split(form)
    fixed = " ".join(pieces[::2])
    is_form = bool(pieces[0].strip()) and len(form) <= FORM_CHARS
    if not is_form or not is_plain(fixed.lstrip(PREFIXES), FIXED_MARKS):
        raise ConfigError(
            f"'{form[:FORM_CHARS]}' is no form of a command. Write it as it is typed, with "
            f"<words> for what may differ, in at most {FORM_CHARS} characters: forge <thing>"
        )
    if "," in fixed or len(pieces) > 2 * MOST_SLOTS + 1 or not all(map(str.strip, pieces[2:-1:2])):
        raise ConfigError(
            f"'{form}' must have no comma, at most {MOST_SLOTS} <slots>, and words between them. "
            "After a comma may stand: 3 per hour; for perm(Smith); game text. <spoon|ring> takes "
            "one of these."
        )
    command = AllowedCommand(form, written=", ".join([form, *details]))
    for detail in details:
        command = with_detail(command, detail.strip())
    return command


def with_detail(command: AllowedCommand, detail: str) -> AllowedCommand:
    """Return a command with a limit, a lock, or the mark that it shows no words of players."""
    limit = LIMIT.fullmatch(detail)
    if limit and int(limit[1]) and int(limit[2] or 1):
        within_s = int(limit[2] or 1) * SECONDS[limit[3]]
        return replace(command, most=int(limit[1]), within_s=within_s)
    if detail == GAME_TEXT:
        return replace(command, is_game_text=True)
    lock = detail.removeprefix("for ").strip()
    if lock == "all":
        return command
    known = {name for name, _ in LOCK_FUNCTION.findall(lock)} <= get_all_lockfuncs().keys()
    if lock == detail or not known or not validate_lockstring(f"use:{lock}")[0]:
        raise ConfigError(
            f"'{detail}' is wrong. Write a limit such as 3 per hour, or for and lock functions of "
            "Evennia, such as for perm(Smith) or for tag(smith), or game text."
        )
    return replace(command, lock=lock)


@lru_cache(maxsize=256)
def read_commands(written: str) -> tuple[AllowedCommand, ...]:
    """Return the commands that a setting lists with semicolons; raises ConfigError."""
    commands = tuple(read_command(item) for item in written.split(";") if item.strip())
    if len(commands) > MOST_COMMANDS:
        raise ConfigError(f"A character may use at most {MOST_COMMANDS} commands.")
    return commands


@dataclass(frozen=True)
class CommandSettings:
    """Which commands of the game a character may use."""

    allowed_commands: str = setting(
        "",
        "Commands of the game that the character may use as tools, separated by semicolons, such "
        "as `forge <thing>, 3 per hour, for perm(Smith)`. `aicommands` writes and tries them.",
        check=read_commands,
    )

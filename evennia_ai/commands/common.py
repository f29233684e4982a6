"""The base class of the commands: who may read what, whose assistant is meant, pages, errors."""

import re
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, tzinfo
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from evennia.commands.default.muxcommand import MuxCommand
from evennia.utils import logger
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import AssistantError, ProviderError
from evennia_ai.game.client_text import NAME_CHARS, clean_error, clean_output, shown_name
from evennia_ai.game.help_entries import EXPERTS
from evennia_ai.game.perception import all_named, find_named
from evennia_ai.game.texts import text
from evennia_ai.policy.read_permissions import ERRORS, Reader
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import fitting, shown_width
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.names import own_name
from evennia_ai.store.reports import RowPage
from evennia_ai.store.server_lock import of_this_shard

log = Logger()

NUMBER = re.compile(r"#\d{1,18}")
ERROR_CHARS = 1_000

Dialogue = Generator[Any, str, None]  # yields a question, or a pause in seconds
CommandResult = Dialogue | Deferred[Any] | None


class UsageError(AssistantError):
    """What was typed cannot be done. The text says why, and what to type instead."""


class AICommand(MuxCommand):
    """A command that shows every `AssistantError` to its caller as a sentence.

    ``find_assistant`` and ``find_editable`` set ``script``, ``name`` and ``read_of`` for the rest
    of the command.
    """

    help_category = EXPERTS
    locks = "cmd:perm(Builder)"
    switch_options: tuple[str, ...] = ()
    second_names: Mapping[str, str] = {}  # switches by the command's other names that mean them
    combined: tuple[frozenset[str], ...] = ()  # switches that may be typed together
    switches: list[str]
    failure_text = "{reason}"  # said if work that continued after `run` fails
    reads = ""  # the kind of content in `policy.read_permissions` that the whole command needs
    reader: Reader  # the caller, and what they may read; set before `run`
    script: AssistantScript  # the assistant that was named
    name: str  # its character's name, escaped for a client
    read_of: Any = None  # whose stored words are read: a character

    @property
    def services(self) -> Any:
        """The services that all assistants share; `func` checks that they were started."""
        services: Any = AssistantScript.shared_services
        return services

    def extension(self, name: str) -> Any:
        """Return an extension by its name; raises UsageError if it is off."""
        matches = [item for item in self.services.extensions if item.name == name]
        if not matches:
            raise UsageError(f"The extension {name} is off: see |waistatus|n.")
        return matches[0]

    @property
    def switch(self) -> str:
        return self.switches[0] if self.switches else ""

    def func(self) -> Dialogue | None:
        """Run the command; show the caller any error, now or later."""
        try:
            self.check_switches()
            if AssistantScript.shared_services is None or self.services.store_trouble:
                raise UsageError(self.explain_no_services())
            who = self.services.who_may_read
            self.reader = Reader(who, self.has_permission, zone_of(self.caller))
            self.ensure_may_read(self.reads)
            outcome = self._run()
        except AssistantError as error:
            self.msg(error_line(error))
            return None
        log_reading = partial(log_private_reading, self.reader, self.read_of, self.describe_use())
        if isinstance(outcome, Deferred):
            outcome.addErrback(self.tell_failure)
            outcome.addBoth(lambda _: log_reading())
            return None
        log_reading()
        return outcome and self.guard(outcome)

    def _run(self) -> CommandResult:
        try:
            return self.run()
        except (TypeError, ValueError):  # perhaps of a damaged value
            self.services.look_for_damage()
            raise

    def run(self) -> CommandResult:
        """Do what was typed; return a Deferred of work that continues, or a dialogue."""
        return self.dispatch()

    def dispatch(self, *args: Any) -> CommandResult:
        """Call ``do_<switch>``, or ``do_default`` if no switch was typed."""
        outcome: CommandResult = getattr(self, f"do_{self.switch or 'default'}")(*args)
        return outcome

    def parse(self) -> None:
        """Keep the unknown switches that Evennia would drop, so that `func` can name them."""
        options, self.switch_options = self.switch_options, ()
        try:
            super().parse()
        finally:
            self.switch_options = options
        typed = [self.second_names.get(self.cmdstring.lower(), ""), *self.switches]
        self.switches = list(dict.fromkeys(switch.lower() for switch in typed if switch))

    def check_switches(self) -> None:
        """Raise UsageError for an unknown switch, and for several that do not go together."""
        unknown = [switch for switch in self.switches if switch not in self.switch_options]
        if unknown:
            switch = clean_output(unknown[0], 40)
            known = ", ".join(f"/{option}" for option in self.switch_options)
            key = "switch_unknown" if known else "switch_none"
            raise UsageError(text(key, switch=switch, known=known, command=self.key))
        together = any(item.issuperset(self.switches) for item in self.combined)
        if len(self.switches) > 1 and not together:
            raise UsageError(f"Use one switch at a time. See |whelp {self.key}|n.")

    def explain_no_services(self) -> str:
        if not self.has_permission("Builder"):
            return text("minds_off")
        if AssistantScript.shared_services:
            return str(self.services.store_trouble)
        return f"{text('minds_off')} The server log says what to do: |wevennia -l|n."

    def has_permission(self, permission: str) -> bool:
        """Return True if the caller has a permission, by their account as for Evennia's locks."""
        return bool(self.caller.locks.check_lockstring(self.caller, f"may:perm({permission})"))

    def ensure_may_read(self, kind: str) -> None:
        """Raise UsageError if the caller may not read a kind of content; an empty kind is free."""
        if kind and not self.reader.may(kind):
            raise UsageError(f"Only {self.reader.whose(kind)} may read that.")

    @property
    def caller_name(self) -> str:
        return clean_heard(own_name(self.caller), NAME_CHARS)

    def describe_use(self) -> str:
        """Return the command with its switch and its caller, for the security log."""
        typed = "/".join([self.key, *self.switches])
        return f"{typed}: {self.caller} ({self.caller.dbref})"

    def guard(self, dialogue: Dialogue) -> Dialogue:
        try:
            yield from dialogue
        except AssistantError as error:
            self.msg(error_line(error))

    def tell(self, lines: str | Sequence[str]) -> None:
        """Show lines to the caller, whose session may have changed since they typed."""
        self.caller.msg(lines if isinstance(lines, str) else "\n".join(lines))

    def tell_failure(self, failure: Failure) -> None:
        error = failure.value
        if isinstance(error, UsageError):
            self.tell(error_line(error))
        elif isinstance(error, AssistantError):
            reason = str(error)
            if isinstance(error, ProviderError):
                reason = self.reader.show(ERRORS, reason, f"a model error ({error.kind})")
            self.tell(self.failure_text.format(reason=clean_error(reason, ERROR_CHARS)))
        elif not isinstance(error, CancelledError):  # the server is stopping
            log.failure("{command} failed", command=self.key, failure=failure)
            self.services.look_for_damage()
            self.tell(f"|w{self.key}|n failed because of a bug. The server log has the details.")

    def show_page(self, lines: Iterable[str], page: RowPage, if_none: str, word: str = "") -> None:
        """Show lines and how to see older ones; ``word`` comes before the number to be typed."""
        shown = [*lines]
        if not shown:
            self.msg(f"{self.name} {if_none}")
            return
        none = f"There is no page {page.asked}. " if page.asked > page.pages else ""
        order = f"newest {'first' if page.newest_first else 'last'}, times in {self.reader.zone}"
        footer = f"|x{none}Page {page.number} of {page.pages}, {order}.|n"
        if page.number < page.pages:
            typed = "/".join([self.key, *self.switches])
            footer += f" Older: |w{typed} {self.name} = {word}{page.number + 1}|n"
        self.msg(wrapped("\n".join([*shown, footer])))

    def find_character(self, name: str) -> Any:
        """Return the one character of this name, from this room first; raises UsageError."""
        if not name:
            raise UsageError(f"Which character? See |whelp {self.key}|n.")
        search = partial(self.caller.search, name, quiet=True)
        objects = search() or search(global_search=True)
        if not objects:  # Evennia searches for colours, too
            known = [script.character for script in all_assistants()]
            match = find_named(name, known, self.caller)
            objects = all_named(name, known, self.caller) or ([match] if match else [])
        if not objects:
            raise UsageError(
                f"There is no character called '{clean_output(name, NAME_CHARS)}'. "
                "Check the name, or use a number such as #12."
            )
        if len(objects) > 1:
            matches = [f"{shown_name(obj)}({obj.dbref})" for obj in objects]
            raise UsageError(
                f"Several match: {', '.join(matches)}. Use a number, such as {objects[0].dbref}."
            )
        return objects[0]

    def find_assistant(self, name: str) -> AssistantScript:
        """Return the assistant of a character; raises UsageError if it has none."""
        character = self.find_character(name)
        if character.scripts.has(SCRIPT_KEY):  # perhaps a game's code attached it by hand
            add_assistant_mixin(character)
        script: AssistantScript | None = getattr(character, "assistant", None)
        self.read_of, self.name = character, shown_name(character)
        if script is None:
            command = f"|waisetup {self.name} = <persona>|n"
            raise UsageError(f"{self.name} has no assistant. To attach one: {command}")
        self.script = script
        return script

    def find_editable(self, name: str) -> AssistantScript:
        script = self.find_assistant(name)
        self.ensure_may_edit(script.character)
        return script

    def may_edit(self, character: Any) -> bool:
        """Return True if Evennia's locks let the caller edit a character."""
        return any(character.access(self.caller, right) for right in ("edit", "control"))

    def ensure_may_edit(self, character: Any) -> None:
        """Raise UsageError if the caller may not edit a character."""
        if not self.may_edit(character):
            raise UsageError(
                f"You may not change {shown_name(character)}: its edit and control locks do not "
                f"let you. An admin lets builders: |wlock {shown_name(character)} = "
                "edit:perm(Builder)|n"
            )

    def ensure_may_act(self, act: str) -> None:
        """Raise UsageError if the named assistant may not ``act`` now."""
        if not self.script.mind.status.may_think():
            raise UsageError(
                f"{self.name} cannot {act} now: it is stopped, or somebody plays it."
                " See |waistatus|n."
            )


def log_private_reading(reader: Reader, character: Any, use: str) -> None:
    """Write into the security log who read how many private items of whom, without the words."""
    if reader.private_shown:
        whose = f"{character} ({character.dbref})" if character else "several or deleted characters"
        logger.log_sec(f"{use} read {reader.private_shown} private items of {whose}")


def error_line(error: AssistantError) -> str:
    """Return an error as a sentence; only the commands' own errors hold markup."""
    sentence = str(error)
    return sentence if isinstance(error, UsageError) else clean_error(sentence, ERROR_CHARS)


def as_sentence(words: str) -> str:
    """Return words with one full stop, unless they end in another mark."""
    shown = words.rstrip()
    return shown if shown.endswith((".", "!", "?", ":")) else f"{shown}."


def zone_of(caller: Any) -> tzinfo:
    """Return the time zone that a caller chose with Evennia's ``style``, else the game's."""
    account = getattr(caller, "account", None)
    chosen = account.attributes.get("timezone", category="option") if account else None
    for name in filter(None, (chosen, settings.TIME_ZONE)):
        with suppress(ValueError, OSError, KeyError):  # a zone that the machine does not know
            return UTC if str(name) == "UTC" else ZoneInfo(str(name))
    return UTC


def page_number(text: str | None) -> int:
    digits = (text or "").strip() or "1"
    if not digits.isdigit() or not 0 < int(digits) < 10**9:
        raise UsageError(f"'{clean_output(digits, 20)}' is no number. Use a whole number from 1.")
    return int(digits)


def all_assistants() -> list[AssistantScript]:
    """Return every assistant of this server, sorted by its character's name."""
    scripts = AssistantScript.objects.filter_family(db_key=SCRIPT_KEY).exclude(db_obj=None)
    here = of_this_shard(scripts, "db_obj")
    return sorted(here, key=lambda script: script.character_name.lower())


def choose(name: str, candidates: Iterable[Any], caller: Any) -> Any | None:
    """Return the candidate named, also by ``#12`` or ``guard-2``, or None; raises UsageError."""
    known = sorted(set(candidates), key=lambda obj: obj.id)
    base, _, number = name.rpartition("-")
    same = all_named(base, known, caller) if number.isdecimal() else []
    numbered = [obj for place, obj in enumerate(same, 1) if str(place) == number]
    matches = [obj for obj in known if obj.dbref == name] or all_named(name, known, caller)
    if len(matches) > 1:
        here, shown = getattr(caller, "location", None), clean_output(name, NAME_CHARS)
        away = [obj.location not in (None, here) and shown_name(obj.location) for obj in matches]
        where = [f" ({room})" if room else "" for room in away]
        options = ", ".join(f"{shown}-{place}{room}" for place, room in enumerate(where, 1))
        raise UsageError(text("which_one", names=options))
    return next(iter(matches or numbered), None) or find_named(name, known, caller)


def told_apart(objects: Sequence[Any]) -> list[str]:
    """Return the names of objects or assistants, not escaped; equal ones with their numbers."""
    characters = [getattr(obj, "character", obj) for obj in objects]
    named = [(own_name(obj), obj.dbref) for obj in characters]
    counts = Counter(name.lower() for name, _dbref in named)
    return [f"{name}({dbref})" if counts[name.lower()] > 1 else name for name, dbref in named]


TABLE_WIDTH = 78
NARROWEST = 4
CELL_CHARS = 60
INDENT = "    "
NO_BREAK = "\u00a0"
WORDS = re.compile(r"(?<! ) *[^ ]+")
MARKUP = re.compile(r"\|\||\|[a-zA-Z]")
CELLS = re.compile(rf"{MARKUP.pattern}|\|?.", re.S)
FIGURE = re.compile(r"[\d,.%-]*M?")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of at most `TABLE_WIDTH` columns; long texts are cut, figures never."""
    cells = [[clean_heard(cell, CELL_CHARS) for cell in row] for row in rows]
    columns = list(zip(titles, *cells, strict=True))
    widths = [max(map(shown_width, column)) for column in columns]
    texts = [n for n, column in enumerate(columns) if not all(map(FIGURE.fullmatch, column[1:]))]
    while sum(widths) + len(widths) - 1 > TABLE_WIDTH:
        widest = max(texts, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    lines = [" ".join(map(_fitted, row, widths)).rstrip() for row in (titles, *cells)]
    return "\n".join([f"|w{lines[0]}|n", *lines[1:]])


def _fitted(cell: str, width: int) -> str:
    shown = fitting(cell, width)
    return clean_output(shown) + " " * (width - shown_width(shown))


def wrapped(text: str) -> str:
    """Return escaped text with our markup, its lines broken to fit `TABLE_WIDTH` columns."""
    lines = "\n".join(piece for line in text.split("\n") for piece in _broken(line))
    return lines.replace(NO_BREAK, " ")


def unbroken(name: str) -> str:
    """Return a name whose spaces `wrapped` does not break.

    Else the rest of a name could begin a line, and look like the name of somebody else.
    """
    return clean_heard(name, CELL_CHARS).replace(" ", NO_BREAK)


def _broken(line: str) -> list[str]:
    pieces, used = [""], 0
    for word in WORDS.findall(line):
        if used + _width_of(word) > TABLE_WIDTH and pieces[-1].strip():
            pieces, used = [*pieces, INDENT], len(INDENT)
            word = word.lstrip()  # noqa: PLW2901
        for cell in CELLS.findall(word):
            width = _width_of(cell)
            if used + width > TABLE_WIDTH:  # a word longer than a line
                pieces, used = [*pieces, INDENT], len(INDENT)
            pieces[-1] += cell
            used += width
    return pieces


def _width_of(text: str) -> int:
    return shown_width(MARKUP.sub(lambda match: "|" * (match[0] == "||"), text))

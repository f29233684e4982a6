"""What the commands have in common that play logged turns without a running server."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, ClassVar

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser


class SavedTurnsCommand(BaseCommand):
    """A command that plays a file, or with ``--record`` makes one of a character's turns.

    ``work`` is the path of its module, which has ``record``; of a room on the same floor, so it is
    loaded by its name.
    """

    requires_system_checks: ClassVar[list[str]] = []
    work = ""

    def add_record_arguments(self, parser: CommandParser, made: str) -> None:
        """Add the options of recording; ``made`` says what is recorded."""
        add = parser.add_argument
        add("--record", default="", metavar="CHARACTER", help=f"{made} from its log")
        add("--turns", default="", help="with --record: numbers of turns, such as 12-15")
        add("--whispers", action="store_true", help="with --record: whispers, too")
        add("--out", default="", metavar="FILE", help="with --record: the file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        """Play the file or record turns, and end with the exit code."""
        if bool(options["file"]) == bool(options["record"]):
            raise CommandError("Give either a file or --record <character>.", returncode=2)
        self.check_options(options)
        if evennia.DefaultScript is None:
            evennia._init()
        work = import_module(self.work)
        if options["record"]:
            wanted = (options[name] for name in ("record", "turns", "whispers", "out"))
            code = work.record(*wanted, self.told)
        else:
            code = self.play(work, options)
        if code:
            sys.exit(code)

    def check_options(self, options: dict[str, Any]) -> None:
        """Raise CommandError for options that cannot be used."""

    def play(self, work: Any, options: dict[str, Any]) -> int:
        """Play the file; return the exit code."""
        raise NotImplementedError

    def told(self, line: str) -> None:
        """Write a line at once, so that CI logs show progress."""
        self.stdout.write(line)
        self.stdout.flush()

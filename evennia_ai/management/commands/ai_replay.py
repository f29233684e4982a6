"""The command ``evennia ai_replay``: save model calls, and ask another model the same."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser

WORK = "evennia_ai.testing.replaying"  # of a room on the same floor, so loaded by its name


class Command(BaseCommand):
    """Compare models on prompts that were really sent; nothing in the game changes."""

    help = (
        "Ask a model again what a file of saved calls asked, and show both replies. With "
        "--record: save the calls of logged turns into such a file. No server is needed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file and the options."""
        add = parser.add_argument
        add("file", nargs="?", default="", help="the file with saved calls")
        add("--profile", default="", help="the model profile to ask")
        add("--record", default="", metavar="CHARACTER", help="save calls from its log")
        add("--turns", default="", help="with --record: numbers of turns, such as 12-15")
        add("--whispers", action="store_true", help="with --record: whispers, too")
        add("--out", default="", metavar="FILE", help="with --record: the file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replay the file or save calls, and end with the exit code."""
        if bool(options["file"]) == bool(options["record"]):
            raise CommandError("Give either a file or --record <character>.", returncode=2)
        if options["file"] and not options["profile"]:
            raise CommandError("Which model? Give --profile <name>.", returncode=2)
        if evennia.DefaultScript is None:
            evennia._init()
        work = import_module(WORK)
        if options["record"]:
            wanted = (options[name] for name in ("record", "turns", "whispers", "out"))
            code = work.record(*wanted, self.told)
        else:
            code = work.replay(options["file"], options["profile"], self.told)
        if code:
            sys.exit(code)

    def told(self, line: str) -> None:
        """Write a line at once."""
        self.stdout.write(line)
        self.stdout.flush()

"""The command ``evennia ai_check``: play the scenes of a file, or record one from the log."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser

WORK = "evennia_ai.testing.scenes.checking"  # of a room on the same floor, so loaded by its name


class Command(BaseCommand):
    """Test how a character answers; nothing in the game changes, and no server is needed."""

    help = (
        "Play the scenes of a YAML file against a model or the offline brain, and check the "
        "answers. Exit code 0: all scenes passed, 1: some failed, 2: they could not be played. "
        "With --record: write logged turns of a character as a scene."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file and the options."""
        add = parser.add_argument
        add("file", nargs="?", default="", help="the scene file")
        add("--profile", default="", help="the model profile, instead of the file's")
        add("--repeat", type=int, help="how often each scene is played, instead of the file's")
        add("--junit", default="", metavar="FILE", help="write JUnit XML for a CI system")
        add("--character", default="", help="play all scenes with this character of the game")
        add("--record", default="", metavar="CHARACTER", help="write a scene from its log")
        add("--turns", default="", help="with --record: numbers of turns, such as 12-15")
        add("--whispers", action="store_true", help="with --record: whispers, too")
        add("--out", default="", metavar="FILE", help="with --record: the file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        """Play the file or record a scene, and end with the exit code."""
        if bool(options["file"]) == bool(options["record"]):
            raise CommandError("Give either a scene file or --record <character>.", returncode=2)
        if options["repeat"] is not None and options["repeat"] < 1:
            raise CommandError(
                f"--repeat {options['repeat']}: it must be at least 1.", returncode=2
            )
        if evennia.DefaultScript is None:
            evennia._init()
        work = import_module(WORK)
        if options["record"]:
            wanted = (options[name] for name in ("record", "turns", "whispers", "out"))
            code = work.record(*wanted, self.told)
        else:
            wanted = (options[n] for n in ("file", "profile", "repeat", "junit", "character"))
            code = work.check(*wanted, self.told)
        if code:
            sys.exit(code)

    def told(self, line: str) -> None:
        """Write a line at once, so that CI logs show progress."""
        self.stdout.write(line)
        self.stdout.flush()

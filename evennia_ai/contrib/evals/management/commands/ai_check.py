"""The command ``evennia ai_check``: play the scenes of a file, and check the answers."""

import sys
from importlib import import_module
from typing import Any, ClassVar

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser


class CheckCommand(BaseCommand):
    """Test how a character answers; nothing in the game changes, and no server is needed."""

    help = (
        "Play the scenes of a YAML file against a model or the stand-in, and check the "
        "answers. Exit code 0: all scenes passed, 1: some failed, 2: they could not be played."
    )
    requires_system_checks: ClassVar[list[str]] = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("file", help="the scene file")
        add("--profile", default="", help="the model profile, instead of the file's")
        add("--repeat", type=int, help="how often each scene is played, instead of the file's")
        add("--character", default="", help="play all scenes with this character of the game")

    def handle(self, *args: Any, **options: Any) -> None:
        repeat = options["repeat"]
        if repeat is not None and repeat < 1:
            raise CommandError(f"--repeat {repeat}: it must be at least 1.", returncode=2)
        if evennia.DefaultScript is None:
            evennia._init()
        work = import_module("evennia_ai.contrib.evals.play")  # once Evennia is there
        wanted = (options[n] for n in ("file", "profile", "repeat", "character"))
        code: int = work.check(*wanted, self._tell)
        if code:
            sys.exit(code)

    def _tell(self, line: str) -> None:
        """Write a line at once, so that CI logs show progress."""
        self.stdout.write(line)
        self.stdout.flush()


Command = CheckCommand  # the name that Django looks for

"""The command ``evennia ai_check``: play the scenes of a file, or record one from the log."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evennia_ai.management.saved_turns import SavedTurnsCommand


class Command(SavedTurnsCommand):
    """Test how a character answers; nothing in the game changes, and no server is needed."""

    help = (
        "Play the scenes of a YAML file against a model or the offline brain, and check the "
        "answers. Exit code 0: all scenes passed, 1: some failed, 2: they could not be played. "
        "With --record: write logged turns of a character as a scene."
    )
    work = "evennia_ai.testing.scenes.checking"

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file and the options."""
        add = parser.add_argument
        add("file", nargs="?", default="", help="the scene file")
        add("--profile", default="", help="the model profile, instead of the file's")
        add("--repeat", type=int, help="how often each scene is played, instead of the file's")
        add("--junit", default="", metavar="FILE", help="write JUnit XML for a CI system")
        add("--character", default="", help="play all scenes with this character of the game")
        self.add_record_arguments(parser, "write a scene")

    def check_options(self, options: dict[str, Any]) -> None:
        """Raise CommandError for a number of repeats below 1."""
        if options["repeat"] is not None and options["repeat"] < 1:
            raise CommandError(
                f"--repeat {options['repeat']}: it must be at least 1.", returncode=2
            )

    def play(self, work: Any, options: dict[str, Any]) -> int:
        """Play the scenes; return the exit code."""
        wanted = (options[n] for n in ("file", "profile", "repeat", "junit", "character"))
        code: int = work.check(*wanted, self.told)
        return code

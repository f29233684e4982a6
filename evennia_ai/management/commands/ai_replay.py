"""The command ``evennia ai_replay``: save model calls, and ask another model the same."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evennia_ai.management.saved_turns import SavedTurnsCommand


class Command(SavedTurnsCommand):
    """Compare models on prompts that were really sent; nothing in the game changes."""

    help = (
        "Ask a model again what a file of saved calls asked, and show both replies. With "
        "--record: save the calls of logged turns into such a file. No server is needed."
    )
    work = "evennia_ai.testing.replaying"

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file and the options."""
        parser.add_argument("file", nargs="?", default="", help="the file with saved calls")
        parser.add_argument("--profile", default="", help="the model profile to ask")
        self.add_record_arguments(parser, "save calls")

    def check_options(self, options: dict[str, Any]) -> None:
        """Raise CommandError for a file without a model to ask."""
        if options["file"] and not options["profile"]:
            raise CommandError("Which model? Give --profile <name>.", returncode=2)

    def play(self, work: Any, options: dict[str, Any]) -> int:
        """Ask for every call of the file again; return the exit code."""
        code: int = work.replay(options["file"], options["profile"], self.told)
        return code

"""The command ``evennia ai_uninstall``: remove this package's data from the game."""

from typing import Any

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evennia_ai.game.settings import is_game_running
from evennia_ai.game.texts import is_yes

NEXT_STEPS = """
All data of evennia_ai is deleted. Before you run any other command in this game, remove evennia_ai
from your own lines that are listed above, INSTALLED_APPS first. Then run: evennia start
"""
STILL_WRITE_AHEAD = (
    "The database is still in write-ahead mode, since another process has it open. End that "
    "process, and run this command again before you start the game."
)


class UninstallCommand(BaseCommand):
    """Remove the package's data after a question; the game must be stopped."""

    help = (
        "Remove all data of evennia_ai from the game: assistants, logs, lore, its tables, and its "
        "Attributes on characters. The characters stay. First stop the game and copy its database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--yes", action="store_true", help="delete without asking")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be deleted, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the data, ask, delete, and say what the admin must do next."""
        if evennia.DefaultScript is None:
            evennia._init()
        from evennia_ai.management import uninstall

        for line in uninstall.traces():
            self.stdout.write(line)
        if not options["dry_run"] and is_game_running():
            raise CommandError(
                "The game is running and would write new data. Run `evennia stop` first."
            )
        if options["dry_run"] or not (options["yes"] or self.confirmed()):
            self.stdout.write("Nothing was changed.")
            return
        uninstall.remove_data(self.stdout.write)
        if not uninstall.remove_tables():
            raise CommandError(STILL_WRITE_AHEAD)
        self.stdout.write(NEXT_STEPS)

    def confirmed(self) -> bool:
        """Return True if the admin types yes; without a terminal the answer is no."""
        try:
            return is_yes(input("Delete all of it for good? The characters stay. yes/[no] "))
        except EOFError:
            return False


Command = UninstallCommand  # the name that Django looks for

"""``evennia ai_uninstall``: take everything of this package out of the game."""

from __future__ import annotations

from typing import Any

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser

NEXT_STEPS = """
Everything is gone. Now, before anything else is run in this game, take evennia_ai out of your own
lines that were named above, INSTALLED_APPS first. Then: evennia start
"""
STILL_WRITE_AHEAD = (
    "The database could not leave its write-ahead mode, since another process has it open. End "
    "that process and run this command again, before the game is started."
)


class Command(BaseCommand):
    """Asks first; the game has to be down."""

    help = (
        "Take everything of evennia_ai out of the game: minds, logs, lore, its tables, what it "
        "wrote onto characters. The characters stay. Stop the game before, and copy its database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Two switches."""
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would go and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Look, ask, remove, and tell what is left to do."""
        if evennia.DefaultScript is None:
            evennia._init()
        from evennia_ai.management import uninstall

        traces = uninstall.find_traces()
        self.tell(traces)
        if options["dry_run"]:
            self.stdout.write("Nothing was changed.")
            return
        if uninstall.is_running():
            raise CommandError("The game is running, and would write anew: `evennia stop` first.")
        if not options["yes"] and not self.confirmed():
            self.stdout.write("Nothing was changed.")
            return
        uninstall.remove_traces(self.stdout.write)
        uninstall.remove_tables()
        if not uninstall.leave_write_ahead_mode():
            raise CommandError(STILL_WRITE_AHEAD)
        self.stdout.write(NEXT_STEPS)

    def tell(self, traces: Any) -> None:
        """Say what there is."""
        write = self.stdout.write
        write(f"Minds: {traces.minds}. Rows in tables: {sum(traces.rows.values()):,}.")
        for (path, before), count in sorted(traces.typeclasses.items()):
            write(f"Characters that become {before} again: {count} (now {path}).")
        for name, count in traces.attributes.items():
            write(f"Attribute {name}: on {count} characters.")
        for line in traces.code:
            write(f"Yours to take out: {line}")

    def confirmed(self) -> bool:
        """Ask at the terminal; without one the answer is no."""
        try:
            answer = input("Delete all of it, for ever? The characters stay. yes/[no] ")
        except EOFError:
            answer = ""
        return answer.strip().lower() in {"y", "yes"}

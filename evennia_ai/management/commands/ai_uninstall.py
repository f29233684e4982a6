"""The command ``evennia ai_uninstall``: remove this package's data from the game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evennia
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

if TYPE_CHECKING:
    from evennia_ai.management.uninstall import Traces

NEXT_STEPS = """
All data of evennia_ai is deleted. Before you run any other command in this game, remove evennia_ai
from your own lines that are listed above, INSTALLED_APPS first. Then run: evennia start
"""
STILL_WRITE_AHEAD = (
    "The database is still in write-ahead mode, since another process has it open. End that "
    "process, and run this command again before you start the game."
)
SHOWN_OF_A_FOLDER = 20


def code_lines(code: Sequence[str]) -> Iterator[str]:
    """Yield the game's own lines to remove; of a folder with many of them only their number."""
    for folder, group in groupby(code, lambda line: Path(line.partition(":")[0]).parts[0]):
        lines = list(group)
        if len(lines) > SHOWN_OF_A_FOLDER:
            yield f"Remove these yourself: {len(lines):,} lines in {folder}"
        else:
            yield from (f"Remove this yourself: {line}" for line in lines)


class Command(BaseCommand):
    """Remove the package's data after a question; the game must be stopped."""

    help = (
        "Remove all data of evennia_ai from the game: assistants, logs, lore, its tables, and its "
        "Attributes on characters. The characters stay. First stop the game and copy its database."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options --yes and --dry-run."""
        parser.add_argument("--yes", action="store_true", help="delete without asking")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be deleted, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the data, ask, delete, and say what the admin must do next."""
        if evennia.DefaultScript is None:
            evennia._init()
        from evennia_ai.management import backup, uninstall

        traces = uninstall.find_traces()
        self.show(traces)
        if options["dry_run"]:
            self.stdout.write("Nothing was changed.")
            return
        if backup.is_running():
            raise CommandError(
                "The game is running and would write new data. Run `evennia stop` first."
            )
        if not options["yes"] and not self.confirmed():
            self.stdout.write("Nothing was changed.")
            return
        uninstall.remove_traces(self.stdout.write)
        uninstall.remove_tables()
        if not uninstall.leave_write_ahead_mode():
            raise CommandError(STILL_WRITE_AHEAD)
        self.stdout.write(NEXT_STEPS)

    def show(self, traces: Traces) -> None:
        """Show what the package left in the game."""
        write = self.stdout.write
        write(f"Assistants: {traces.assistants}. Rows in tables: {sum(traces.rows.values()):,}.")
        for path, count in sorted(traces.typeclasses.items()):
            write(
                f"Characters that become {settings.BASE_CHARACTER_TYPECLASS}: {count} (now {path})."
            )
        for name, count in traces.attributes.items():
            write(f"Attribute {name}: on {count} characters.")
        for line in code_lines(traces.code):
            write(line)

    def confirmed(self) -> bool:
        """Return True if the admin types yes; without a terminal the answer is no."""
        try:
            answer = input("Delete all of it for good? The characters stay. yes/[no] ")
        except EOFError:
            answer = ""
        return answer.strip().lower() in {"y", "yes"}

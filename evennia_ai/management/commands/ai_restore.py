"""The command ``evennia ai_restore``: replace the game's database by a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser

from evennia_ai.management.backup import database_file, next_steps, restore


class Command(BaseCommand):
    """Replace the SQLite database by a checked copy; the game must be stopped."""

    help = (
        "Replace the game's SQLite database by a backup, which is checked first. The database "
        "before is kept beside it. Stop the game first. With PostgreSQL, it names the line of "
        "pg_restore to use."
    )
    requires_system_checks: ClassVar[list[str]] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file."""
        parser.add_argument("file", type=Path, help="the backup")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore the backup, and say what to do next."""
        file = options["file"]
        database = database_file("pg_restore", "--clean", "--if-exists", str(file))
        self.stdout.write("\n".join(next_steps(restore(database, file))))

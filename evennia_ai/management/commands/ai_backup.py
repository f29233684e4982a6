"""The command ``evennia ai_backup``: copy the game's database into a file."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evennia_ai.management.backup import copy_database, database_file


class Command(BaseCommand):
    """Copy the SQLite database, also while the game runs."""

    help = (
        "Copy the game's SQLite database into a file that only you can read. The game may run. "
        "With PostgreSQL, it names the line of pg_dump to use."
    )
    requires_system_checks: ClassVar[list[str]] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file."""
        parser.add_argument("file", type=Path, help="the file to write; it must not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the copy, and say how to restore it."""
        file = options["file"]
        try:
            copy_database(database_file("pg_dump", "-Fc", "-f", str(file)), file)
        except sqlite3.Error as error:
            raise CommandError(f"The database cannot be copied: {error}.") from error
        size = file.stat().st_size / 1e6
        self.stdout.write(
            f"{file}: {size:.1f} MB. It holds whispers; only you can read it.\n"
            f"To restore it: evennia stop, then evennia ai_restore {file}"
        )

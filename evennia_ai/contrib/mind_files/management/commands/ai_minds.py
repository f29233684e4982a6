"""The command ``evennia ai_minds``: keep what characters know over a rebuild of the world."""

from importlib import import_module
from pathlib import Path
from typing import Any

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evennia_ai.errors import ConfigError, StoreUnavailable
from evennia_ai.game.settings import is_game_running


class MindsCommand(BaseCommand):
    """Save minds into a file, load them into a new world, and match players to it."""

    help = (
        "Keep what NPCs know over a rebuild of the world: save, build the "
        "new world, load before anybody plays. A player who is not found for certain gets a number "
        "that nobody has, until `match` says who they are. The file holds private talk."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        save = parts.add_parser(
            "save", help="write minds into a new file; the game must be stopped"
        )
        save.add_argument("file", help="such as minds.jsonl.gz")
        save.add_argument("names", nargs="*", help="the characters; all of them without")
        load = parts.add_parser("load", help="take minds in; the game must be stopped")
        load.add_argument("file")
        load.add_argument(
            "--map", action="append", default=[], metavar="OLD=NEW",
            help="who somebody is here: an old name or number, and a number such as #12",
        )  # fmt: skip
        load.add_argument(
            "--players-by-name", action="store_true",
            help="match players by the names of account and character alone: only where nobody "
            "else can have taken them",
        )  # fmt: skip
        load.add_argument("--dry-run", action="store_true", help="show it, and change nothing")
        match = parts.add_parser("match", help="say who somebody is; the game must be stopped")
        match.add_argument("old", help="the number that `load` told")
        match.add_argument("new", help="a number such as #12")

    def handle(self, *args: Any, **options: Any) -> None:
        if evennia.DefaultScript is None:
            evennia._init()
        import_module("evennia_ai.game.extensions").own_classes()  # declare their kinds of records
        minds = import_module("evennia_ai.contrib.mind_files.transfer")
        people = import_module("evennia_ai.contrib.mind_files.mind_people")
        say, part = self.stdout.write, options["part"]
        if is_game_running():
            raise CommandError("The game is running. Run `evennia stop` first.")
        try:
            if part == "save":
                minds.save(Path(options["file"]), options["names"], say)
            elif part == "match":
                minds.match(options["old"], options["new"], say)
            else:
                by_hand = people.read_map(options["map"])
                somebody = minds.read_head(Path(options["file"]))
                matching = people.Matching(somebody, by_hand, options["players_by_name"])
                self.load(minds.load, matching, options)
        except (ConfigError, StoreUnavailable, OSError) as error:
            raise CommandError(str(error)) from error

    def load(self, load: Any, matching: Any, options: dict[str, Any]) -> None:
        self.stdout.write(f"Found here: {len(matching.found)} of {len(matching.people)}.")
        if missing := matching.missing():
            self.stdout.write(
                f"Not found, and known to nobody until matched: {', '.join(missing)}."
            )
        load(Path(options["file"]), matching, self.stdout.write, options["dry_run"])
        if options["dry_run"]:
            self.stdout.write("Nothing was changed.")


Command = MindsCommand  # the name that Django looks for

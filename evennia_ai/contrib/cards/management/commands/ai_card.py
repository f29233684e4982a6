"""The command ``evennia ai_card``: character cards and lorebooks in and out."""

from importlib import import_module
from pathlib import Path
from typing import Any

import evennia
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evennia_ai.errors import AssistantError
from evennia_ai.game.settings import game_setting, is_game_running


class CardCommand(BaseCommand):
    """Take a character card or a lorebook in, or write one."""

    help = (
        "Take a character card (V1 to V3: JSON, PNG, CHARX) or a lorebook (World Info) in, or "
        "write one. What a stranger wrote is a persona and lore: it can order nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        take = parts.add_parser("import", help="take a file in; the game must be stopped")
        take.add_argument("file", help="such as mira.png")
        take.add_argument("--character", default="", help="who gets the card, instead of its name")
        take.add_argument("--room", default="", help="the room of a new character, such as #2")
        take.add_argument("--scope", action="append", default=[], help="who knows a lorebook")
        give = parts.add_parser("export", help="write a card or a lorebook into a new file")
        give.add_argument("name", help="a character, or a lorebook as `import` told it")
        give.add_argument("file", help="such as mira.json, mira.png or mira.charx")
        give.add_argument("--picture", help="a PNG picture for the card")

        undo = parts.add_parser("undo", help="take the last card back; the game must be stopped")
        undo.add_argument("name", help="a character")

    def handle(self, *args: Any, **options: Any) -> None:
        if "cards" not in game_setting("EXTENSIONS", ()):
            raise CommandError("""Add "cards" to AI_ASSISTANT["EXTENSIONS"] first.""")
        if evennia.DefaultScript is None:
            evennia._init()
        cards = import_module("evennia_ai.contrib.cards.importing")
        try:
            self.do(cards, options)
        except (AssistantError, OSError) as error:
            raise CommandError(str(error)) from error

    def do(self, cards: Any, options: dict[str, Any]) -> None:
        part, say = options["part"], self.stdout.write
        if part != "export" and is_game_running():
            raise CommandError("The game is running. Run `evennia stop` first.")
        if part == "undo":
            cards.undo_import(options["name"], say)
        elif part == "import":
            name, room, scopes = (options[name] for name in ("character", "room", "scope"))
            cards.import_file(Path(options["file"]), name.strip(), room, scopes, say)
        else:
            picture = options["picture"] and Path(options["picture"])
            cards.export_file(options["name"], Path(options["file"]), picture)


Command = CardCommand  # the name that Django looks for

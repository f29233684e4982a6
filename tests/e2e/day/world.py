"""The game of a day of play: its rooms, assistants and players, its clock and its journal."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from server import running
from tests.e2e.day.plan import DAY_S, HOUR_S, Cast
from tests.e2e.harness import PASSWORD, GameServer

HERE = Path(__file__).parent
HOOKS = (HERE / "day_clock.py", HERE.parent / "crash" / "crash_points.py")
SETTINGS = (
    f"SERVER_SERVICES_PLUGIN_MODULES = {[f'world.{hook.stem}' for hook in HOOKS]!r}",
    "MAX_CONNECTION_RATE = 50",
)
MORNING_S = 7 * HOUR_S
# A small window: compactions come by themselves.
ASSISTANT: Mapping[str, Any] = {
    "autonomous_calls_per_hour": 0,
    "max_bot_replies": 0,
    "max_context_tokens": 5_500,
    "compact_preserve_window": 4,
    "turn_deadline": 8.0,
    "sleep_schedule": "22:00-06:00",
    "sleep_after_quiet": 5.0,
    "sleep_wake_within": 3.0,
    "tick_rate_sleep": 5.0,
    "TEXTS": {"first_meeting": ""},
}
BUILD = """
from evennia.accounts.accounts import DefaultAccount
from evennia.utils.create import create_object
from world.accounts import send_outside
PLACES = "evennia.objects.objects."
rooms = [create_object(PLACES + "DefaultRoom", f"Hall {{n}}") for n in range({rooms})]
ring = {cast.ring}
for n, room in enumerate(rooms):
    create_object(PLACES + "DefaultObject", "pewter mug", location=room, home=room)
    if n < ring:
        for way, step in {ways!r}.items():
            create_object(
                PLACES + "DefaultExit", way, location=room, destination=rooms[(n + step) % ring])
for name, n in {cast.minds!r}.items():
    mind = create_object(
        "evennia_ai.assistant_character.AssistantCharacter", name, location=rooms[n], home=rooms[n])
    mind.attach_assistant(f"{{name}} keeps the books of Hall {{n}} and likes short answers.")
for name, n in {cast.players!r}.items():
    account, errors = DefaultAccount.create(username=name, password={password!r})
    assert not errors, errors
    for character in account.characters:
        create_object(PLACES + "DefaultObject", "coin", location=character, home=rooms[n])
        character.location = rooms[n]
        send_outside(character)
"""


class DayGame(GameServer):
    """A `GameServer` whose clock can be set, and which kills itself at a moment."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, settings=SETTINGS, **options)
        self.offset_s = 0.0

    @property
    def journal(self) -> Path:
        """Return the file in which the server writes its promises and acts."""
        return self.folder / "crash.journal"

    @property
    def order_file(self) -> Path:
        """Return the file that names the point at which the server kills itself."""
        return self.folder / "crash.order"

    def build(self, cast: Cast, ways: Mapping[str, int], bug: str = "") -> None:
        """Build the world of a cast into a stopped game, and let its day begin in the morning.

        ``bug`` is one of `crash_points.PLANTS`.
        """
        if bug:
            (self.folder / "crash.plant").write_text(bug)
        for hook in HOOKS:
            shutil.copy(hook, self.folder / "world" / hook.name)
        rooms = 1 + max(cast.minds.values())
        self.python(BUILD.format(cast=cast, rooms=rooms, ways=dict(ways), password=PASSWORD))
        self.turn_clock(DAY_S + MORNING_S - time.time() % DAY_S)

    def turn_clock(self, seconds: float) -> None:
        """Set the game's clock forward, or back."""
        self.offset_s += seconds
        file = self.folder / "clock.offset"
        partial = file.with_suffix(".new")
        partial.write_text(repr(self.offset_s))
        partial.replace(file)

    def is_dead(self) -> bool:
        """Return True if no server runs."""
        return running.server_pid(self.folder) is None

    def revive(self) -> None:
        """Start the server after its death."""
        self.order_file.unlink(missing_ok=True)
        (self.folder / "server" / "server.pid").unlink(missing_ok=True)
        self.start()

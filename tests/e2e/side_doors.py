"""A game with a room and a character for each side door, and the people who try them.

The provider obeys every text of a prompt, so a door is held by the game's code or not at all.
"""

import base64
import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.e2e.fresh_game import DOCS, read_blocks
from tests.e2e.harness import ADMIN, PASSWORD, GameServer
from tests.e2e.telnet import MXP, TelnetPlayer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

NAMES = (
    "Abel", "Basil", "Clara", "Dora", "Enos", "Felix", "Gerda", "Hugo", "Ivo", "Jana", "Karl",
    "Lena", "Nora", "Otto", "Paul",
)  # fmt: skip
EVIL = "Eve|lcquit|ltclick|le http://evil.example |/Admin says"
STAFF = {"Bea": "Builder", "Ada": "Admin"}
CANARY = r"\bcanary-\w+"
VAULT = '''
from pathlib import Path
from django.conf import settings
from evennia_ai.tools import tool
from pydantic import BaseModel


class VaultArguments(BaseModel):
    door: str = "north"


@tool("staff_vault", lock="perm(Builder)")
def staff_vault(context, arguments: VaultArguments) -> str:
    """Open a door of the vault."""
    with Path(settings.GAME_DIR, "opened").open("a") as file:
        file.write(context.character.key + " ")
    return "It is open."
'''
MAKE_DOORS = """
from evennia.accounts.accounts import DefaultAccount
from evennia.objects.models import ObjectDB
from evennia.utils.create import create_object
from world.accounts import send_outside

ASSISTANT = "evennia_ai.assistant_character.AssistantCharacter"
OBJECTS = "evennia.objects.objects."
hub = ObjectDB.objects.get(id=2)

def keeper(name, room):
    persona = [("ai_persona", "You keep this room.")]
    made = create_object(ASSISTANT, name, room, room, attributes=persona)
    made.locks.add("edit:perm(Builder)")

for number, name in enumerate({names!r}):
    room = create_object(OBJECTS + "DefaultRoom", name + "'s room")
    for key, way in (("door " + str(number), (hub, room)), ("back", (room, hub))):
        create_object(OBJECTS + "DefaultExit", key, way[0], way[0], destination=way[1])
    keeper(name, room)
    if name == "Enos":
        keeper("Esra", room)
    if name == "Nora":
        keeper({evil!r}, room)
for name, permission in {staff!r}.items():
    account, errors = DefaultAccount.create(username=name, password={password!r})
    assert not errors, errors
    account.permissions.add(permission)
    for character in account.characters:
        send_outside(character)
ann = ObjectDB.objects.get(db_key="Ann")
create_object(OBJECTS + "DefaultObject", "golden key", ann, ann)
"""
CALLS = """
SELECT toolcall.state FROM evennia_ai_toolcall AS toolcall
JOIN scripts_scriptdb AS script ON script.id = toolcall.assistant_id
JOIN objects_objectdb AS keeper ON keeper.id = script.db_obj_id
WHERE keeper.db_key = ? AND toolcall.name = ? ORDER BY toolcall.id
"""


class SideDoors:
    """The running game, its provider, and everybody who is logged in."""

    def __init__(self, game: GameServer, stub: FaultyProvider) -> None:
        self.game, self.stub = game, stub
        self.people: dict[str, TelnetPlayer] = {}

    def __getattr__(self, name: str) -> TelnetPlayer:
        """Return somebody by their name in lower case."""
        try:
            return self.people[name.capitalize()]
        except KeyError as error:
            raise AttributeError(name) from error

    @contextmanager
    def logged_in(self, *names: str) -> Iterator[None]:
        """Log people in for a while; the staff's clients take MXP."""
        with ExitStack() as stack:
            for name in names:
                accept = {MXP} if name in STAFF else ()
                self.people[name] = stack.enter_context(self.game.player(name, accept))
            yield
            for name in names:
                self.people.pop(name)

    @contextmanager
    def visit(self, keeper: str, *people: TelnetPlayer) -> Iterator[None]:
        """Let people go into a keeper's room, and back again."""
        self.go(f"door {NAMES.index(keeper)}", *people)
        try:
            yield
        finally:
            self.go("back", *people)

    def go(self, way: str, *people: TelnetPlayer) -> None:
        """Let people take an exit."""
        for person in people:
            person.mark()
            person.send(way)
        for person in people:
            person.expect("Exits:.*\n")

    def ask(self, player: TelnetPlayer, line: str, keeper: str) -> str:
        """Let a player type a line; return what the keeper answers, as the player sees it."""
        player.mark()
        player.send(line)
        return player.expect(rf'{keeper} (?:says, "|whispers: ")(.*)"', 20)[1]

    def read(self, person: TelnetPlayer, *lines: str) -> str:
        """Let somebody type commands; return all that their client got, escapes included."""
        start = len(person.raw)
        for number, line in enumerate(lines):
            person.mark()
            person.send(line)
            person.send(f"nonsense{number}")  # its refusal shows that the command is over
            person.expect(rf"Command 'nonsense{number}' is not available")
        return person.raw[start:]

    def calls(self, keeper: str, tool: str) -> list[str]:
        """Return the states of a keeper's calls of a tool, in order."""
        return [row[0] for row in self.game.sql(CALLS, [keeper, tool])]

    def opened(self) -> list[str]:
        """Return the keepers who opened the vault, in order."""
        file = self.game.folder / "opened"
        return file.read_text().split() if file.exists() else []

    def prompts(self) -> list[str]:
        """Return the requests since the test began, as text."""
        return [
            json.dumps(request["body"]["messages"], ensure_ascii=False)
            for request in self.stub.requests()
        ]


def open_game(template: Path, folder: Path, stub: FaultyProvider) -> GameServer:
    """Return a running game with the doors."""
    settings = thinking_with(
        stub,
        TOOLS=["world.vault"],
        TEXTS={"first_meeting": ""},
        PLAYER_LIMITS={"turns_per_minute": None, "hostile_lines": None},
        autonomous_calls_per_hour=0,
        thinking_after=0,
    )
    game = GameServer.copy_of(template, folder, assistant=settings)
    page = (DOCS / "builders-guide.md").read_text(encoding="utf-8")
    (reward,) = [block.body for block in read_blocks(page) if "ai_perceived" in block.body]
    (game.folder / "world" / "vault.py").write_text(VAULT + reward)
    game.python(MAKE_DOORS.format(names=NAMES, evil=EVIL, staff=STAFF, password=PASSWORD))
    game.start()
    return game


EVERYBODY = ("Ann", "Ben", *STAFF, ADMIN)


def open_web_client(port: int) -> socket.socket:
    """Return a connection like that of Evennia's web client."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=120)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    return connection


def type_in_web_client(connection: socket.socket, line: str) -> None:
    """Type a line in the web client, in a frame of less than 126 bytes with a mask of zeros."""
    body = json.dumps(["text", [line], {}]).encode()
    connection.sendall(bytes([0x81, 0x80 | len(body), 0, 0, 0, 0]) + body)


def read_web_client(connection: socket.socket, pattern: str) -> str:
    """Return the HTML line that matches a pattern, as soon as it has come."""
    got = b""
    while not (found := re.search(pattern, got.decode(errors="replace"))):
        try:
            got += connection.recv(65536)
        except TimeoutError:
            raise AssertionError(f"the web client never got {pattern!r}: {got!r}") from None
    return found[0]

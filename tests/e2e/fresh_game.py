"""Follow a guide of the documentation in a newly initialised game, word for word.

    game = FreshGame(tmp_path)
    game.follow("quick-start.md")            # or only some of its sections, by their headings

The first line of a fenced block says what the test does with it:

    ```sh                          run it, in the folder where the block before ended
    ```sh install                  skip it: the tests' environment has the package
    ```python <path>               append it to this file of the game
    ```yaml <path>                 the same
    ```<language> example          skip it
    ```python remove <path>        remove these lines from this file
    ```text output                 expect this from the commands before; "…" matches anything
    ```text game                   type the lines after "> " as the superuser, expect the others
    ```text game as <name>         the same as a player of this name, who is created if missing

Free ports, the superuser's name and the loopback address, which a guide leaves to its reader, go
into ``secret_settings.py`` and the environment.
"""

import importlib.metadata
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from server import running
from tests.e2e.harness import ADMIN, HASHERS, PASSWORD, ROOT, TABLES, GameServer
from tests.e2e.telnet import TelnetPlayer

DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\S*)[ ]?(.*)\n((?:.*\n)*?)^```$|^#+ (.+)$", re.M)
ANYTHING = "…"
GAME = "mygame"
DISTRIBUTION = "evennia-ai"
NO_COMMAND = "synchronise-4711"
LAST_STARTED = "starting up."
IS_UP = "Evennia Server successfully"
NOT_FOR_LONG = ("Restarting Server once", "Server Shut Down", "Main loop terminated")
ANSWER_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its marks, its text and its heading."""

    language: str
    marks: str
    body: str
    heading: str


def read_blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    heading = ""
    for match in FENCE.finditer(text):
        if match[4]:
            heading = match[4].strip()
        else:
            yield Block(match[1], match[2].strip(), match[3], heading)


def as_pattern(line: str) -> str:
    """Return a line of a page as a regex."""
    return "[^\n]*".join(re.escape(part) for part in line.strip().split(ANYTHING))


class FreshGame(GameServer):
    """A game as ``evennia --init`` makes it, in a folder of its own.

    Args:
        folder: Where its first command is run.
        env: Environment variables of every command.
        interpreter: The Python that runs it, by its path.
        template: A directory of `first_start`. Its tables are there before the game's migrations.
    """

    def __init__(
        self,
        folder: Path,
        env: Mapping[str, str] | None = None,
        interpreter: str = sys.executable,
        template: Path | None = None,
    ) -> None:
        super().__init__(folder / GAME, env=env, interpreter=interpreter)
        self.cwd = folder.resolve()
        self.output = ""
        self.people: dict[str, TelnetPlayer] = {}
        self.launcher_log = folder.resolve() / "commands.log"
        self._accounts = {ADMIN}
        self._is_set_up = False
        self._template = template

    # --- the guide ----------------------------------------------------------------------------

    def follow(
        self,
        page: str,
        *headings: str,
        instead: Mapping[str, Callable[[Block], object]] | None = None,
    ) -> None:
        """Do what a page of the documentation says.

        Args:
            page: Its file.
            headings: Only the blocks under these.
            instead: Mark → what is done with blocks of that mark.
        """
        text = (DOCS / page).read_text(encoding="utf-8")
        blocks = [b for b in read_blocks(text) if not headings or b.heading in headings]
        assert blocks, f"{page} has nothing to follow under {headings}"
        for block in blocks:
            special = (instead or {}).get(f"{block.language} {block.marks}")
            (special or self.do)(block)

    def do(self, block: Block) -> None:
        """Do what one block asks for."""
        what, _, rest = block.marks.partition(" ")
        if block.language == "sh" and not what:
            self.shell(block.body)
        elif block.language == "sh" and what == "install":
            assert importlib.metadata.version(DISTRIBUTION)
        elif what == "example":
            pass
        elif block.language == "python" and what == "remove":
            self.take_out(rest, block.body)
        elif block.language in ("python", "yaml") and what:
            self.write(block.marks, block.body)
        elif (block.language, what) == ("text", "output"):
            self.check_output(block.body)
        elif (block.language, what) == ("text", "game"):
            self.play(rest.removeprefix("as ") or ADMIN, block.body)
        else:
            raise AssertionError(f"What is to be done with this block?\n{block}")

    def shell(self, script: str) -> str:
        """Run commands and wait until the server stays up or down."""
        self.leave()
        after = self.launcher_log.with_suffix(".cwd")
        self.output = self._run(["sh", "-c", f"set -e\n{script}\npwd > '{after}'"])
        running.finish_start(self.folder, self.output, lambda: self.launch("start"))
        self.cwd = Path(after.read_text().strip())
        if self.folder.exists() and not self._is_set_up:
            self._is_set_up = True
            self._keep_to_ourselves()
        self._wait_for(lambda: self.is_down() or self.is_up(), "come to rest")
        return self.output

    def write(self, path: str, text: str) -> None:
        """Append text to a file of the game."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(text)

    def take_out(self, path: str, text: str) -> None:
        """Remove lines from a file of the game."""
        file = self.folder / path
        before = file.read_text(encoding="utf-8")
        assert text in before, f"{path} does not hold {text!r}"
        file.write_text(before.replace(text, ""), encoding="utf-8")

    def check_output(self, shown: str) -> None:
        """Check that the commands before printed these lines, in this order."""
        at = 0
        for line in shown.splitlines():
            match = re.compile(as_pattern(line)).search(self.output, at)
            assert match, f"never printed: {line!r}\n{self.output}"
            at = match.end()

    def play(self, name: str, script: str) -> None:
        """Type the lines after "> " and wait for each of the others."""
        person = self.enter(name)
        for line in script.splitlines():
            if line.startswith("> "):
                person.send(line[2:])
            else:
                person.expect(as_pattern(line), ANSWER_TIMEOUT_S)

    # --- people -------------------------------------------------------------------------------

    def enter(self, name: str) -> TelnetPlayer:
        """Return a person's connection; log the person in first if need be."""
        if name not in self.people:
            person = self.people[name] = self.connect(name)
            person.expect("connect <", ANSWER_TIMEOUT_S)
            if name not in self._accounts:
                self._accounts.add(name)
                person.send(f"create {name} {PASSWORD}")
                person.expect(r"Is this what you intended\?", ANSWER_TIMEOUT_S)
                person.send("yes")
                person.expect("account '.*' was created", ANSWER_TIMEOUT_S)
            person.send(f"connect {name} {PASSWORD}")
            person.expect(f"You become {name}", ANSWER_TIMEOUT_S)
            person.send(NO_COMMAND)
            person.expect(f"'{NO_COMMAND}'.*\n", ANSWER_TIMEOUT_S)
        return self.people[name]

    def leave(self) -> None:
        """Close all connections."""
        for person in self.people.values():
            person.close()
        self.people.clear()

    # --- the server ---------------------------------------------------------------------------

    def is_up(self) -> bool:
        """Return True if the server takes commands. It restarts once after its first start."""
        log = self.folder / "server" / "logs" / "server.log"
        if not running.portal_pid(self.folder) or not log.exists():
            return False
        latest = log.read_text(errors="replace").rpartition(LAST_STARTED)[2]
        is_done = IS_UP in latest and not any(words in latest for words in NOT_FOR_LONG)
        return is_done and running.server_pid(self.folder) is not None

    def stop(self) -> None:
        """Stop the server and the portal, by force if need be."""
        self.leave()
        if self.folder.exists():
            super().stop()

    def discard(self) -> None:
        """Kill the server and the portal."""
        self.leave()
        super().discard()

    def environ(self) -> dict[str, str]:
        """Return the environment of the commands; the launcher finds the settings itself."""
        return {k: v for k, v in super().environ().items() if k != "DJANGO_SETTINGS_MODULE"}

    def _keep_to_ourselves(self) -> None:
        if self._template:
            shutil.copy(self._template / TABLES, self.database)
        web_inner, amp = self._inner_ports
        lines = [
            "LOCKDOWN_MODE = True",
            f"TELNET_PORTS = [{self.telnet_port}]",
            f"WEBSERVER_PORTS = [({self.web_port}, {web_inner})]",
            f"WEBSOCKET_CLIENT_PORT = {self.websocket_port}",
            f"AMP_PORT = {amp}",
            f"PASSWORD_HASHERS = {HASHERS}",
        ]
        with (self.folder / "server" / "conf" / "secret_settings.py").open("a") as file:
            file.write("\n".join(["", *lines, ""]))

"""The web client and the web site in a real browser that is allowed to talk to this machine only.

Needs playwright (the ``test`` extra brings it) and a Chromium; without one the tests are skipped.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.harness import PASSWORD, GameServer
from tests.e2e.telnet import GMCP
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")

# Without these it looks for its maker's hosts by itself; see `foreign`, which knows pages only.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
HERE = ("127.0.0.1", "localhost")
NO_NETWORK = ("data", "blob", "about")
# Evennia's admin names an icon that it does not have.
ICON_OF_THE_ADMIN = "/media/images/favicon.ico"
LATENCY_S = 3.0
LOAD_MS = 120_000  # only against a page that never comes
WAIT_MS = 15_000
TYPING = "#istyping, #ai-typing"
AWKWARD = "Old Tom O'Hara <b>"
MAKE_AWKWARD = """
from evennia.objects.models import ObjectDB
from evennia.utils.create import create_object
create_object(
    "evennia_ai.assistant_character.AssistantCharacter",
    key={key!r},
    location=ObjectDB.objects.get(id=2),
    attributes=[("ai_persona", "You are Tom."), ("ai_fillers", ["scratches his ear."])],
)
"""


class WebPlayer:
    """One browser window with a memory: what it asked for, what went wrong, what it was sent."""

    def __init__(self, page: Any, server: GameServer, shots: Path) -> None:
        self.page = page
        self.site = f"http://127.0.0.1:{server.web_port}"
        self.shots = shots
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self.frames: list[str] = []
        page.set_default_timeout(LOAD_MS)
        page.on("request", lambda request: self.note_address(request.url))
        page.on("websocket", self.note_socket)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self.note_console)
        page.on("response", self.note_response)

    def note_address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in NO_NETWORK and parts.hostname not in HERE:
            self.foreign.append(url)

    def note_socket(self, socket: Any) -> None:
        self.note_address(socket.url)
        socket.on("framereceived", lambda payload: self.frames.append(str(payload)))

    def note_console(self, message: Any) -> None:
        if message.type == "error" and not str(message.location).count(ICON_OF_THE_ADMIN):
            self.errors.append(f"{message.text} {message.location}")

    def note_response(self, response: Any) -> None:
        if response.status >= 400 and ICON_OF_THE_ADMIN not in response.url:
            self.errors.append(f"{response.status} {response.url}")

    def visit(self, path: str) -> None:
        self.page.goto(self.site + path, wait_until="networkidle")

    def connect(self, name: str) -> None:
        """Log in by the line that a player types."""
        self.page.goto(f"{self.site}/webclient/")
        self.expect("connect <name> <password>")
        self.type(f"connect {name} {PASSWORD}")
        self.expect("You become")

    def type(self, line: str) -> None:
        field = self.page.locator(".inputfield").last
        field.fill(line)
        field.press("Enter")

    def expect(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text is on the screen."""
        playwright.expect(self.page.locator("body")).to_contain_text(text, timeout=LOAD_MS)

    def expect_typing(self, name: str) -> None:
        playwright.expect(self.page.locator(TYPING)).to_be_visible(timeout=WAIT_MS)
        playwright.expect(self.page.locator(TYPING)).to_have_text(
            re.compile(rf"^\s*{name} is typing…\s*$")
        )

    def expect_no_typing(self) -> None:
        playwright.expect(self.page.locator(TYPING)).to_be_hidden(timeout=WAIT_MS)
        playwright.expect(self.page.locator(TYPING)).to_have_text(re.compile(r"^\s*$"))

    def shoot(self, name: str) -> None:
        self.page.screenshot(path=self.shots / f"{name}.png")

    def check(self) -> None:
        """Nothing left this machine, nothing went wrong and no message was unknown."""
        playwright.expect(self.page.locator("body")).not_to_contain_text("Unhandled event")
        assert self.foreign == []
        assert self.errors == []


@pytest.fixture(scope="module")
def game(game_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GameServer]:
    """A game whose assistants take three seconds to think."""
    folder = tmp_path_factory.mktemp("browser")
    with FaultyProvider(folder / "requests.jsonl", latency=LATENCY_S) as stub:
        assistant = thinking_with(
            stub, autonomous_calls_per_hour=0, max_bot_replies=0, TEXTS={"first_meeting": ""}
        )
        server = GameServer.copy_of(game_template, folder / "game", assistant=assistant)
        try:
            server.python(MAKE_AWKWARD.format(key=AWKWARD))
            server.start()
            yield server
        finally:
            server.discard()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def window(browser: Any, game: GameServer, tmp_path: Path) -> Iterator[Callable[[], WebPlayer]]:
    """Return a function that opens a window of somebody of his own; checks each in the end."""
    opened: list[WebPlayer] = []

    def open_window() -> WebPlayer:
        page = browser.new_context(viewport={"width": 1100, "height": 700}).new_page()
        opened.append(WebPlayer(page, game, tmp_path))
        return opened[-1]

    yield open_window
    for player in opened:
        player.check()
        player.page.context.close()


def test_a_player_logs_in_talks_sees_the_thinking_and_is_answered(
    window: Callable[[], WebPlayer],
) -> None:
    ann = window()
    ann.connect("Ann")
    ann.shoot("1-arrived")
    ann.type("say hello Mira")
    ann.expect('You say, "hello Mira"')
    ann.expect_typing("Mira")
    ann.expect(re.compile(r"Mira (ponders|takes|weighs)"))
    ann.expect_typing("Mira")
    ann.shoot("2-thinking")
    ann.expect('Mira says, "')
    ann.expect_no_typing()
    ann.shoot("3-answered")


def test_a_whisper_and_all_its_thinking_is_between_its_parties(
    window: Callable[[], WebPlayer],
) -> None:
    ann, ben = window(), window()
    ben.connect("Ben")
    ann.connect("Ann")
    ben.expect("Ann has entered the game")
    ben.frames.clear()
    ann.type("whisper Mira = my secret is 4711")
    ann.expect_typing("Mira")
    ann.expect(re.compile(r"Mira (ponders|takes|weighs)"))
    ann.shoot("1-ann")
    ben.shoot("2-ben")
    ann.expect('Mira whispers: "')
    ann.expect_no_typing()
    ben.type("inventory")
    ben.expect("You are not carrying anything.")
    seen = "".join(ben.frames)
    assert "not carrying" in seen
    assert not re.search("Mira|4711|is_typing|ai_typing|whisper", seen)


def test_a_name_that_is_no_plain_word_is_shown_and_taken_back(
    window: Callable[[], WebPlayer],
) -> None:
    ben = window()
    ben.connect("Ben")
    for _ in range(2):
        ben.frames.clear()
        ben.type("say hello Old Tom")
        ben.expect_typing(r"Old\sTom\sO.Hara\s.b.")
        ben.expect("scratches his ear.")
        ben.shoot("typing")
        ben.page.wait_for_function("!document.querySelector('.player-is-typing')")
        ben.expect_no_typing()
        assert ben.page.locator(f"{TYPING} >> b").count() == 0


def test_the_site_and_its_log_in_lead_into_the_game(window: Callable[[], WebPlayer]) -> None:
    cid = window()
    cid.visit("/")
    cid.shoot("1-front-page")
    cid.visit("/auth/login/")
    cid.page.fill("input[name=username]", "Cid")
    cid.page.fill("input[name=password]", PASSWORD)
    cid.page.locator("form[method=post] [type=submit]").first.click()
    cid.expect("Logged in as Cid")
    cid.shoot("2-logged-in")
    cid.page.goto(f"{cid.site}/webclient/")
    cid.expect("You become")
    cid.type("say hello Mira")
    cid.expect_typing("Mira")
    cid.expect('Mira says, "')


def test_the_staff_log_in_needs_nobody_else(window: Callable[[], WebPlayer]) -> None:
    staff = window()
    staff.visit("/admin/")
    staff.expect("Log in")
    staff.shoot("admin")


def test_a_telnet_client_is_told_by_gmcp(game: GameServer) -> None:
    with game.player("Ann", accept=[GMCP]) as ann:

        def told() -> list[dict[str, Any]]:
            messages = [data.decode() for option, data in ann.out_of_band if option == GMCP]
            words = [data.partition(" ") for data in messages]
            return [json.loads(content) for name, _, content in words if name == "Ai.Typing"]

        ann.send("say hello Mira")
        ann.expect("Mira (ponders|takes|weighs)")
        assert {"name": "Mira", "state": True} in told()
        ann.expect('Mira says, "')
        assert game.wait_until(lambda: told()[-1] == {"name": "Mira", "state": False}, 5.0)

"""The staff pages in a real browser: every page opened and clicked, wide and narrow.

Needs playwright (the ``test`` extra brings it) and a Chromium; without one the tests are skipped.
The screenshots are in the test's folder, or in that of ``EVENNIA_AI_SHOTS``.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.staff_world import fill
from tests.e2e.harness import ADMIN, PASSWORD, GameServer

pytest.importorskip("evennia_ai.contrib.staff_pages")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WIDTHS = {"wide": (1280, 900), "narrow": (390, 844)}
# The icon of Evennia's base page.
ICON = "/media/images/favicon.ico"
WAIT_MS = 120_000
NO_OVERFLOW = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def game(game_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GameServer]:
    """Return a game with 50 assistants and 10,000 turns."""
    folder = tmp_path_factory.mktemp("pages") / "game"
    server = GameServer.copy_of(game_template, folder)
    try:
        assert "MADE" in server.python(fill(entries=300, waiting=2))
        server.start()
        yield server
    finally:
        server.discard()


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the screenshots."""
    chosen = os.environ.get("EVENNIA_AI_SHOTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("shots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Staff:
    """One browser window of a staff member, and what went wrong in it."""

    def __init__(self, page: Any, server: GameServer, shots: Path, name: str) -> None:
        self.page, self.name, self.shots = page, name, shots
        self.site = f"http://127.0.0.1:{server.web_port}"
        self.errors: list[str] = []
        self.seen: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("response", self.note_response)
        page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))

    def note_response(self, response: Any) -> None:
        if response.status >= 400 and ICON not in response.url:
            self.errors.append(f"{response.status} {response.url}")

    def log_in(self, name: str) -> None:
        """Log in by the form to which the pages lead a stranger."""
        self.page.goto(f"{self.site}/ai/")
        self.page.fill("input[name=username]", name)
        self.page.fill("input[name=password]", PASSWORD)
        self.page.locator("form:has(input[name=password]) [type=submit]").first.click()
        self.page.wait_for_url(f"{self.site}/ai/")

    def look(self, what: str) -> None:
        """Check the page that is open, and keep a picture of it."""
        self.page.wait_for_load_state("load")
        self.page.screenshot(path=self.shots / f"{self.name}-{what}.png", full_page=True)
        assert self.page.evaluate(NO_OVERFLOW), f"{self.name} {what} overflows"
        assert "taken over" not in self.page.title()
        assert self.page.locator(".ai script:not([type='application/json'])").count() == 0
        self.seen.append(what)

    def tab(self, name: str) -> None:
        self.page.locator(".tabs").get_by_role("link", name=name, exact=True).click()
        self.page.wait_for_load_state("load")

    def expect(self, text: str) -> None:
        playwright.expect(self.page.locator(".ai")).to_contain_text(text, timeout=WAIT_MS)

    def check(self) -> None:
        assert self.errors == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def window(browser: Any, game: GameServer, shots: Path) -> Iterator[Callable[..., Staff]]:
    """Return a function that opens a window; each is checked in the end."""
    opened: list[Staff] = []

    def open_window(width: str = "wide", colours: str = "light", scripts: bool = True) -> Staff:
        size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
        context = browser.new_context(
            viewport=size, color_scheme=colours, java_script_enabled=scripts
        )
        name = f"{width}-{colours}{'' if scripts else '-plain'}"
        opened.append(Staff(context.new_page(), game, shots, name))
        return opened[-1]

    yield open_window
    for staff in opened:
        staff.check()
        staff.page.context.close()


def visit_every_page(staff: Staff) -> None:
    """Open every page by its link, and use what can be used on it."""
    visit_logs(staff)
    visit_knowledge(staff)


def visit_logs(staff: Staff) -> None:
    """Open the overview and the pages of turns."""
    page = staff.page
    staff.expect("Characters")
    staff.look("overview")
    staff.tab("All turns")
    unfold_filters(staff)
    page.fill("input[name=tool]", "say")
    page.get_by_role("button", name="Show").click()
    staff.look("turns-of-all")
    staff.tab("Characters")
    page.locator("table.cards a", has_text="Mira").first.click()
    staff.expect("Waiting for an answer")
    staff.look("turns")
    page.get_by_role("link", name="More", exact=True).click()
    unfold_filters(staff)
    page.fill("input[name=player]", "Ben")
    page.fill("input[name=words]", "watchtower")
    page.get_by_role("button", name="Show").click()
    staff.expect("Ben: What do you know of the old watchtower")
    staff.look("turns-filtered")
    page.locator(".turn a").first.click()
    staff.expect("Model calls")
    staff.look("turn")
    staff.tab("Live")
    staff.look("live")


def unfold_filters(staff: Staff) -> None:
    """Open the filters where they are folded, on a narrow screen."""
    summary = staff.page.locator("details.filters:not([open]) > summary")
    if summary.is_visible():
        summary.click()


def visit_knowledge(staff: Staff) -> None:
    """Open what a character is and knows, and what became of its log."""
    page = staff.page
    staff.tab("Setup")
    staff.expect("tick_rate")
    staff.look("setup")
    staff.tab("Memory")
    staff.expect("That was day")
    staff.look("memory")
    page.get_by_role("link", name="Older", exact=True).click()
    staff.expect("Page 2 of")
    page.fill("input[name=words]", "who has the key to the watchtower")
    page.fill("input[name=as]", "Ben")
    page.get_by_role("button", name="Search").click()
    staff.expect("If Ben asked")
    staff.look("memory-search")
    staff.tab("Relations")
    staff.expect("Familiarity")
    staff.look("relations")
    staff.tab("Lore")
    page.fill("input[name=line]", "Who built the watchtower?")
    page.get_by_role("button", name="Try").click()
    staff.expect("yes: score")
    staff.look("lore")
    staff.tab("Compactions")
    staff.look("compactions")
    page.locator(".rows .head a").first.click()
    staff.expect("For everybody")
    staff.look("compaction")
    staff.tab("Sleep")
    staff.look("sleep")


@pytest.mark.parametrize(
    ("width", "colours", "scripts"),
    [("wide", "light", True), ("narrow", "dark", True), ("narrow", "light", False)],
)
def test_staff_open_and_click_every_page_and_the_log_says_who_read_whispers(
    window: Callable[..., Staff], game: GameServer, width: str, colours: str, scripts: bool
) -> None:
    staff = window(width, colours, scripts)
    staff.log_in(ADMIN)
    page = staff.page
    assert page.locator(".scroll tbody tr").count() == 30
    assert page.locator(".chart canvas").count() == page.locator(".chart:visible").count()
    assert page.locator(".chart").is_visible() == scripts
    assert page.locator("table.cards tbody tr").count() == 50
    visit_every_page(staff)
    assert len(staff.seen) == 14
    assert re.search(rf"account {ADMIN} \(#1\): \S+ read \d+ private items of Mira", game.log())


def test_a_form_changes_a_memory(window: Callable[..., Staff]) -> None:
    staff = window()
    staff.log_in(ADMIN)
    page = staff.page
    page.locator("table.cards a", has_text="Mira").first.click()
    staff.tab("Memory")
    page.locator("details.act summary").click()
    page.fill("details.act input[name=text]", "The well <b>is</b> dry.")
    page.get_by_role("button", name="Add").click()
    playwright.expect(page.locator(".alert")).to_contain_text("Added.")
    staff.expect("The well <b>is</b> dry.")
    page.locator(".acts summary").first.click()
    staff.look("memory-acts")


def test_what_is_edited_on_the_pages_is_seen_in_the_game(
    window: Callable[..., Staff], game: GameServer
) -> None:
    staff = window()
    staff.page.goto(f"{staff.site}/")
    assert staff.page.get_by_role("link", name="NPCs").count() == 0
    staff.log_in(ADMIN)
    page = staff.page
    page.goto(f"{staff.site}/")
    page.get_by_role("link", name="NPCs").click()
    page.locator("table.cards a", has_text="Mira").first.click()
    staff.tab("Setup")
    page.fill("textarea[name=persona-wants]", "a new roof")
    page.get_by_role("button", name="Save the persona").click()
    playwright.expect(page.locator(".alert")).to_contain_text("The persona is changed.")
    page.select_option("select[name=setting-setting]", "tick_rate")
    page.fill("input[name=setting-value]", "soon")
    page.get_by_role("button", name="Save the setting").click()
    playwright.expect(page.locator(".alert")).to_contain_text("tick_rate must be")
    staff.look("setup-error")
    page.fill("input[name=setting-value]", "9")
    page.get_by_role("button", name="Save the setting").click()
    playwright.expect(page.locator(".alert")).to_contain_text("tick_rate is now 9")
    staff.tab("Lore")
    page.get_by_text("Write lore").click()
    page.fill("input[name=lore-title]", "The well")
    page.fill("textarea[name=lore-text]", "It is dry.")
    page.get_by_role("button", name="Save", exact=True).click()
    staff.expect("It is dry.")
    page.locator("tr", has_text="The well").get_by_role("link", name="Edit").click()
    staff.look("lore-edit")
    with game.player(ADMIN) as boss:
        boss.send("aisetup Mira")
        boss.expect("a new roof")
        boss.expect("tick_rate = 9")
        boss.send("ailore The well")
        boss.expect("It is dry.")


def test_a_marked_turn_is_found_and_downloaded_as_a_scene(window: Callable[..., Staff]) -> None:
    staff = window()
    staff.log_in(ADMIN)
    page = staff.page
    page.locator("table.cards a", has_text="Mira").first.click()
    page.locator(".turn", has_text="Ann").get_by_role("link", name="Turn").first.click()
    page.get_by_text("Mark this turn").click()
    page.select_option("select[name=mark-mark]", "bad")
    page.fill("textarea[name=mark-comment]", "says: <b>welcome</b>")
    page.get_by_role("button", name="Save the mark").click()
    playwright.expect(page.locator(".alert")).to_contain_text("is stored.")
    staff.expect("says: <b>welcome</b>")
    staff.look("turn-marked")
    staff.tab("Turns")
    page.select_option("select[name=mark]", "bad")
    page.get_by_role("button", name="Show").click()
    playwright.expect(page.locator(".turn")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_text("as scenes for evennia ai_check").click()
    scenes = download.value.path().read_text(encoding="utf-8")
    assert "character: Mira" in scenes and "<b>welcome</b>" in scenes


def test_the_live_view_shows_what_is_said_meanwhile(
    window: Callable[..., Staff], game: GameServer
) -> None:
    staff = window()
    staff.log_in(ADMIN)
    staff.page.locator("table.cards a", has_text="Mira").first.click()
    staff.tab("Live")
    with game.player("Ann") as ann:
        ann.send("say Mira, have you seen my lantern?")
        ann.expect("You say")
        staff.expect("have you seen my lantern?")

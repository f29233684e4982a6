"""Take the screenshots of the documentation: `make screenshots`.

A new game with the demo's world is played for a few lines, with replies that stand below. Then a
browser opens the web client and the staff pages, and each picture goes into docs/images/.

Needs playwright (the ``test`` extra brings it) and a Chromium. Look at every picture before you
commit it.
"""

import base64
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.e2e import cast
from tests.e2e.harness import ADMIN, PASSWORD, ROOT, GameServer
from tests.e2e.test_browser import CHROMIUM, FLAGS, WebPlayer, playwright
from tests.provider import FaultyProvider

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 720}
QUALITY = 82
MOST_BYTES = 100_000
LATENCY_S = 1.5
PROFILE = {
    "client": "openai",
    "model": "example-8b",
    "stream": False,  # a reply is one line, so that its sentences stand together
    "prices": {"input": 0.20, "cached": 0.05, "output": 0.80},
}
# What Ann says, and what the language model replies.
TALK = {
    "Good evening, Mira. I am looking for my daughter Wren.": (
        "Good evening, Ann. Sit down by the hearth. What does Wren look like?"
    ),
    "Mira, she has red hair and sails on the Petrel.": (
        "The Petrel? She is a brig, and she brings salt and letters every second Friday."
    ),
    "Mira, who keeps the key to the watchtower?": (
        "Brannoc the smith keeps the key to the old watchtower. The mayor gave him a silver ring."
    ),
}
LAST_LINE, LAST_REPLY = "Mira, and where will the Petrel moor?", "At the north quay, as always."
FILL = """
import datetime
from evennia.objects.models import ObjectDB
from evennia_ai import models
from evennia_ai.store.call_records import add_to

people = {one.db_key: one for one in ObjectDB.objects.filter(
    db_key__in=["Mira", "Brannoc", "Sister Oda", "Ann", "Ben", "Cid"])}
today = datetime.datetime.now(datetime.UTC).date()
for place, name in enumerate(["Mira", "Brannoc", "Sister Oda"]):
    for ago in range(1, 30):
        share = (4 + ago * ago * 7 % 11 + place * ago % 5) * (3 - place)
        add_to(models.DailyUse, {
            "assistant_id": people[name].assistant.id, "profile": "hosted",
            "day": today - datetime.timedelta(days=ago),
        }, {"calls": share, "prompt_tokens": 3_900 * share, "cached_tokens": 2_800 * share,
            "completion_tokens": 60 * share})
        at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=ago)
        models.Turn.objects.bulk_create(models.Turn(
            assistant_id=people[name].assistant.id, at=at, ended_at=at, context="tick",
            audience=[], outcome="answered") for _ in range(share))
mira = people["Mira"]
ann, ben = people["Ann"].dbref, people["Ben"].dbref
mira.journal.add_all([
    {"id": "s1", "content": "Ann's daughter Wren sails on the Petrel.", "speakers": [ann],
     "importance": 7},
    {"id": "s2", "content": "Brannoc keeps the key to the watchtower.", "speakers": [ben],
     "importance": 6},
    {"id": "s3", "content": "Ben owes me five crowns for the salt.", "speakers": [ben],
     "importance": 5, "audience": [ben]},
    {"id": "s4", "content": "The ferry from Lowbridge comes on Tuesdays.", "speakers": [ann],
     "importance": 3},
])
for title, words, scopes in (
    ("The watchtower", "Brannoc the smith keeps the key to the old watchtower.", ["all"]),
    ("The Petrel", "She is a brig, and she brings salt and letters every second Friday.", ["all"]),
    ("The smugglers", "Smugglers use the cellar of the Gull.", ["quest:trusted"]),
):
    models.Lore.objects.create(title=title, text=words, scopes=scopes)
"""


class Camera(WebPlayer):
    """A browser window whose pictures are the documentation's."""

    def take(self, name: str, whole: bool = False) -> None:
        """Store a picture of the window, or of the ``whole`` page, as WebP."""
        self.page.wait_for_load_state("networkidle")
        height = self.page.evaluate("document.documentElement.scrollHeight") if whole else 0
        clip = {"x": 0, "y": 0, "width": SIZE["width"], "scale": 1}
        clip["height"] = min(max(height, SIZE["height"]), 2 * SIZE["height"])
        session = self.page.context.new_cdp_session(self.page)
        orders = {"format": "webp", "quality": QUALITY, "captureBeyondViewport": True}
        picture = session.send("Page.captureScreenshot", {**orders, "clip": clip})
        data = base64.b64decode(picture["data"])
        (self.shots / f"{name}.webp").write_bytes(data)
        remark = " (too large)" if len(data) > MOST_BYTES else ""
        print(f"docs/images/{name}.webp: {len(data) / 1000:.0f} kB{remark}")

    def log_in(self) -> None:
        """Log in to the site and open the staff pages."""
        self.page.goto(f"{self.site}/ai/")
        self.page.fill("input[name=username]", ADMIN)
        self.page.fill("input[name=password]", PASSWORD)
        self.page.locator("form:has(input[name=password]) [type=submit]").first.click()
        self.page.wait_for_url(f"{self.site}/ai/")

    def tab(self, name: str) -> None:
        self.page.locator(".tabs").get_by_role("link", name=name, exact=True).click()
        self.page.wait_for_load_state("load")


@contextmanager
def playing(folder: Path) -> Iterator[GameServer]:
    """Start a game of the demo's world whose characters think with the replies above."""
    with FaultyProvider(folder / "requests.jsonl", latency=LATENCY_S) as stub:
        stub.rules(
            {
                line: {"tool_calls": [{"name": "say", "arguments": {"text": reply}}]}
                for line, reply in (*TALK.items(), (LAST_LINE, LAST_REPLY))
            }
        )
        assistant = {
            "profile": "hosted",
            "PROFILES": {"hosted": {**PROFILE, "base_url": stub.base_url}},
            "CURRENCY": "EUR",
            "autonomous_calls_per_hour": 0,
        }
        server = GameServer.first_start(folder / "game", assistant=assistant)
        try:
            server.python(FILL)
            server.start()
            yield server
        finally:
            server.discard()


def main() -> int:
    """Take all pictures; return the exit status."""
    cast.record()
    if not CHROMIUM:
        print("No Chromium was found. Install one, so that `chromium` is on the path.")
        return 1
    IMAGES.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as folder,
        playing(Path(folder)) as server,
        playwright.sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))

        def window() -> Camera:
            page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
            return Camera(page, server, IMAGES)

        show_talk(window())
        show_pages(window())
        browser.close()
    return 0


def show_talk(ann: Camera) -> None:
    """Take the web client while Mira types."""
    ann.connect("Ann")
    for line, reply in TALK.items():
        ann.type(f"say {line}")
        ann.expect(reply)
        ann.expect_no_typing()
    ann.type(f"say {LAST_LINE}")
    ann.expect_typing("Mira")
    ann.take("web-client")
    ann.expect_no_typing()


def show_pages(staff: Camera) -> None:
    """Take the staff pages."""
    staff.log_in()
    staff.take("overview", whole=True)
    page: Any = staff.page
    page.locator("table.cards a", has_text="Mira").first.click()
    page.fill("input[name=words]", "watchtower")
    page.get_by_role("button", name="Show").click()
    page.locator(".turn a").first.click()
    staff.expect("Where each sentence comes from")
    staff.take("turn", whole=True)
    staff.tab("Memory")
    page.fill("input[name=words]", "Who sails on the Petrel, and who owes me crowns?")
    page.fill("input[name=as]", "Ann")
    page.get_by_role("button", name="Search").click()
    staff.expect("If Ann asked")
    staff.take("memory-search", whole=True)
    staff.tab("Lore")
    page.fill("input[name=line]", "Who has the key to the watchtower?")
    page.get_by_role("button", name="Try").click()
    staff.expect("yes: score")
    staff.take("lore")


if __name__ == "__main__":
    sys.exit(main())

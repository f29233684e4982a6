"""The NPCs of ``docs/npc-in-five-minutes.md``, typed line by line as their files say."""

import re
from pathlib import Path

import pytest

from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]
for name in ("quests", "shop"):
    pytest.importorskip(f"evennia_ai.contrib.{name}", reason="an extension of the page is left out")
PAGE = Path(__file__).parents[2] / "docs" / "npc-in-five-minutes.md"
BLOCK = re.compile(r"^```text (\S+)([^\n]*)\n(.*?)^```$", re.M | re.S)


def blocks(heading):
    text = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [(match[1], match[3]) for match in BLOCK.finditer(text)]


class Page:
    """A builder who types a file of the page, and Ann, who plays what it shows."""

    def __init__(self, game):
        self.game, self.room = game, game.room("Square")
        self.builder = game.player("Bea", self.room, permissions=["Builder"])
        self.ann = game.player("Ann", self.room)

    def build(self, heading):
        (body,) = (body for name, body in blocks(heading) if name.startswith("world/"))
        for line in filter(lambda line: not line.startswith("#"), body.splitlines()):
            told = self.builder.told(line)
            assert "may not" not in told and "Usage" not in told, (line, told)
            self.game.run(1)

    def play(self, heading):
        (body,) = (body for name, body in blocks(heading) if name == "game")
        before = 0
        for line in body.splitlines():
            if line.startswith("> "):
                before = len(self.ann.heard())
                self.ann.do(line[2:])
                self.game.run(3)
                continue
            heard = "\n".join(self.ann.heard()[before:])
            wanted = "[^\n]*".join(map(re.escape, line.split("…")))
            assert re.search(wanted, heard), (line, heard)


@pytest.fixture
def page(offline_game):
    from evennia_ai.game.extensions import own_classes

    for item in own_classes():
        if item.name in ("shop", "quests"):
            offline_game.service.toolbox.add_of([item()])
    return Page(offline_game)


@pytest.mark.parametrize("heading", ["A guard", "A shopkeeper"])
def test_the_stand_in_plays_it_as_the_page_shows(page, heading):
    page.build(heading)
    page.ann.character.db.coins = 10
    page.play(heading)


def test_the_quest_giver_sets_its_flag_for_what_happened(game):
    from evennia_ai.contrib.quests import check_quests, set_quest

    for item in (check_quests, set_quest):
        game.service.toolbox.add(item)
    page = Page(game)
    page.build("A quest giver")
    ann = page.ann.character
    wanted = call("set_quest", flag="key_returned")
    game.model.add(call("noop"), wanted, call("say", text="My key!"))
    page.play("A quest giver")
    page.ann.do("say Bruno, here is your key.")
    game.run(3)
    assert ann.tags.get(category="quest", return_list=True) == ["key_returned"]
    told = page.builder.told("ailore/for Bruno = Does a tunnel lead into the yard?")
    assert "The tunnel" in told

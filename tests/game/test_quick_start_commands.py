"""The commands of ``docs/quick-start.md``, typed by an account that may build and nothing more."""

import re
from pathlib import Path

import pytest

from evennia_ai.models import Message
from tests.e2e.fresh_game import as_pattern, read_blocks

pytestmark = [pytest.mark.game, pytest.mark.engine]
PAGE = Path(__file__).parents[2] / "docs" / "quick-start.md"
# A game that `evennia --init` made has its own typeclass; the tests' game has this one.
NEW_GAMES, OURS = "typeclasses.characters.Character", "world.characters.Character"
COMMANDS = [
    block.body for block in read_blocks(PAGE.read_text(encoding="utf-8"))
    if (block.language, block.marks) == ("text", "game")
]  # fmt: skip


@pytest.fixture
def builder(offline_game):
    """Return a builder as an admin makes one, `perm/account Bea = Builder`."""
    player = offline_game.player("Bea", offline_game.room("Limbo"))
    player.account.permissions.add("Builder")
    assert not player.account.is_superuser and not player.character.permissions.all()
    return player


def typed(game, player, line):
    player.forget()
    player.do(line.replace(NEW_GAMES, OURS))
    game.run(3)
    return "\n".join(player.heard())


def test_a_builder_can_type_each_command_of_the_page(offline_game, builder):
    commands, heard, wanted = [], "", 0
    for line in "".join(COMMANDS).splitlines():
        if line.startswith("> "):
            commands.append(line[2:])
            heard = typed(offline_game, builder, line[2:])
        elif "computer program" not in line:  # the tests' game does not tell it
            wanted += 1
            assert re.search(as_pattern(line), heard), (commands[-1], line, heard)
    assert len(commands) == 5 and wanted >= 8
    assert Message.objects.filter(content__contains="Good evening, Otto.").exists()


def test_a_builder_can_open_the_menu_of_the_page(offline_game, builder):
    pytest.importorskip("evennia_ai.contrib.setup_menu", reason="the page's menu is left out")
    assert "aisetup" in builder.told("help aisetup").lower()
    heard = typed(offline_game, builder, "aisetup")
    assert "not available" not in heard and "may not" not in heard and heard.strip()

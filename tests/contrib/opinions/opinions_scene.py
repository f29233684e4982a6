"""A tavern whose Mira has opinions."""

import pytest

from evennia_ai.contrib.opinions import OpinionsExtension
from evennia_ai.contrib.opinions.opinion_records import OpinionDeeds
from tests.game import conftest, extensions_scene

asked_for, busy = extensions_scene.asked_for, conftest.busy


class Tavern:
    """Mira, and what people do to her."""

    def __init__(self, game, mira):
        self.game, self.mira = game, mira

    def gives(self, player, key="rope"):
        self.game.thing(key, player.character)
        player.do(f"give {key} to Mira")
        self.game.run(1)

    def of(self, player):
        return self.mira.ai_opinions.of(player.character)

    def deeds(self):
        return OpinionDeeds.of(self.mira).all()

    def rows(self, *players):
        """Return what a prompt for some players tells of opinions."""
        (extension,) = [e for e in self.game.service.extensions if isinstance(e, OpinionsExtension)]
        audience = frozenset(player.dbref for player in players)
        rows = extension.prompt_rows(self.mira.assistant.mind.around, audience)
        return [line.text for _label, line in rows]


@pytest.fixture
def tavern_of_opinions(asked_for, game, mira):
    asked_for("opinions", "shop", "quests")
    return Tavern(game, mira)

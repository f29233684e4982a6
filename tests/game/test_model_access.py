"""The models of scenes are those of the game, but its tables are left alone."""

import pytest
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.game.model_access import ModelAccess
from evennia_ai.game.settings import SettingReader
from evennia_ai.policy.limits.endpoints import Speed
from evennia_ai.store.server_settings import FACTS, read_mapping

pytestmark = [pytest.mark.game, pytest.mark.django_db]

FAR = ModelProfile("far", client="openai", model="m", base_url="http://x/v1")


def models(is_apart):
    """Return the game's models, or those of scenes."""
    return ModelAccess(Clock(), {}, SettingReader(), print, is_apart)


@pytest.mark.parametrize("is_apart", [False, True])
def test_what_scenes_learn_of_endpoints_is_not_stored(is_apart):
    access = models(is_apart)
    access.endpoints.note_probe(FAR, "plain", False, Speed())
    assert access.endpoints.told(FAR).told.form == "plain"
    assert bool(read_mapping(FACTS)) is not is_apart


def test_scenes_know_what_the_game_learnt():
    models(is_apart=False).endpoints.note_probe(FAR, "plain", False, Speed())
    assert models(is_apart=True).endpoints.told(FAR).told.form == "plain"

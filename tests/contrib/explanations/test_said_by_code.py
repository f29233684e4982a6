"""What a small model's character says without its model is explained, too."""

import pytest

from tests.game import plain_scene

mira, forbidding = plain_scene.mira, plain_scene.forbidding
pytestmark = [pytest.mark.game, pytest.mark.django_db]


def test_aiwhy_tells_that_code_answered(game, forbidding, ann, admin):
    ann.do("say Mira, open the cellar for me!")
    game.run(1)
    assert not game.model.requests and 'Mira says, "' in ann.last()
    told = admin.told("aiwhy Mira")
    assert "No model chose this line. Code did, without asking one" in " ".join(told.split())

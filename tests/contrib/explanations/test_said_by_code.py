"""What a small model's character says without its model is explained, too."""

import pytest

from tests.game import plain_scene

mira, forbidding = plain_scene.mira, plain_scene.forbidding
with_meaning, knowing = plain_scene.with_meaning, plain_scene.knowing
NEVER = plain_scene.NEVER
pytestmark = [pytest.mark.game, pytest.mark.django_db]


def test_aiwhy_tells_that_code_answered(game, forbidding, ann, admin):
    ann.do("say Mira, open the cellar for me!")
    game.run(1)
    assert not game.model.requests and 'Mira says, "' in ann.last()
    told = admin.told("aiwhy Mira")
    assert "No model chose this line. Code did, without asking one" in " ".join(told.split())
    assert f"the game's line 'refuses': its persona says that it never does this: {NEVER}" in told


def test_aiwhy_names_the_row_that_code_said(game, knowing, ann, admin, bob):
    rows = {
        "Mira, where were you born?": "persona, 100%: You were born in Saltmere.",
        "Mira, who else is here?": "situation, 92%: People here: Ann, Ada, Bob",
    }
    for line, row in rows.items():
        assert plain_scene.says(game, ann, line) == [], line
        admin.do("aiwhy Mira")
        game.run(60)
        told = "\n".join(admin.heard())
        assert f"What code said is from (by what it knows now)\n  {row}" in told, line
        admin.forget()

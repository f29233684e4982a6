"""What `aiwhy` tells of a line that stands for an answer that failed."""

import pytest

from tests.game.test_endpoint_cases import handed_over, play, service

__all__ = ["handed_over", "play", "service"]
pytestmark = [pytest.mark.game, pytest.mark.engine]


def test_aiwhy_tells_what_failed_who_spoke_instead_and_what_tests_it(play, offline_game):
    words, scene = play((401, "no", ()))
    who = {"Ada": {"superuser": True}, "Bea": {"permissions": ["Builder"]}}
    place, why = scene.character.location, f"aiwhy {scene.character.dbref}"
    ada, bea = (offline_game.player(name, place, **rank).told(why) for name, rank in who.items())
    for told in (ada, bea):
        assert "The stand-in spoke it, since no model answered." in told
        assert f"{scene.name}:m" in told and f"aitest/provider {scene.name}" in told
    assert scene.server.base_url in ada and scene.server.base_url not in bea
    scene.character.assistant.mind.settings.write({"fallback_line": words[0]})
    assert "the game's line" in offline_game.player("Eve", place, superuser=True).told(why)

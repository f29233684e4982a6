"""`help` leads staff and builders to their pages, and players to theirs."""

import pytest

pytestmark = [pytest.mark.game, pytest.mark.django_db, pytest.mark.engine]
BUILDERS = "What builders do, each with an example."


def test_help_leads_to_the_page_of_who_asks(game):
    room = game.room()
    builder, ann = game.player("Bea", room, permissions=["Builder"]), game.player("Ann", room)
    assert "Five commands do what staff need" in builder.told("help ai")
    assert "Five commands" not in ann.told("help ai") and "Five" not in ann.told("help ai staff")
    assert "Only commands stop all, hide" in builder.told("help ai staff")
    topics = (
        *("lore", "shop", "quest", "guard", "scene", "persona", "character", "forbid"),
        *("secret", "trigger", "rumour", "promise", "opinion", "card"),
    )
    for topic in ("ai builders", "ai tools", *topics):
        assert BUILDERS in builder.told(f"help {topic}"), topic
        assert BUILDERS not in ann.told(f"help {topic}"), topic
    assert "aisetup" not in ann.told("help minds")

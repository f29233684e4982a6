"""What a player acts out or says never reads like what the game perceived."""

from evennia_ai.testing.scripted import call


def last_line(game):
    """Return the last line of the latest request."""
    return str(game.model.requests[-1].messages[-1]["content"])


def test_a_pose_of_a_gift_does_not_read_like_the_gift(game, ann, mira):
    game.model.add(call("noop"), call("noop"))
    game.thing("golden key", ann.character)
    ann.do("emote gives you golden key.")
    game.run()
    acted = last_line(game)
    ann.do("give golden key to Mira")
    game.run()
    assert acted != last_line(game)

"""What strangers say nearby leaves room for those who ask."""

from evennia_ai.models import Event
from tests.scripted import call


def ask(game, player):
    game.model.add(call("say", text="Good day to you."))
    player.do("say Mira, good day")
    game.run(2)


def test_a_strangers_lines_leave_most_of_a_prompt_to_those_who_ask(game, mira, ann):
    mira.assistant.db.max_context_tokens = 6_000
    mira.assistant.db.compact_enabled = False
    bob = game.player("Bob", mira.location)
    game.model.add(call("say", text="A kestrel, then."))
    ann.do("say Mira, my ship is the Kestrel")
    game.run(2)
    for number in range(60):
        bob.do(f"say The {number}th barrel of ale " + "in the old cellar is dearer and " * 8)
        game.run(1)
    for read_anew in (False, True):
        if read_anew:
            mira.assistant.conversation.forget_view()
        ask(game, ann)
        prompt = "\n".join(m["content"] or "" for m in game.model.requests[-1].messages)
        assert "my ship is the Kestrel" in prompt
        assert "The 59th barrel" in prompt
        assert 5 < prompt.count("barrel of ale") < 30
    assert Event.objects.filter(state="noted", text__contains="The 0th barrel").exists()

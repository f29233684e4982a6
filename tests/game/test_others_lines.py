"""Who asks pays for what they caused, and not for what others said nearby."""

import pytest

from evennia_ai.models import DailyUse, Event, ModelCall, SpeakerUse
from tests.scripted import call


def tokens_of(player):
    return sum(SpeakerUse.objects.filter(speaker=player.dbref).values_list("tokens", flat=True))


def ask(game, player):
    """Let a player ask once; return what they paid, and what the game paid."""
    before = tokens_of(player), game_tokens()
    game.model.add(call("say", text="Good day to you."))
    player.do("say Mira, good day")
    game.run(2)
    return tokens_of(player) - before[0], game_tokens() - before[1]


def game_tokens():
    rows = DailyUse.objects.values_list("prompt_tokens", "completion_tokens")
    return sum(map(sum, rows))


@pytest.mark.parametrize("lines", [20, 60])
def test_a_strangers_lines_are_on_nobodys_bill(game, mira, ann, lines):
    bob = game.player("Bob", mira.location)
    first, _ = ask(game, ann)
    for number in range(lines):
        bob.do(f"say The {number}th barrel of ale in the old cellar is dearer than the last one")
        game.run(1)
    second, whole = ask(game, ann)
    assert whole > 1.3 * first  # the lines are in the prompt
    assert 0 < second < 1.25 * first
    assert not tokens_of(bob)
    assert ModelCall.objects.latest("id").estimated_tokens == whole


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

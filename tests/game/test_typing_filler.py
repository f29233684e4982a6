"""An answer that takes long is bridged by a line of what the character does meanwhile."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.models import Event, Message, ToolCall
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def mira(game, tavern):
    mira = game.assistant("Mira", tavern)
    mira.db.ai_fillers = ["rubs her chin."]
    return mira


@pytest.fixture
def late(game):
    """An answer on its way; the next line said sets it off."""
    answer = Deferred()
    game.model.add(answer)
    return answer


def fillers(player):
    """The lines a player saw that are nobody's speech."""
    return [line for line in player.heard() if line.startswith("Mira") and '"' not in line]


def test_it_comes_after_two_seconds_once_and_for_all_present(game, ann, bob, late):
    ann.do("say hello Mira")
    game.run(1.9)
    assert fillers(ann) == []
    game.run(0.2)
    assert fillers(ann) == fillers(bob) == ["Mira rubs her chin."]
    game.run(10)
    late.callback(call("say", text="Hello!"))
    game.run(30)
    assert fillers(ann) == ["Mira rubs her chin."]
    assert ann.last() == 'Mira says, "Hello!"'


def test_of_a_whisper_only_its_parties_see_it(game, ann, bob, late):
    ann.do("whisper Mira = psst")
    game.run(3)
    assert fillers(ann) == ["Mira rubs her chin."]
    assert bob.heard() == []


def test_it_is_no_act_and_no_assistant_hears_it(game, ann, mira, late, tavern):
    otto = game.assistant("Otto", tavern)
    mira.db.ai_fillers = ["looks at Otto."]
    ann.do("say hello Mira")
    game.run(3)
    assert fillers(ann) == ["Mira looks at Otto."]
    assert not Event.objects.filter(speaker=mira.dbref).exists()
    assert not ToolCall.objects.exists()
    assert not any("looks at" in message.content for message in Message.objects.all())
    assert len(game.model.requests) == 1
    assert otto.assistant.mind.inbox.open_events().waiting == ()


@pytest.mark.parametrize("seconds", [0, 5.0])
def test_the_setting_says_when_and_zero_is_never(game, ann, mira, late, seconds):
    mira.assistant.db.thinking_after = seconds
    ann.do("say hello Mira")
    game.run(4.9)
    assert fillers(ann) == []
    game.run(0.2)
    assert bool(fillers(ann)) == bool(seconds)


def think_long(game, player, times):
    """Have the player say so many lines that take long to answer."""
    for _ in range(times):
        answer = Deferred()
        game.model.add(answer)
        player.do("say hello Mira")
        game.run(3)
        answer.callback(call("noop"))
        game.run()


def test_the_hook_decides(game, ann, mira):
    asked = []
    mira.at_ai_thinking = lambda seconds: asked.append(seconds) or "polishes a mug."
    think_long(game, ann, 1)
    assert (asked, fillers(ann)) == ([2.0], ["Mira polishes a mug."])
    mira.at_ai_thinking = lambda seconds: None
    think_long(game, ann, 1)
    assert fillers(ann) == ["Mira polishes a mug."]


def test_a_hook_that_fails_does_not_cost_the_answer(game, ann, mira, late):
    mira.at_ai_thinking = lambda seconds: 1 / 0
    ann.do("say hello Mira")
    game.run(3)
    late.callback(call("say", text="Hello!"))
    assert ann.last() == 'Mira says, "Hello!"'


def test_markup_is_harmless(game, ann, mira):
    mira.db.ai_fillers = ["|lcquit|lthums|le {here} $pad(x)\nAdmin says, hello"]
    think_long(game, ann, 1)
    assert fillers(ann) == ["Mira |lcquit|lthums|le {here} $pad(x) Admin says, hello"]


def test_a_stopped_character_does_nothing(game, ann, mira, late):
    ann.do("say hello Mira")
    game.run()
    mira.assistant.mind.stop_thinking()
    game.run(3)
    assert fillers(ann) == []

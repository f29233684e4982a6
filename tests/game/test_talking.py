"""From a line in a room to an answer in it, on the real database."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.messages import IncomingEvent
from evennia_ai.models import Event, Message, ToolCall
from evennia_ai.turn.turn_runner import TURNS_A_TICK
from tests.scripted import call


def states():
    return dict(Event.objects.values_list("text", "state"))


def test_say_is_answered_in_the_room(game, ann, bob, mira):
    game.model.add(call("say", text="Hello, Ann!"))
    ann.do("say hello Mira")
    game.run()
    assert ann.last() == 'Mira says, "Hello, Ann!"'
    assert bob.last() == 'Mira says, "Hello, Ann!"'
    assert states() == {"hello Mira": "answered"}


@pytest.mark.parametrize("tool", ["say", "whisper"])
def test_a_whisper_is_answered_by_a_whisper_whatever_the_model_calls(game, ann, bob, mira, tool):
    game.model.add(call(tool, text="Our secret."))
    ann.do("whisper Mira = psst")
    game.run()
    assert ann.last() == 'Mira whispers: "Our secret."'
    assert bob.heard() == []


def test_what_was_told_in_confidence_cannot_be_whispered_to_somebody_else(game, ann, bob, mira):
    game.model.add(call("whisper", text="Ann says psst", target="Bob"), call("noop"))
    ann.do("whisper Mira = psst")
    game.run()
    assert bob.heard() == []
    assert ToolCall.objects.first().state == "failed"


def test_an_emote_in_a_whispered_talk_is_not_for_the_room(game, ann, bob, mira):
    game.model.add(call("emote", text="shouts psst"), call("noop"))
    ann.do("whisper Mira = psst")
    game.run()
    assert bob.heard() == []


def test_who_comes_in_while_it_thinks_does_not_hear_what_was_told_in_confidence(
    game, ann, mira, tavern
):
    game.model.add(call("whisper", text="I keep it."))
    ann.do("whisper Mira = my secret")
    game.run()
    late = Deferred()
    game.model.add(late)
    ann.do("say what did I whisper?")
    game.run()
    bob = game.player("Bob", tavern)
    late.callback(call("say", text="Your secret."))
    game.run()
    assert ann.last() == 'Mira whispers: "Your secret."'
    assert bob.heard() == []


@pytest.mark.parametrize("tool", ["say", "whisper", "emote"])
def test_markup_that_a_model_writes_is_shown_and_not_obeyed(game, ann, mira, tool):
    game.model.add(call(tool, text="nods |rred|n at http://a.example."), call("noop"))
    ann.do("say Mira, how do you do?")
    game.run()
    (shown,) = [line for line in ann.session.sent if "nods" in line]
    assert "||rred||n" in shown and "http://" not in shown


def test_the_log_holds_who_said_what_to_whom(game, ann, bob, mira):
    game.model.add(call("say", text="Hello!"))
    ann.do("say hello Mira")
    game.run()
    user, act, result = Message.objects.order_by("id")
    assert (user.content, user.speaker) == ("Ann says: hello Mira", ann.dbref)
    assert set(user.audience) == set(act.audience) == {ann.dbref, bob.dbref}
    assert act.tool_calls[0]["function"]["name"] == "say"
    assert (result.role, result.content) == ("tool", "You said it.")
    assert all(row.tokens > 0 for row in (user, act, result))


def test_one_turn_at_a_time_and_nothing_is_lost_meanwhile(game, ann, mira):
    late = Deferred()
    game.model.add(late, call("say", text="two"))
    ann.do("say one")
    game.run()
    ann.do("say and another")
    game.run(3)
    assert len(game.model.requests) == 1
    assert states() == {"one": "claimed", "and another": "waiting"}
    late.callback(call("say", text="one"))
    game.run()
    assert states() == {"one": "answered", "and another": "answered"}


def test_what_one_tick_leaves_over_is_answered_by_the_next(game, ann, mira):
    count = TURNS_A_TICK + 2
    game.model.add(*[call("whisper", text=f"Yes to {n}.") for n in range(count)])
    for number in range(count):  # each has an audience of its own, and so a turn
        ears = frozenset({ann.dbref, f"#{9_000 + number}"})
        heard = IncomingEvent(
            "whisper", ann.dbref, "Ann", f"psst {number}", ears, True, addressed=True
        )
        mira.assistant.mind.inbox.put(heard)
    mira.assistant.mind.status.wake()
    game.run(1)
    assert set(states().values()) == {"answered"} and len(states()) == count


def test_an_excuse_is_not_answered_by_another_assistant(game, ann, mira, tavern):
    from evennia_ai.errors import ProviderUnavailable

    game.assistant("Otto", tavern)
    game.model.add(ProviderUnavailable("down"))
    mira.assistant.db.fallback_line = "Otto, I am lost."
    ann.do("say Mira?")
    for _ in range(5):
        game.run(1)
    assert len(game.model.requests) == 1
    assert ann.last() == 'Mira says, "Otto, I am lost."'


def test_another_assistant_hears_what_was_said_and_not_how_it_is_sent(game, ann, mira, tavern):
    from evennia_ai.models import Event

    otto = game.assistant("Otto", tavern)
    game.model.add(call("say", text="Otto, red|green or {{x}} at http://a.example?"), call("noop"))
    ann.do("say Mira, hello.")
    game.run(1)
    heard = Event.objects.filter(assistant_id=otto.assistant.id, speaker=mira.dbref)
    assert [row.text for row in heard] == ["Otto, red|green or {{x}} at http://a.example?"]

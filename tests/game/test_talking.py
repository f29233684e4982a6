"""From a line in a room to an answer in it, on the real database."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.messages import Heard
from evennia_ai.models import Event, Message, ModelCall, ToolCall, Turn
from evennia_ai.turn.answer_events import TURNS_A_TICK
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


def test_plain_text_to_a_whisper_is_whispered_too(game, ann, bob, mira):
    game.model.add("Our secret.")
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


def test_an_emote_is_seen_by_all(game, ann, bob, mira):
    game.model.add((call("emote", text="nods at {Ann} $you()."), call("say", text="Aye.")))
    ann.do("emote bows to Mira.")
    game.run()
    assert bob.heard()[-2:] == ["Mira nods at {Ann} $you().", 'Mira says, "Aye."']


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


def test_turn_calls_and_costs_are_stored(game, ann, mira):
    game.model.add(call("say", text="Hello!"))
    ann.do("say hi")
    game.run()
    turn = Turn.objects.get()
    assert turn.outcome == "answered"
    assert ModelCall.objects.get().turn_id == turn.id
    act = ToolCall.objects.get()
    assert (act.name, act.state, act.world) == ("say", "done", True)


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


def test_a_slow_assistant_does_not_hold_up_another(game, ann, mira, tavern):
    game.assistant("Otto", tavern)
    game.model.add(Deferred(), call("say", text="Otto here"))
    ann.do("say Mira?")
    game.run()
    ann.do("say Otto?")
    game.run()
    assert ann.last() == 'Otto says, "Otto here"'


def test_what_one_tick_leaves_over_is_answered_by_the_next(game, ann, mira):
    count = TURNS_A_TICK + 2
    game.model.add(*[call("whisper", text=f"Yes to {n}.") for n in range(count)])
    for number in range(count):  # each has an audience of its own, and so a turn
        ears = frozenset({ann.dbref, f"#{9_000 + number}"})
        heard = Heard("whisper", ann.dbref, "Ann", f"psst {number}", ears, True, addressed=True)
        mira.assistant.mind.inbox.put(heard)
    mira.assistant.mind.life.wake()
    game.run(1)
    assert set(states().values()) == {"answered"} and len(states()) == count


def test_two_assistants_stop_talking_to_each_other(game, ann, mira, tavern):
    game.assistant("Otto", tavern)
    game.model.add(*[call("say", text=t) for t in ("Otto?", "Mira?", "Otto!", "Mira!", "Otto...")])
    ann.do("say Mira, ask Otto")
    for _ in range(10):
        game.run(1)
    assert len(game.model.requests) == 4
    assert Event.objects.filter(reason="hop limit").count() == 1


def test_nothing_answers_while_somebody_steers_the_character(game, ann, mira):
    account = game.player("Admin", game.room("Office"), superuser=True)
    account.account.puppet_object(account.session, mira)
    ann.do("say hello")
    game.run()
    assert game.model.requests == []
    game.model.add(call("say", text="Back again."))
    account.account.unpuppet_object(account.session)
    game.run()
    assert ann.last() == 'Mira says, "Back again."'


def test_who_was_steered_by_a_superuser_has_no_rights_of_his_afterwards(game, ann, mira, tavern):
    admin = game.player("Admin", game.room("Office"), superuser=True)
    locked = game.thing("crown", tavern)
    locked.locks.add("get:false()")
    admin.account.puppet_object(admin.session, mira)
    admin.account.unpuppet_object(admin.session)
    game.model.add(call("get", item="crown"), call("say", text="I may not."))
    ann.do("say take the crown")
    game.run()
    assert locked.location is tavern
    assert ann.last() == 'Mira says, "I may not."'


def test_deleting_the_character_while_it_thinks_is_quiet(game, ann, mira):
    late = Deferred()
    game.model.add(late)
    ann.do("say hi")
    game.run()
    mira.delete()
    late.callback(call("say", text="a ghost"))
    game.run(1)
    assert not any("ghost" in line for line in ann.heard())
    assert not Event.objects.exists()


def test_the_fallback_line_comes_when_no_model_answers(game, ann, mira):
    from evennia_ai.errors import ProviderUnavailable

    game.model.add(ProviderUnavailable("Nobody answers at 127.0.0.1:9."))
    ann.do("say hi")
    game.run()
    assert "my thoughts wandered" in ann.last()
    assert states() == {"hi": "excused"}
    assert ModelCall.objects.get().error == "Nobody answers at 127.0.0.1:9."


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


def test_a_games_own_hook_may_add_markup_to_what_is_said(game, ann, mira, tavern, monkeypatch):
    from evennia_ai.assistant_character import AssistantCharacter
    from evennia_ai.models import Event

    otto = game.assistant("Otto", tavern)
    monkeypatch.setattr(
        AssistantCharacter, "at_pre_say", lambda self, words, **manner: f"|c{words}|n"
    )
    game.model.add(call("say", text="Otto, a|b"), call("noop"))
    ann.do("say Mira, hello.")
    game.run(1)
    assert 'Mira says, "|cOtto, a||b|n"' in ann.session.sent
    heard = Event.objects.filter(assistant_id=otto.assistant.id, speaker=mira.dbref)
    assert [row.text for row in heard] == ["Otto, a|b"]

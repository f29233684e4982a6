"""How the tables close a turn that came to no end, by what it may have said and done."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.messages import IncomingEvent
from evennia_ai.models import Event, ToolCall
from evennia_ai.store.turns import assistants_with_work, open_turns, recover_turn
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def open_turn(game, ann, mira):
    """A function that begins a turn for Ann's words and intends an act."""

    def begin(context="tick_event", act="say"):
        script = mira.assistant
        if not Event.objects.filter(text="hello"):
            ears = frozenset({ann.dbref})
            script.mind.inbox.put(
                IncomingEvent("say", ann.dbref, "Ann", "hello", ears, addressed=True)
            )
        waiting, doubtful = (
            script.mind.inbox.open_events().waiting,
            script.mind.inbox.open_events().doubtful,
        )
        events = [*waiting, *doubtful]
        turn = script.mind.turns.begin(events, frozenset({ann.dbref}), False, context)
        if act:
            script.mind.turns.intend(turn.id, call(act, text="one"), True)
        return script, turn

    return begin


def state_of_words():
    return Event.objects.get(kind="say").state


def crash(game):
    """Close every open turn, as the next process does."""
    for turn_id in open_turns():
        recover_turn(turn_id, game.service.now())


def test_a_turn_that_lost_its_lease_may_do_nothing_more(open_turn):
    script, turn = open_turn()
    turns = script.mind.turns
    assert turns.is_current(turn.id)
    turns.lose_lease()
    assert not turns.is_current(turn.id)


def test_a_second_attempt_has_what_the_first_one_overheard(game, ann, mira, open_turn):
    ears = frozenset({ann.dbref})
    mira.assistant.mind.inbox.put(IncomingEvent("say", ann.dbref, "Ann", "Nice weather.", ears))
    _script, first = open_turn(act=None)
    crash(game)
    _script, second = open_turn(act=None)
    texts = [[event.heard.text for event in turn.overheard] for turn in (first, second)]
    assert texts == [["Nice weather."]] * 2


def test_what_came_during_a_tick_is_looked_at_after_it(game, ann, mira):
    mind, held = mira.assistant.mind, Deferred()
    mind.ticker.run(lambda: held)
    ears = frozenset({ann.dbref})
    mind.inbox.put(IncomingEvent("say", ann.dbref, "Ann", "Mira?", ears, addressed=True))
    mira.assistant.at_tick()
    game.model.add(call("say", text="Yes?"))
    held.callback(0)
    game.run(1)
    assert state_of_words() == "answered"


def test_after_a_crash_in_an_excuse_no_model_is_asked(game, open_turn):
    open_turn(context="excuse", act=None)
    crash(game)
    assert state_of_words() == "doubtful"


def test_a_turn_that_is_ended_from_outside_leaves_no_intent_open(open_turn):
    script, turn = open_turn()
    script.mind.turns.finish(turn.id, "expired", "it was stopped")
    assert [act.state for act in ToolCall.objects.all()] == ["unknown"]


def test_acts_of_a_turn_whose_answer_nobody_heard_are_remembered(open_turn):
    script, turn = open_turn(act="give")
    script.mind.turns.give_back(turn.id)
    script, again = open_turn(act=None)
    assert [act.name for act in again.done_before] == ["give"]


def test_acts_are_remembered_although_the_clock_was_set_back_meanwhile(game, open_turn):
    script, turn = open_turn(act=None)
    game.clock.rightNow -= 2
    script.mind.turns.intend(turn.id, call("give", item="mug"), True)
    crash(game)
    game.clock.rightNow -= 2
    script, again = open_turn(act=None)
    assert [act.name for act in again.done_before] == ["give"]


def test_acts_for_the_oldest_of_several_lines_are_remembered(game, ann, open_turn):
    script, _turn = open_turn(act="give")
    crash(game)
    ears = frozenset({ann.dbref})
    script.mind.inbox.put(IncomingEvent("say", ann.dbref, "Ann", "hurry", ears, addressed=True))
    open_turn(act=None)
    crash(game)
    script, third = open_turn(act=None)
    assert len(third.events) == 2
    assert [act.name for act in third.done_before] == ["give"]


def test_what_others_confided_unasked_is_in_no_turn_for_somebody_else(ann, bob, mira):
    script = mira.assistant
    for who, name, private in ((bob, "Bob", True), (bob, "Bob", False), (ann, "Ann", True)):
        ears = frozenset({who.dbref}) if private else frozenset({ann.dbref, bob.dbref})
        kind = "whisper" if private else "say"
        script.mind.inbox.put(
            IncomingEvent(kind, who.dbref, name, f"{name} {kind}", ears, private=private)
        )
    turn = script.mind.turns.begin([], frozenset({ann.dbref}), False, "tick_event")
    assert [event.heard.text for event in turn.overheard] == ["Bob say", "Ann whisper"]


@pytest.mark.parametrize("state", ["waiting", "doubtful", "claimed", "answered", "noted"])
def test_only_who_owes_an_answer_has_work_after_a_start(ann, mira, state):
    inbox = mira.assistant.mind.inbox
    heard = IncomingEvent("say", ann.dbref, "Ann", "Mira?", frozenset({ann.dbref}), addressed=True)
    inbox.close([inbox.put(heard)], state)
    owes = state in ("waiting", "doubtful")
    assert assistants_with_work() == [mira.assistant.id] * owes

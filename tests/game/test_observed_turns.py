"""What observers are told, and the turn's number in the log, the request and the tables."""

import pytest
from twisted.logger import eventAsText, globalLogPublisher

from evennia_ai.errors import ProviderRejected
from evennia_ai.models import ModelCall, ToolCall, Turn
from evennia_ai.services.observed_turns import ObservedTurns, make_turns
from evennia_ai.store.turns import TableTurns
from tests.scripted import call

pytestmark = pytest.mark.engine


class Recorder:
    """An observer that keeps what it is told."""

    def __init__(self):
        self.told = []

    def turn_began(self, turn):
        self.told.append(("began", turn.id, turn.name, turn.context))

    def turn_ended(self, turn, outcome, at):
        self.told.append(("ended", turn.id, outcome))

    def model_called(self, turn_id, call, at):
        self.told.append(("model", turn_id, call.error_kind))

    def tool_called(self, run, at):
        self.told.append(("tool", run.turn_id, run.call.name, run.state))


class Broken:
    def __getattr__(self, hook):
        def fail(*args):
            raise RuntimeError(f"{hook}: the collector is gone")

        return fail


@pytest.fixture
def observe(service, mira):
    def observe(*observers):
        service.make_turns = lambda script: make_turns(observers, script)
        mira.assistant.ndb.turns = None

    return observe


@pytest.fixture
def logged():
    lines = []

    def keep(event):
        lines.append(eventAsText(event, includeTimestamp=False, includeSystem=False))

    globalLogPublisher.addObserver(keep)
    yield lines
    globalLogPublisher.removeObserver(keep)


def test_without_observers_nothing_is_between_the_turn_and_the_tables(game, ann, mira):
    game.model.add(call("say", text="Welcome."))
    ann.do("say Mira, hello")
    game.run(2)
    assert type(mira.assistant.turns) is TableTurns


def test_an_observer_is_told_of_a_turn_from_begin_to_end(game, ann, mira, observe):
    recorder = Recorder()
    observe(recorder)
    game.model.add((call("say", text="Welcome."), call("whisper", target="Ann", text="Psst.")))
    ann.do("say Mira, hello")
    game.run(2)
    number = Turn.objects.get().id
    assert recorder.told == [
        ("began", number, "Mira", "tick_event"),
        ("model", number, ""),
        ("tool", number, "say", "done"),
        ("tool", number, "whisper", "done"),
        ("ended", number, "answered"),
    ]


def test_the_number_of_the_turn_is_in_the_tables_and_the_request(game, ann, mira, observe):
    game.model.add(call("say", text="Welcome."))
    ann.do("say Mira, hello")
    game.run(2)
    number = Turn.objects.get().id
    assert game.model.requests[0].caller.turn_id == number
    assert ModelCall.objects.get().turn_id == ToolCall.objects.get().turn_id == number


def test_a_dropped_turn_and_one_that_an_error_left_open_end_once(game, ann, mira, observe):
    from twisted.internet.defer import Deferred

    recorder = Recorder()
    observe(recorder)
    game.model.add(Deferred())
    ann.do("say Mira, hello")
    game.run()
    mira.assistant.drop_turn("a test")
    mira.assistant.turns.recover()
    assert [one for one in recorder.told if one[0] == "ended"] == [
        ("ended", Turn.objects.get().id, "expired")
    ]
    turns = mira.assistant.turns
    record = turns.begin((), frozenset(), False, "tick_autonomous")
    turns.recover()
    turns.recover()
    assert recorder.told[-1] == ("ended", record.id, "interrupted")
    again = turns.begin((), frozenset(), False, "tick_autonomous")
    turns.give_back(again.id)
    assert recorder.told[-1] == ("ended", again.id, "unheard")
    assert len([one for one in recorder.told if one[0] == "ended"]) == 3
    lost, _next = (turns.begin((), frozenset(), False, "tick_autonomous") for _ in range(2))
    assert recorder.told[-2] == ("ended", lost.id, "interrupted")
    assert recorder.told[-1][0] == "began"


def test_a_broken_observer_costs_no_answer(game, ann, mira, observe, logged):
    recorder = Recorder()
    observe(Broken(), recorder)
    game.model.add(call("say", text="Welcome."))
    ann.do("say Mira, hello")
    game.run(2)
    assert ann.last() == 'Mira says, "Welcome."'
    assert len(recorder.told) == 4
    number = Turn.objects.get().id
    assert len([line for line in logged if line.startswith(f"Mira, turn {number}: ")]) == 4
    assert isinstance(mira.assistant.turns, ObservedTurns)


def test_the_log_names_the_turn_whose_model_failed(game, ann, mira, logged):
    game.model.add(ProviderRejected("no such model"))
    ann.do("say Mira, hello")
    game.run(30)
    number = Turn.objects.get().id
    assert f"Mira, turn {number}: no answer from the model: no such model" in logged


def test_the_log_names_the_turn_whose_tool_failed(game, ann, mira, logged, monkeypatch):
    tool = game.service.toolbox.tools["look"]
    monkeypatch.setitem(game.service.toolbox.tools, "look", tool_that_fails(tool))
    game.model.add(call("look", target="Ann"), call("say", text="Hm."))
    ann.do("say Mira, look at me")
    game.run(2)
    number = Turn.objects.get().id
    assert [line for line in logged if line.startswith(f"turn {number}: tool look failed")]


def tool_that_fails(tool):
    from dataclasses import replace

    def fail(context, arguments):
        raise RuntimeError("no light")

    return replace(tool, run=fail)

"""The service: woken by events, quiet at reload, alive after a crash, idle at no cost."""

import gc
from collections import deque
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from twisted.internet.defer import Deferred

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.game.settings import find_complaints
from evennia_ai.models import Event, Turn
from evennia_ai.policy.read_permissions import DEFAULTS
from evennia_ai.services.assistant_service import AssistantService
from evennia_ai.store.mind_cache import MOST_MB
from tests.game.conftest import gateway_to
from tests.scripted import call


def restart(game, model, start_hook=True):
    """A new process in all but name: a new service, nothing left in memory."""
    from evennia.utils.idmapper.models import flush_cache

    for script in AssistantScript.objects.all():
        script.ndb.mind = None
    flush_cache()
    service = AssistantService(clock=game.clock, environ={})
    service.gateway = gateway_to(model, game.clock)
    service.startService()
    if start_hook:
        service.at_start()
    game.run(1)
    return service


def test_many_wakes_make_one_tick(game, mira, ann, monkeypatch):
    ticks, at_tick = [], mira.assistant.at_tick
    monkeypatch.setattr(mira.assistant, "at_tick", lambda: ticks.append(1) or at_tick())
    game.model.add(call("noop"))
    ann.do("say one")
    for _ in range(50):
        mira.assistant.wake()
    game.run()
    assert Turn.objects.count() == len(ticks) == 1


class SteppedSlices:
    """Time slices that run one piece of work when a test says so."""

    def __init__(self):
        self.queue = deque()

    @property
    def waiting(self):
        return len(self.queue)

    def put(self, work, *args):
        self.queue.append(partial(work, *args))

    def step(self):
        self.queue.popleft()()


@pytest.fixture
def slices(game):
    game.service.slices = SteppedSlices()
    return game.service.slices


def test_a_turn_gives_way_between_its_parts(game, mira, ann, slices):
    game.model.add(call("say", text="Here."))
    ann.do("say Mira?")
    seen = []
    while slices.waiting:
        slices.step()
        ended = Turn.objects.values_list("ended_at", flat=True)
        seen += [(len(game.model.requests), ann.last(), at is not None) for at in ended]
    asked = [number for number, _last, _ended in seen]
    assert asked.count(0) >= 2, "memories are made ready, and the prompt is built, by themselves"
    assert (1, 'Mira says, "Here."', False) in seen, "the turn is closed by itself"
    assert seen[-1] == (1, 'Mira says, "Here."', True)


def test_what_may_have_been_said_before_a_crash_is_closed_by_an_excuse(game, mira, ann):
    ann.do("say one")
    script = mira.assistant
    game.service.slices._queue.clear()
    turn = script.mind.turns.begin(
        script.mind.inbox.open_events().waiting, frozenset({ann.dbref}), False, "tick_event"
    )
    script.mind.turns.intend(turn.id, call("say", text="hm"), True)
    restart(game, game.model).stopService()
    assert "my thoughts wandered" in ann.last()
    assert Event.objects.get().state == "excused"
    assert game.model.requests == []


def test_nobody_near_and_nothing_pending_costs_nothing(game, tavern):
    for number in range(20):
        game.assistant(f"Npc{number}", tavern)
    game.run()
    with CaptureQueriesContext(connection) as captured:
        for _ in range(60):
            game.clock.advance(1)
    assert len(captured) == 0
    assert game.model.requests == []
    # On a database in a file the service looks after the lock beside it.
    assert {call.func for call in game.clock.getDelayedCalls()} <= {game.service.keep_world}


def test_an_unreached_line_is_answered_when_its_speaker_comes_back(game, mira, ann):
    game.service.accepting = False
    ann.do("say wait")
    ann.account.unpuppet_object(ann.session)
    game.service.accepting = True
    game.run(1)
    game.model.add(call("say", text="there you are"))
    ann.account.puppet_object(ann.session, ann.character)
    game.run(1)
    assert ann.last() == 'Mira says, "there you are"'


def test_a_builders_interval_ticks_as_well(game, mira, ann):
    game.service.accepting = False
    ann.do("say hello")
    game.service.accepting = True
    game.model.add(call("say", text="Hi."))
    assert not game.service.timer.loop.running
    assert mira.assistant.at_repeat() is None
    game.run(0)
    assert ann.last() == 'Mira says, "Hi."'


def test_after_sigkill_a_timed_script_is_started_again(game, mira, monkeypatch):
    started = []
    script = mira.assistant
    monkeypatch.setattr(type(script), "start", lambda self, **kwargs: started.append(kwargs))
    script.at_server_start()
    assert started == []
    script.db_interval, script.db_is_active = 10, True
    script.at_server_start()
    assert started == [{"force_restart": True}]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOOLS", ["world.nowhere"]),
        ("TOOLS", 7),
        ("LORE", ["world.nowhere"]),
        ("PERSONAS", {"guard": {"mood": "grim"}}),
        ("PERSONAS", ["guard"]),
        ("TEXTS", {"nope": "x"}),
        ("WHO_MAY_READ", {"errors": 7}),
        ("CURRENCY", 5),
        ("CURRENCY", "|rEUR"),
        *(("MEMORY_MB", value) for value in (0, -1, "much", True)),
    ],
)
def test_a_wrong_setting_of_the_game_is_told_and_takes_nobody_down(game, settings, name, value):
    settings.AI_ASSISTANT = {name: value}
    service = AssistantService(clock=game.clock, environ={})
    assert len(service.complaints) == 1
    assert service.complaints[0].startswith(f"AI_ASSISTANT['{name}']: ")
    assert "say" in service.toolbox.tools
    assert service.who_may_read == DEFAULTS and service.loaded.most_bytes == MOST_MB * 1_000_000


def test_a_misspelt_entry_is_told_with_the_one_that_may_be_meant(settings):
    settings.AI_ASSISTANT = {"MAX_CALLS_WAITNG": 3, "max_bot_reply": 2, "MAX_CALLS_WAITING": 3}
    assert find_complaints() == [
        "AI_ASSISTANT has an unknown entry 'MAX_CALLS_WAITNG'. Is MAX_CALLS_WAITING meant?",
        "AI_ASSISTANT has an unknown entry 'max_bot_reply'. Is max_bot_replies meant?",
    ]


def test_what_the_start_loaded_is_left_out_of_garbage_collections(game):
    gc.unfreeze()
    game.service.at_start()
    assert gc.get_freeze_count() > 10_000


def test_what_resumes_work_leaves_the_turn_of_this_process_alone(game, ann, mira):
    late = Deferred()
    game.model.add(late)
    ann.do("say hi")
    game.run(1)
    game.service.resume()
    game.run(1)
    assert Turn.objects.get().ended_at is None
    late.callback(call("say", text="Hello."))
    game.run(1)
    assert Turn.objects.get().outcome == "answered"

"""Faults of the process, numbered as on the list they come from."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import IncomingEvent
from evennia_ai.models import Event, Turn
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from evennia_ai.services.assistant_service import REVIVAL_S, AssistantService
from tests.faults.process_scene import pass_time
from tests.faults.seen import ends, seems_sane, spoken_by, tracebacks
from tests.reading_requests import step_of
from tests.scripted import call

pytestmark = pytest.mark.game


IN_MEMORY = ("conversation", "inbox", "turns", "partners", "config", "ticking", "woken", "backlog")


@pytest.fixture
def restart(game):
    """Return a function that starts a new service with nothing in memory, as a process does."""
    services = []

    def begin_anew(max_in_flight=64):
        for script in AssistantScript.objects.all():
            for name in IN_MEMORY:
                script.attributes.reset_cache()
                setattr(script.ndb, name, None)
        service = AssistantService(clock=game.clock, environ={})
        limits = GatewayLimits(max_in_flight, retry=RetryLimits(max_attempts=1))
        clients = {"offline": game.model, "openai": game.model}
        service.gateway = ModelGateway(game.clock, clients, limits)
        services.append(service)
        service.startService()
        service.resume()
        return service

    yield begin_anew
    for service in services:
        service.stopService()


def test_40_a_reload_in_mid_call_every_line_is_answered_and_late_replies_are_dropped(
    game, ann, bob, mira, tavern, restart, logged
):
    otto = game.assistant("Otto", tavern)
    late = [Deferred(), Deferred()]
    game.model.add(*late)
    ann.do("say Mira, one")
    bob.do("say Otto, two")
    game.run(3)
    for character in (mira, otto):
        character.assistant.at_server_reload()
    ann.do("say Mira, three")
    for reply in late:
        reply.callback(call("say", text="too late"))
    game.run(1)
    assert "too late" not in "".join([*ann.heard(), *bob.heard()])
    game.model.add(*[call("say", text="Present.")] * 4)
    restart()
    pass_time(game, 10)
    asked = [("Mira, one", "answered"), ("Otto, two", "answered"), ("Mira, three", "answered")]
    found = Event.objects.exclude(state__in=["noted", "overheard"]).order_by("id")
    assert list(found.values_list("text", "state")) == asked
    assert not Turn.objects.filter(ended_at=None)
    assert len(spoken_by("Mira says", ann)) == len(spoken_by("Otto says", ann)) == 1
    assert not tracebacks(logged)
    assert seems_sane(ann) and seems_sane(bob)


def test_40_a_reload_while_a_tool_is_under_way_does_it_no_second_time(
    game, ann, mira, tavern, restart
):
    game.thing("mug", mira)
    game.thing("mug", mira)
    game.model.add([call("give", item="mug", to="Ann"), call("wait", seconds=5)])
    ann.do("say a mug, please")
    game.run(1)
    mira.assistant.at_server_reload()
    give, speak = call("give", item="mug", to="Ann"), call("say", text="There.")
    game.model.add(*[lambda request: give if step_of(request) == 1 else speak] * 6)
    restart()
    pass_time(game, 30)
    assert len(ann.character.contents) == 1
    assert ann.last() == 'Mira says, "There."'


def test_42_where_the_reload_does_not_come_about_the_assistants_go_on(game, ann, mira, logged):
    game.model.add(call("say", text="Hello."), Deferred())
    ann.do("say Mira, zero")
    game.run(6)
    ann.do("say Mira, one")
    game.run(1)
    mira.assistant.at_server_reload()
    ann.do("say Mira, two")
    pass_time(game, REVIVAL_S - 1)
    assert len(game.model.requests) == 2
    game.model.add(call("say", text="One and two."), call("say", text="Three."))
    pass_time(game, 8)
    assert ann.last() == 'Mira says, "One and two."'
    ann.do("say Mira, three")
    game.run(1)
    assert ann.last() == 'Mira says, "Three."'
    assert set(ends().values()) == {"answered"}
    assert len([line for line in logged if "the reload did not happen" in line]) == 1
    assert not Turn.objects.filter(ended_at=None)
    assert not tracebacks(logged)


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_46_many_that_owe_an_answer_start_one_after_the_other(game, ann, mira, restart, count):
    cap = 16
    for number in range(count):
        script = game.assistant(f"Npc{number}", game.room()).assistant
        friend = game.assistant(f"Friend{number}", script.character.location)
        ears = frozenset({friend.dbref})
        script.mind.inbox.put(
            IncomingEvent("say", friend.dbref, "Friend", "hello?", ears, addressed=True)
        )
    replies = [Deferred() for _ in range(count)]
    game.model.add(*replies)
    began = game.clock.seconds()
    service = restart(max_in_flight=cap)
    most, starts = 0, []
    answered = 0
    for _ in range(600):
        before = len(game.model.requests)
        game.clock.advance(0.05)
        starts += [game.clock.seconds() - began] * (len(game.model.requests) - before)
        most = max(most, service.gateway.lanes.in_flight)
        if service.gateway.lanes.in_flight >= cap or game.clock.seconds() - began > 12:
            for reply in replies[answered : len(game.model.requests)]:
                answered += 1
                reply.callback(call("say", text="Hello."))
        if answered == count:
            break
    assert most <= cap
    assert len(starts) == count
    assert starts[-1] - starts[0] >= 0.045 * count
    game.run(1)
    assert Event.objects.filter(text="hello?", state="answered").count() == count

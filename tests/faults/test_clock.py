"""The clock jumps: fault 45 of the list."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.models import Event
from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.limits.gateway_limits import GatewayLimits
from evennia_ai.policy.limits.retry import RetryLimits
from evennia_ai.store.usage import spent_on
from tests.faults.process_scene import pass_time
from tests.faults.seen import ends, spoken_by, tracebacks
from tests.game import conftest as scene
from tests.scripted import call

pytestmark = pytest.mark.game

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern

mira, ann, bob = scene.mira, scene.ann, scene.bob


DAY_S = 86_400


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_when_the_clock_jumps_there_is_no_burst_and_talk_goes_on(
    game, ann, mira, jump, monkeypatch
):
    ticks = []
    real = AssistantScript.at_tick
    monkeypatch.setattr(
        AssistantScript, "at_tick", lambda self: ticks.append(game.clock.seconds()) or real(self)
    )
    game.model.add(call("say", text="One."), call("say", text="Two."), call("say", text="Three."))
    ann.do("say Mira, one")
    pass_time(game, 12)
    ticks.clear()
    game.clock.rightNow += jump
    game.run()
    assert len(ticks) <= 1
    ann.do("say Mira, two")
    game.run(1)
    assert ann.last() == 'Mira says, "Two."'
    pass_time(game, 60)
    assert 10 <= len(ticks) <= 16
    ann.do("say Mira, three")
    game.run(1)
    assert ann.last() == 'Mira says, "Three."'
    assert set(ends().values()) == {"answered"}


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_a_jump_in_mid_call_ends_in_an_answer(game, ann, mira, jump, logged):
    late = Deferred()
    game.model.add(late, call("say", text="Two."))
    ann.do("say Mira, one")
    game.run(3)
    game.clock.rightNow += jump
    game.run()
    if not late.called:
        late.callback(call("say", text="One."))
    game.run(1)
    assert len(spoken_by("Mira says", ann)) == 1
    ann.do("say Mira, two")
    game.run(1)
    assert ann.last() == 'Mira says, "Two."'
    assert set(ends().values()) <= {"answered", "excused"}
    assert not tracebacks(logged)


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_who_was_talking_is_no_partner_for_a_day(game, ann, bob, mira, jump):
    game.model.add(call("say", text="One."), call("say", text="Two."))
    ann.do("say Mira, one")
    game.run(1)
    game.clock.rightNow += jump
    ann.do("say to nobody in particular")
    game.run(1)
    assert len(game.model.requests) == 1
    ann.do("say Mira, two")
    game.run(1)
    assert ann.last() == 'Mira says, "Two."'
    assert mira.assistant.is_in_conversation(ann.dbref)


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_it_lives_on_unasked_at_its_own_pace(game, ann, mira, jump, settings):
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 60, "TEXTS": {"first_meeting": ""}}
    game.model.add(*[call("noop")] * 400)
    ann.do("say Mira?")
    pass_time(game, 300)
    game.clock.rightNow += jump
    game.run()
    before = len(game.model.requests)
    pass_time(game, 10)
    assert len(game.model.requests) - before <= 2
    ann.do("say Mira?")
    pass_time(game, 600)
    assert 6 <= len(game.model.requests) - before <= 14


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_a_budget_is_kept_for_each_day(game, ann, mira, jump):
    clients = {"openai": game.model, "offline": OfflineBrain()}
    game.service.gateway = ModelGateway(game.clock, clients, spent=spent_on)
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    mira.assistant.attributes.add("profile", "one")
    mira.assistant.attributes.add("tokens_per_day", 12_000)
    game.model.add(*[call("say", text="Yes.")] * 400)

    def calls_until_used_up():
        before = len(game.model.requests)
        for _ in range(20):
            ann.do("say Mira, yes?")
            game.run(1)
        return len(game.model.requests) - before

    first = calls_until_used_up()
    assert 1 <= first < 20
    game.clock.rightNow += jump
    assert 1 <= calls_until_used_up() <= first + 1
    game.clock.rightNow -= jump
    assert calls_until_used_up() == 0


def test_45_an_endpoint_that_was_left_alone_is_not_left_alone_for_a_day_more(game, ann, mira):
    clients = {"openai": game.model, "offline": OfflineBrain()}
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    game.service.gateway = ModelGateway(game.clock, clients, limits)
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    mira.assistant.attributes.add("profile", "one")
    game.model.add(*[ProviderUnavailable("It is down.")] * 5, call("say", text="Back."))
    for number in range(6):
        ann.do(f"say Mira, {number}?")
        game.run()
    assert len(game.model.requests) == 5
    game.clock.rightNow -= DAY_S
    ann.do("say Mira, again?")
    game.run()
    assert ann.last() == 'Mira says, "Back."'


def test_45_those_who_sleep_wake_in_time_though_the_clock_was_set_back(game, mira):
    watch, script = game.service.watch, mira.assistant
    watch.keep(script)
    game.run(1)
    game.clock.rightNow -= DAY_S
    looked = []
    script.may_think = lambda: looked.append(game.clock.seconds())
    watch.keep(script)
    pass_time(game, 12)
    assert looked


def test_45_what_grew_too_old_is_told_to_whoever_waits(game, ann, mira):
    late = Deferred()
    game.model.add(late)
    ann.do("say Mira, one")
    game.run(1)
    ann.do("say Mira, two")
    game.clock.rightNow += 400
    game.run(1)
    assert ends()["Mira, one"] == "excused"
    two = Event.objects.get(text="Mira, two")
    assert (two.state, two.reason) == ("expired", "too old to answer")
    assert "(Mira did not catch that. Please say it again.)" in ann.heard()

"""Faults of the process, its clock and its settings, numbered as on the list they come from."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.gateway import GatewayLimits, ModelGateway
from evennia_ai.messages import Heard
from evennia_ai.models import Event, Turn
from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.limits.backoff import RetryLimits
from evennia_ai.services.assistant_service import REVIVAL_S, AssistantService
from evennia_ai.store.usage import spent_on
from evennia_ai.testing.scripted import call
from tests.faults.seen import ends, seems_sane, spoken_by, tracebacks
from tests.game import conftest as scene

pytestmark = pytest.mark.game

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob = scene.mira, scene.ann, scene.bob

DAY_S = 86_400
IN_MEMORY = ("conversation", "inbox", "turns", "partners", "config", "ticking", "woken", "backlog")


def pass_time(game, seconds, step=1.0):
    for _ in range(round(seconds / step)):
        game.run(step)


@pytest.fixture
def restart(game):
    """A function that goes on as a new process would: nothing is left in memory."""
    services = []

    def begin_anew(max_in_flight=64):
        for script in AssistantScript.objects.all():
            for name in IN_MEMORY:
                script.attributes.reset_cache()
                setattr(script.ndb, name, None)
        service = AssistantService(clock=game.clock, environ={})
        service.epoch = game.service.epoch + 1 + len(services)
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


# --- 40: a reload while a model thinks ---


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
    game.model.add(*[lambda request: give if request.scene.step == 1 else speak] * 6)
    restart()
    pass_time(game, 30)
    assert len(ann.character.contents) == 1
    assert ann.last() == 'Mira says, "There."'


def test_40_a_reload_while_it_types_leaves_nobody_typing(game, ann, mira):
    game.model.add(Deferred())
    ann.do("say hi")
    game.run(1)
    assert game.service.signs.thoughts
    mira.assistant.at_server_reload()
    game.run(1)
    assert not game.service.signs.thoughts


# --- 42: another hook of the game fails and there is no reload ---


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


def test_42_the_shared_timer_goes_on_too(game, ann, mira):
    game.model.add(call("noop"))
    ann.do("say Mira?")
    game.run(1)
    assert game.service.ticks.running
    mira.assistant.at_server_reload()
    game.run(1)
    assert not game.service.ticks.running
    pass_time(game, REVIVAL_S + 2)
    assert game.service.ticks.running


def test_42_what_cannot_be_stored_before_a_reload_is_told_or_stored(game, ann, mira, monkeypatch):
    from evennia_ai.errors import StoreUnavailable
    from evennia_ai.store.inbox import TableInbox

    def locked(self, heard):
        raise StoreUnavailable("database is locked")

    monkeypatch.setattr(TableInbox, "put", locked)
    ann.do("say Mira, one")
    mira.assistant.at_server_reload()
    pass_time(game, 1)
    assert "(Mira did not catch that. Please say it again.)" in ann.heard()


# --- 45: the clock jumps ---


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


# --- 46: many assistants at once ---


def test_46_two_hundred_that_owe_an_answer_start_one_after_the_other(game, ann, mira, restart):
    count, cap = 200, 16
    for number in range(count):
        script = game.assistant(f"Npc{number}", game.room()).assistant
        friend = game.assistant(f"Friend{number}", script.character.location)
        ears = frozenset({friend.dbref})
        script.inbox.put(Heard("say", friend.dbref, "Friend", "hello?", ears, addressed=True))
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
        most = max(most, service.gateway.in_flight)
        if service.gateway.in_flight >= cap or game.clock.seconds() - began > 12:
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


# --- 48: settings that change under way ---


def test_48_a_model_swapped_in_mid_turn_is_asked_from_the_next_call_on(game, ann, mira, logged):
    script = mira.assistant
    asked = []
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    game.service.profiles["two"] = {"client": "openai", "model": "second"}
    script.attributes.add("profile", "one")
    real = game.model.complete

    def complete(request, profile, deadline_at=None):
        asked.append(profile.model)
        return real(request, profile)

    game.model.complete = complete
    late = Deferred()
    game.model.add(late, call("say", text="Here."), call("say", text="Again."))
    ann.do("say hi")
    game.run(1)
    script.attributes.add("profile", "two")
    script.resolve_settings()
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "Here."'
    ann.do("say Mira?")
    game.run(1)
    assert asked == ["first", "second", "second"]
    assert not tracebacks(logged)


def test_48_a_profile_taken_away_in_mid_turn_leaves_the_offline_brain(game, ann, mira, logged):
    script = mira.assistant
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    script.attributes.add("profile", "one")
    late = Deferred()
    game.model.add(late, call("say", text="Here."), call("say", text="Again."))
    ann.do("say hi")
    game.run(1)
    del game.service.profiles["one"]
    script.resolve_settings()
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "Here."'
    ann.do("say Mira?")
    game.run(1)
    assert ann.last() == 'Mira says, "Again."'
    assert script.profile.client == "offline"
    told = [line for line in logged if "There is no model profile 'one'" in line]
    assert len(told) == 1
    assert not tracebacks(logged)


@pytest.mark.parametrize("value", [None, {}, 7, {"PROFILES": 7, "TEXTS": 7, "TOOLS": 7}])
def test_48_the_game_s_settings_gone_in_mid_turn_stop_nobody(
    game, ann, mira, settings, logged, value
):
    late = Deferred()
    game.model.add(late, *[call("say", text="Here.")] * 5)
    ann.do("say hi")
    game.run(1)
    settings.AI_ASSISTANT = value
    mira.assistant.resolve_settings()
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "Here."'
    ann.do("say Mira?")
    game.run(1)
    assert ends()["Mira?"] == "answered"
    assert not tracebacks(logged)
    assert seems_sane(ann)


def test_48_a_setting_removed_in_mid_turn_is_inherited_again(game, ann, mira, logged):
    script = mira.assistant
    script.attributes.add("max_speech_chars", 20)
    late = Deferred()
    game.model.add(late, call("say", text="A long line it is, too long for twenty."))
    ann.do("say hi")
    game.run(1)
    script.attributes.remove("max_speech_chars")
    script.resolve_settings()
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "A long line it is, too long for twenty."'
    assert not tracebacks(logged)


def test_48_a_tool_taken_away_in_mid_turn_is_a_tool_there_is_not(game, ann, mira):
    late = Deferred()
    game.model.add(late, call("say", text="I cannot look."))
    ann.do("say look around")
    game.run(1)
    del game.service.toolbox.tools["look"]
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "I cannot look."'
    assert ends() == {"look around": "answered"}

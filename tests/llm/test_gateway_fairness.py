"""Who is served first when many ask, and the switch that ends every call."""

from dataclasses import replace

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy, CircuitOpen, ProviderMisconfigured, SwitchedOff
from evennia_ai.llm.endpoint_queues import ENDPOINT_FULL, GAME_FULL, PLAYERS_FIRST, QUIET_S, TALK
from tests.llm.gateway_desk import PROFILE, Desk

# --- fairness -------------------------------------------------------------------------------------


def test_players_come_before_background_work():
    desk = Desk(max_in_flight=1)
    desk.ask()
    desk.ask(background=True, assistant="1")
    desk.ask(assistant="2")
    desk.answer(0)
    assert desk.client.started == [2]


def test_background_work_leaves_places_to_players():
    desk = Desk(max_in_flight=4)
    for number in range(4):
        desk.ask(background=True, assistant=str(number))
    assert desk.client.started == [0, 1, 2]
    desk.ask(assistant="9")
    assert desk.client.started == [0, 1, 2, 4]


def test_a_profiles_own_cap_leaves_the_other_places_to_others():
    desk = Desk(max_in_flight=4)
    small = ModelProfile("small", "scripted", "s", max_in_flight=1)
    desk.ask(profile=small)
    desk.ask(profile=small)
    desk.ask()
    assert desk.client.started == [0, 2]
    desk.answer(0)
    assert desk.client.started == [2, 1]


def test_every_call_that_waits_says_why_and_when_it_is_its_turn():
    desk = Desk(max_in_flight=4)
    small = ModelProfile("small", "scripted", "s", max_in_flight=1)
    desk.ask(profile=small)
    desk.ask(profile=small, assistant="1")
    desk.ask()
    desk.ask()
    desk.ask(assistant="2", background=True)
    queue = desk.gateway.lanes.queue()
    assert {one.assistant: one.why for one in queue} == {"1": ENDPOINT_FULL, "2": PLAYERS_FIRST}
    desk.ask()
    desk.clock.advance(2.0)
    desk.ask(assistant="3")
    assert {one.words for one in desk.gateway.lanes.queue()} == {
        f"waits 2 s for small:s: {GAME_FULL}",
        f"waits 0 s for tavern:m: {GAME_FULL}",
        f"waits 2 s for tavern:m: {GAME_FULL}",
    }


def test_two_profiles_share_what_is_known_of_an_endpoint():
    desk = Desk()
    desk.ask()
    desk.fail(0, ProviderMisconfigured("no such model"))
    other = ModelProfile("other", PROFILE.client, PROFILE.model)
    assert type(desk.ask(profile=other).error) is CircuitOpen


# --- an endpoint that does one thing at a time ----------------------------------------------------

LOCAL = ModelProfile("local", "scripted", "m", "http://127.0.0.1:8080/v1")


def test_background_work_in_flight_makes_way_for_a_player_and_starts_anew_in_a_quiet_minute():
    desk = Desk()
    outcome = desk.ask(profile=LOCAL, background=True)
    desk.clock.advance(15.0)
    desk.ask(profile=LOCAL)
    assert desk.client.cancelled == [0]
    assert desk.client.asked == [0, 1]
    desk.clock.advance(1.0)
    desk.answer(1)
    desk.clock.advance(QUIET_S - 2.0)
    assert desk.client.asked == [0, 1]
    desk.clock.advance(1.0)
    assert desk.client.asked == [0, 1, 0]
    desk.clock.advance(4.0)
    assert outcome.results == []
    desk.answer(0)
    assert outcome.results[0].content == "hi"
    assert desk.clock.getDelayedCalls() == []


def test_a_trial_of_another_model_there_that_makes_way_can_be_made_again():
    desk = Desk()
    desk.ask(profile=LOCAL)
    desk.fail(0, ProviderMisconfigured("no such model"))
    lane = desk.gateway.lanes.lane_for(LOCAL)
    desk.clock.advance(QUIET_S + lane.paused_s)
    desk.ask(profile=LOCAL, background=True)
    assert lane.paused_s
    desk.ask(profile=replace(LOCAL, model="other"))
    assert not lane.paused_s


def test_background_work_waits_until_players_have_been_quiet_for_a_minute():
    desk = Desk()
    desk.ask(profile=LOCAL)
    desk.answer(0)
    waiting = desk.ask(profile=LOCAL, background=True, assistant="1")
    assert [one.why for one in desk.gateway.lanes.queue()] == [TALK]
    desk.clock.advance(QUIET_S - 10.0)
    desk.ask(profile=LOCAL)
    desk.answer(2)
    desk.clock.advance(10.0)
    assert desk.client.asked == [0, 2]
    desk.clock.advance(QUIET_S - 10.0)
    assert desk.client.asked == [0, 2, 1]
    desk.clock.advance(20.0)
    assert waiting.error is not None


def test_what_waits_in_the_queue_when_a_player_comes_loses_no_time_either():
    desk = Desk()
    small = replace(LOCAL, max_in_flight=1)
    desk.ask(profile=small, background=True)
    waiting = desk.ask(profile=small, background=True, assistant="1")
    desk.clock.advance(15.0)
    desk.ask(profile=small)
    desk.answer(2)
    desk.clock.advance(QUIET_S)
    assert waiting.results == []


def test_a_turn_that_nobody_waits_for_ends_when_a_player_comes():
    desk = Desk()
    acting = {"profile": LOCAL, "background": True, "may_wait": False}
    first = desk.ask(**acting)
    desk.ask(profile=LOCAL)
    assert type(first.error) is Busy
    assert desk.client.cancelled == [0]
    assert type(desk.ask(**acting).error) is Busy
    desk.answer(1)
    desk.clock.advance(QUIET_S)
    assert desk.ask(**acting).results == []


def test_a_turn_of_its_own_ends_when_somebody_speaks_to_the_assistant():
    desk = Desk()
    greeting = desk.ask(background=True, may_wait=False, assistant="1")
    asleep = desk.ask(background=True, assistant="1")
    answering = desk.ask(assistant="1")
    other = desk.ask(background=True, may_wait=False, assistant="2")
    desk.gateway.give_way("1")
    assert type(greeting.error) is Busy
    assert desk.client.cancelled == [0]
    assert not (asleep.results or answering.results or other.results)


def test_with_all_places_taken_the_models_are_served_in_turn():
    desk = Desk(max_in_flight=1)
    for model in ("one", "one", "one", "two", "two"):
        desk.ask(profile=replace(PROFILE, model=model))
    for number in (0, 1, 3, 2):
        desk.answer(number)
    assert desk.client.asked == [0, 1, 3, 2, 4]


def test_at_an_endpoint_with_more_slots_background_work_goes_on():
    for profile in (PROFILE, replace(LOCAL, max_in_flight=2)):
        desk = Desk()
        desk.ask(profile=profile, background=True)
        desk.ask(profile=profile)
        desk.ask(profile=profile, background=True)
        assert desk.client.cancelled == []
        assert desk.client.asked[:2] == [0, 1]


def test_a_profile_with_more_slots_keeps_its_work_beside_one_of_the_same_address():
    desk = Desk()
    desk.ask(profile=replace(LOCAL, max_in_flight=4, model="wide"), background=True)
    desk.ask(profile=LOCAL)
    assert desk.client.asked == [0, 1]
    assert desk.client.cancelled == []


def test_background_work_that_nobody_wants_any_more_leaves_no_timer():
    desk = Desk()
    desk.ask(profile=LOCAL)
    outcome = desk.ask(profile=LOCAL, background=True)
    outcome.deferred.cancel()
    desk.answer(0)
    desk.clock.advance(QUIET_S)
    assert desk.clock.getDelayedCalls() == []
    assert desk.client.asked == [0]


# --- the switch -----------------------------------------------------------------------------------


def test_the_switch_ends_every_call_at_once_and_lets_none_begin():
    desk = Desk(max_in_flight=1)
    outcomes = [desk.ask(), desk.ask()]
    desk.gateway.switch_off("Stopped by Griatch.")
    assert {str(outcome.error) for outcome in outcomes} == {"Stopped by Griatch."}
    assert desk.client.cancelled == [0]
    assert type(desk.ask().error) is SwitchedOff
    assert desk.clock.getDelayedCalls() == []
    desk.gateway.open()
    assert desk.ask().results == []


def test_a_key_that_is_missing_shuts_out_no_profile_with_a_key_of_its_own():
    desk = Desk()
    desk.ask(profile=ModelProfile("nell", "scripted", "m", "http://one", "NELL_KEY"))
    desk.fail(0, ProviderMisconfigured("needs NELL_KEY"))
    kit = desk.ask(profile=ModelProfile("kit", "scripted", "m", "http://one", "KIT_KEY"))
    assert kit.results == []

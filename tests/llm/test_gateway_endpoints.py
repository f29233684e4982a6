"""Several endpoints behind one profile: who is asked, who takes over, who has a slot."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.errors import CircuitOpen, ProviderMisconfigured, ProviderUnavailable
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.policy.limits.breaker import BreakerLimits
from evennia_ai.policy.limits.endpoints import (
    ENDPOINTS_FULL,
    GAME_FULL,
    PLAYERS_FIRST,
    PREFIX,
    RETRY,
    EndpointFacts,
    Speed,
)
from evennia_ai.policy.limits.fair_queue import GatewayLimits
from evennia_ai.policy.limits.money import Prices
from evennia_ai.policy.limits.retry import RetryLimits
from evennia_ai.ports import Caller, LLMReply, LLMRequest, Scene
from tests.llm.gateway_desk import DOWN
from tests.llm.test_gateway import Outcome

ONE, TWO = "http://10.0.0.1/v1", "http://10.0.0.2/v1"
PAUSE_S = 10.0


def shared(*endpoints, **entries):
    """A profile with an endpoint for each address or dictionary."""
    each = [one if isinstance(one, dict) else {"base_url": one} for one in endpoints]
    profiles = [ModelProfile("hall", "scripted", "m", **{**entries, **one}) for one in each]
    return ModelProfile("hall", "scripted", "m", endpoints=tuple(profiles))


class Asked:
    """One attempt at an endpoint."""

    def __init__(self, request, profile):
        self.who = request.caller.assistant
        self.base_url, self.extra = profile.base_url, profile.extra
        self.deferred = Deferred()


class Hall:
    """A gateway whose client keeps each attempt open until the test ends it."""

    def __init__(self, profile, **limits):
        self.clock = Clock()
        self.profile = profile
        self.asked = []
        breaker = BreakerLimits(failures=1, pause_s=PAUSE_S)
        limits = GatewayLimits(**{"breaker": breaker, **limits})
        self.gateway = ModelGateway(self.clock, {"scripted": self}, limits, jitter=lambda: 0.0)

    def complete(self, request, profile):
        self.asked.append(Asked(request, profile))
        return self.asked[-1].deferred

    def ask(self, who="1", turn_id=7, tokens=0, deadline=60.0, background=False):
        caller = Caller(assistant=who, turn_id=turn_id, background=background)
        request = LLMRequest([], Scene("", "", ()), caller=caller, tokens=tokens)
        deadline_at = self.clock.seconds() + deadline
        return Outcome(self.gateway.complete(request, self.profile, deadline_at))

    def answer(self, number=-1):
        self.asked[number].deferred.callback(LLMReply("hi"))

    def fail(self, number=-1, error=DOWN):
        self.asked[number].deferred.errback(error)
        self.clock.advance(0)

    def serve(self, who, **asked):
        """Ask and answer; return the address."""
        self.ask(who, **asked)
        self.answer()
        return self.asked[-1].base_url

    @property
    def where(self):
        return [one.base_url for one in self.asked]


# --- who is asked ---------------------------------------------------------------------------------


def test_characters_are_spread_and_each_stays_where_it_was():
    hall = Hall(shared(ONE, TWO))
    first = [hall.serve(who) for who in "1234"]
    assert sorted(first) == [ONE, ONE, TWO, TWO]
    assert [hall.serve(who) for who in "4321"] == first[::-1]


def test_calls_apart_from_the_talk_move_no_character():
    hall = Hall(shared(ONE, TWO))
    hall.serve("1")
    hall.ask("2", turn_id=7)  # it loads the second endpoint
    hall.ask("2", turn_id=None)
    hall.serve("1", turn_id=None)
    assert hall.serve("1") == ONE


def test_the_cheaper_endpoint_is_asked_until_half_of_its_places_are_taken():
    dear = {"base_url": ONE, "prices": {"": Prices(9, 9, 9)}}
    hall = Hall(shared(dear, {"base_url": TWO, "max_in_flight": 4}))
    for who in "1234":
        hall.ask(who, tokens=1_000_000)
    assert hall.where == [TWO, TWO, ONE, ONE]


def test_a_reply_tells_which_endpoint_sent_it():
    hall = Hall(shared(ONE, TWO))
    outcomes = [hall.ask("1"), hall.ask("2")]
    hall.answer(0)
    hall.answer(1)
    assert [outcome.results[0].endpoint for outcome in outcomes] == [0, 1]


def test_the_endpoint_with_the_prefix_is_waited_for_while_that_is_faster():
    """Reading 3,000 tokens takes 10 s, so it waits 5 s."""
    told = EndpointFacts(speed=Speed(300.0, 30.0))
    hall = Hall(shared(ONE, TWO, max_in_flight=1))
    each = tuple(replace(one, told=told) for one in hall.profile.endpoints)
    hall.profile = replace(hall.profile, endpoints=each)
    assert hall.serve("1") == ONE
    hall.ask("9")
    hall.ask("8")
    hall.answer(1 + hall.where[1:].index(TWO))
    assert hall.gateway.health()[0].in_flight == 1
    hall.ask("1", tokens=3_000)
    (waiting,) = hall.gateway.queue()
    assert (waiting.why, waiting.turn, waiting.left_s) == (PREFIX, 1, 5.0)
    hall.clock.advance(4.9)
    assert hall.asked[-1].who == "8"
    hall.clock.advance(0.1)
    assert (hall.asked[-1].who, hall.asked[-1].base_url) == ("1", TWO)
    assert hall.gateway.queue() == []


def test_a_call_that_waits_for_its_prefix_can_be_cancelled():
    told = EndpointFacts(speed=Speed(300.0, 30.0))
    hall = Hall(shared(ONE, TWO, max_in_flight=1, told=told))
    hall.serve("1")
    others = [hall.ask("2"), hall.ask("3")]
    hall.answer(1 + hall.where[1:].index(TWO))
    waiting = hall.ask("1", tokens=3_000)
    assert [one.why for one in hall.gateway.queue()] == [PREFIX]
    for outcome in (waiting, *others):
        outcome.deferred.cancel()
    assert hall.clock.getDelayedCalls() == []
    assert (hall.gateway.in_flight, hall.gateway.queued) == (0, 0)


def test_a_call_that_waits_for_its_prefix_holds_up_nobody_else():
    told = EndpointFacts(speed=Speed(300.0, 30.0))
    hall = Hall(shared(ONE, TWO, max_in_flight=1, told=told))
    hall.serve("1")
    hall.ask("2")
    hall.ask("3")
    one = hall.where.index(ONE, 1)
    hall.ask("1", tokens=3_000)
    hall.ask("4")
    hall.answer(3 - one)  # the place at the other endpoint
    assert (hall.asked[-1].who, hall.asked[-1].base_url) == ("4", TWO)
    hall.answer(one)
    assert (hall.asked[-1].who, hall.asked[-1].base_url) == ("1", ONE)


# --- who takes over -------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [DOWN, ProviderMisconfigured("The key is refused.")])
def test_what_one_endpoint_does_not_answer_goes_to_the_other_at_once(error):
    hall = Hall(shared(ONE, TWO))
    outcome = hall.ask()
    hall.fail(error=error)
    hall.answer()
    assert hall.where == [ONE, TWO]
    assert [reply.content for reply in outcome.results] == ["hi"]
    assert hall.serve("1") == TWO  # which has the prompt now


def test_when_all_fail_the_call_pauses_and_tries_again():
    limits = BreakerLimits(failures=9)
    hall = Hall(shared(ONE, TWO), breaker=limits, retry=RetryLimits(max_attempts=4))
    outcome = hall.ask()
    hall.fail(error=ProviderUnavailable("down", retry_after_s=3.0))
    hall.fail(error=ProviderUnavailable("down", retry_after_s=3.0))
    (waiting,) = hall.gateway.queue()
    assert (waiting.why, waiting.turn, waiting.left_s) == (RETRY, 0, 3.0)
    assert waiting.error == "down"
    hall.clock.advance(3.0)
    hall.fail()
    hall.fail()
    assert hall.where == [ONE, TWO, ONE, TWO]
    assert outcome.error is DOWN
    assert hall.clock.getDelayedCalls() == []


def test_a_reply_that_had_begun_is_not_asked_for_elsewhere():
    hall = Hall(shared(ONE, TWO))
    outcome = hall.ask()
    error = ProviderUnavailable("broke off", begun=True)
    hall.fail(error=error)
    assert outcome.error is error
    assert hall.where == [ONE]


def test_a_call_fails_only_once_every_endpoint_is_paused():
    hall = Hall(shared(ONE, TWO))
    hall.ask()
    hall.fail()
    hall.fail()
    assert type(hall.ask().error) is CircuitOpen


def test_those_who_wait_go_to_the_endpoint_that_is_left():
    hall = Hall(shared(ONE, TWO, max_in_flight=1))
    outcomes = [hall.ask(who) for who in "123"]
    hall.fail(0)
    assert hall.gateway.queued == 2
    for number in (1, 2, 3):
        hall.answer(number)
    assert hall.where == [ONE, TWO, TWO, TWO]
    assert all(outcome.results[0].content == "hi" for outcome in outcomes)


def test_an_endpoint_that_failed_is_tried_with_a_small_request_not_with_a_players():
    hall = Hall(shared(ONE, TWO))
    hall.ask()
    hall.fail()
    hall.answer()
    hall.clock.advance(PAUSE_S)
    assert hall.serve("1") == ONE  # the trial, which its call set off
    trial, players = hall.asked[-1], hall.asked[-2]
    assert (trial.who, players.who, players.base_url) == ("", "1", TWO)
    hall.answer(-2)
    hall.ask("2")
    hall.ask("3")
    assert ONE in hall.where[-2:]


def test_while_a_trial_runs_there_is_no_second_one():
    hall = Hall(shared(ONE, TWO))
    hall.ask()
    hall.fail()
    hall.clock.advance(PAUSE_S)
    for who in "234":
        hall.ask(who)
    assert [one.who for one in hall.asked if one.base_url == ONE] == ["1", ""]
    (trial,) = [one for one in hall.asked if one.who == ""]
    trial.deferred.errback(DOWN)
    health = {lane.name: lane.paused_s for lane in hall.gateway.health()}
    assert health["hall:m (endpoint 1)"] == 2 * PAUSE_S
    assert health["hall:m (endpoint 2)"] == 0


def test_two_profiles_share_what_is_known_of_an_endpoint():
    hall = Hall(shared(ONE, TWO))
    hall.ask()
    hall.fail()
    hall.profile = ModelProfile("lone", "scripted", "m", ONE)
    assert type(hall.ask().error) is CircuitOpen


# --- slots ----------------------------------------------------------------------------------------


def slots_of(hall):
    return [one.extra.get("id_slot") for one in hall.asked]


def test_a_character_keeps_its_slot_and_calls_apart_share_one():
    hall = Hall(ModelProfile("hall", "scripted", "m", ONE, slots=4))
    for who, turn_id in (
        ("1", 1),
        ("2", 1),
        ("1", None),
        ("2", None),
        ("3", 1),
        ("2", 1),
        ("1", 1),
    ):
        hall.serve(who, turn_id=turn_id)
    assert slots_of(hall) == [0, 1, 2, 2, 3, 1, 0]
    assert hall.asked[0].extra["cache_prompt"] is True


def test_each_slot_takes_one_call_at_a_time():
    hall = Hall(ModelProfile("hall", "scripted", "m", ONE, slots=2))
    for who in "123":
        hall.ask(who)
    assert slots_of(hall) == [0, 1]
    (waiting,) = hall.gateway.queue()
    assert (waiting.assistant, waiting.why) == ("3", ENDPOINTS_FULL)
    hall.answer(1)
    assert slots_of(hall) == [0, 1, 1]


def test_a_slot_that_the_profile_names_itself_is_kept():
    hall = Hall(ModelProfile("hall", "scripted", "m", ONE, slots=2, extra={"id_slot": -1}))
    assert hall.serve("1")
    assert slots_of(hall) == [-1]


# --- the queue ------------------------------------------------------------------------------------


def test_every_call_that_waits_says_why_and_when_it_is_its_turn():
    hall = Hall(shared(ONE, TWO), max_in_flight=4)
    for who in "123":
        hall.ask(who)
    hall.ask("4", background=True)
    assert [(one.assistant, one.why) for one in hall.gateway.queue()] == [("4", PLAYERS_FIRST)]
    hall.ask("5")
    hall.clock.advance(2.0)
    hall.ask("6")
    queue = hall.gateway.queue()
    assert [(one.assistant, one.turn, one.waited_s) for one in queue] == [
        ("6", 1, 0.0), ("4", 2, 2.0),
    ]  # fmt: skip
    assert {one.why for one in queue} == {GAME_FULL}
    assert {one.model for one in queue} == {"hall:m"}

"""The gateway when models fail: tries, pauses, the breaker, fairness, budgets, the switch."""

from datetime import UTC, datetime

import pytest
from twisted.internet.task import Clock
from twisted.logger import LogLevel, formatEvent, globalLogPublisher

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    BudgetExhausted,
    CircuitOpen,
    DeadlineExceeded,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    SwitchedOff,
)
from evennia_ai.llm.gateway import GatewayLimits, ModelGateway
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.breaker import BreakerLimits
from evennia_ai.policy.limits.budgets import PLAYER, WHOLE_GAME
from evennia_ai.policy.limits.retry import LOADING_CODE, LOADING_PAUSE_S, RetryLimits
from evennia_ai.ports import Caller, LLMReply, LLMRequest, Scene
from tests.llm.test_gateway import Held, Outcome
from tests.scripted import spent_today

PROFILE = ModelProfile("tavern", "scripted", "m")
DOWN = ProviderUnavailable("down")
ANN = frozenset({"#5"})


class Desk:
    """A gateway with a fake clock, no jitter unless told, and one held client."""

    def __init__(self, jitter=1.0, spent=lambda day: {}, **limits):
        self.clock = Clock()
        self.client = Held()
        self.number = 0
        clients = {"scripted": self.client, "offline": self.client}
        self.gateway = ModelGateway(
            self.clock, clients, GatewayLimits(**limits), spent, lambda: jitter
        )

    def ask(self, deadline=20.0, profile=PROFILE, tokens=0, max_tokens=0, **caller):
        request = LLMRequest(
            [{"role": "user", "content": str(self.number)}],
            Scene("Mira", "", ()),
            tokens=tokens,
            max_tokens=max_tokens,
            caller=Caller(**caller),
        )
        self.number += 1
        deadline_at = self.clock.seconds() + deadline
        return Outcome(self.gateway.complete(request, profile, deadline_at))

    def answer(self, number, usage=None):
        self.client.open.pop(number).callback(LLMReply("hi", usage=usage))

    def fail(self, number, error=DOWN):
        self.client.open.pop(number).errback(error)


# --- another try ----------------------------------------------------------------------------------


def test_a_transient_failure_is_tried_again_after_a_pause():
    desk = Desk()
    outcome = desk.ask()
    desk.fail(0)
    assert desk.client.started == []
    assert (desk.gateway.in_flight, desk.gateway.queued) == (0, 0)
    desk.clock.advance(0.5)
    desk.fail(0)
    desk.clock.advance(1.0)
    desk.answer(0)
    assert outcome.results == [LLMReply("hi")]
    assert desk.clock.getDelayedCalls() == []


def test_a_reply_that_had_begun_is_not_asked_for_again():
    desk = Desk()
    outcome = desk.ask()
    error = ProviderUnavailable("broke off", begun=True)
    desk.fail(0, error)
    assert outcome.error is error
    assert desk.clock.getDelayedCalls() == []


def test_retry_after_is_waited_for():
    desk = Desk(jitter=0.0)
    desk.ask()
    desk.fail(0, ProviderUnavailable("slow down", retry_after_s=2.0))
    desk.clock.advance(1.99)
    assert desk.client.started == []
    desk.clock.advance(0.01)
    assert desk.client.started == [0]


def test_when_the_pause_would_outlast_the_deadline_the_caller_is_told_at_once():
    desk = Desk()
    outcome = desk.ask()
    error = ProviderUnavailable("slow down", retry_after_s=30.0)
    desk.fail(0, error)
    assert outcome.error is error
    assert desk.clock.getDelayedCalls() == []


def test_the_deadline_ends_a_pause():
    desk = Desk(jitter=0.0)
    outcome = desk.ask(deadline=5.0)
    desk.fail(0, ProviderUnavailable("slow down", retry_after_s=4.0))
    desk.clock.advance(4.0)
    desk.clock.advance(1.0)
    assert type(outcome.error) is DeadlineExceeded
    assert desk.client.cancelled == [0]


def test_a_call_that_pauses_can_be_cancelled():
    desk = Desk()
    outcome = desk.ask()
    desk.fail(0)
    outcome.deferred.cancel()
    assert desk.clock.getDelayedCalls() == []
    desk.clock.advance(10.0)
    assert desk.client.started == []


def test_a_pause_leaves_the_place_to_others():
    desk = Desk(max_in_flight=1)
    desk.ask()
    desk.ask()
    assert desk.client.started == [0]
    desk.fail(0)
    assert desk.client.started == [1]


# --- the breaker ----------------------------------------------------------------------------------


def storm(**limits):
    """A desk whose endpoint has just failed three times in a row."""
    desk = Desk(
        retry=RetryLimits(max_attempts=1),
        breaker=BreakerLimits(failures=3, pause_s=10.0),
        **limits,
    )
    for number in range(3):
        desk.ask()
        desk.fail(number)
    return desk


def test_failures_in_a_row_leave_the_endpoint_alone_and_say_why():
    desk = storm()
    error = desk.ask().error
    assert type(error) is CircuitOpen
    assert str(error) == (
        "The model 'm' of the profile 'tavern' gets no calls for 10 s more, after: down"
    )
    assert desk.client.started == []
    (lane,) = desk.gateway.health()
    assert (lane.profile, lane.model, lane.paused_s, lane.error) == ("tavern", "m", 10.0, "down")


def test_one_probe_goes_out_after_the_pause_and_its_success_lets_all_others_go():
    desk = storm()
    desk.clock.advance(10.0)
    probe = desk.ask()
    assert type(desk.ask().error) is CircuitOpen
    desk.answer(3)
    assert probe.results == [LLMReply("hi")]
    desk.ask()
    assert desk.client.started == [5]


def test_a_probe_that_is_given_up_by_its_caller_lets_another_go():
    desk = storm()
    desk.clock.advance(10.0)
    desk.ask().deferred.cancel()
    desk.ask()
    assert desk.client.started == [3, 4]


def test_those_who_wait_are_told_when_the_endpoint_is_left_alone():
    desk = Desk(
        max_in_flight=1, retry=RetryLimits(max_attempts=1), breaker=BreakerLimits(failures=1)
    )
    first, second = desk.ask(), desk.ask()
    desk.fail(0)
    assert first.error is DOWN
    assert type(second.error) is CircuitOpen


def test_one_cause_is_warned_of_once_until_the_endpoint_answered():
    lines = []
    globalLogPublisher.addObserver(lines.append)
    try:
        desk = Desk(retry=RetryLimits(max_attempts=1))
        wrong, other = ProviderMisconfigured("no key"), ProviderMisconfigured("no address")
        for number, error in enumerate((wrong, wrong, other, None, other)):
            desk.clock.advance(3_600)
            desk.ask()
            if error:
                desk.fail(number, error)
            else:
                desk.answer(number)
    finally:
        globalLogPublisher.removeObserver(lines.append)
    warned = [formatEvent(line) for line in lines if line["log_level"] is LogLevel.warn]
    assert [line.partition("after: ")[2] for line in warned] == [
        "no key", "no address", "no address",
    ]  # fmt: skip


def test_another_model_is_not_touched_by_it():
    desk = storm()
    other = desk.ask(profile=ModelProfile("other", "scripted", "n"))
    assert other.results == []


def test_a_refused_request_says_nothing_against_the_endpoint():
    desk = Desk(breaker=BreakerLimits(failures=1))
    desk.ask()
    desk.fail(0, ProviderRejected("no"))
    assert desk.ask().results == []


def test_a_wrong_key_leaves_the_endpoint_alone_at_once():
    desk = Desk()
    desk.ask()
    desk.fail(0, ProviderMisconfigured("The key is wrong."))
    assert "The key is wrong." in str(desk.ask().error)


@pytest.mark.parametrize(("deadline", "kind"), [(10.0, CircuitOpen), (1.0, type(None))])
def test_an_endpoint_that_hangs_counts_as_failing_but_not_one_that_had_no_time(deadline, kind):
    desk = Desk(breaker=BreakerLimits(failures=1))
    desk.ask(deadline=deadline)
    desk.clock.advance(deadline)
    again = desk.ask()
    assert type(again.error if again.results else None) is kind


# --- fairness -------------------------------------------------------------------------------------


def test_assistants_take_turns_whoever_asks_most():
    desk = Desk(max_in_flight=1)
    for _ in range(3):
        desk.ask(assistant="1")
    desk.ask(assistant="2")
    desk.answer(0)
    desk.answer(1)
    assert desk.client.started == [3]


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


# --- budgets --------------------------------------------------------------------------------------


def test_a_call_beyond_the_budget_is_not_made():
    desk = Desk(game_tokens_per_day=1_000)
    error = desk.ask(tokens=900, max_tokens=101).error
    assert type(error) is BudgetExhausted
    assert str(error) == (
        "The game's budget: 0 of today's 1,000 tokens are used (0%), and this call could exceed "
        "the limit."
    )


def test_a_budget_that_is_spent_is_used_up():
    desk = Desk(game_tokens_per_day=1_000)
    desk.ask(tokens=900, max_tokens=100)
    desk.answer(0, Usage(900, 100))
    error = desk.ask(tokens=1, max_tokens=1).error
    assert str(error) == "The game's budget of 1000 tokens for today is used up."


def test_a_call_is_reserved_whole_and_settled_by_what_it_used():
    desk = Desk(game_tokens_per_day=1_000)
    desk.ask(tokens=100, max_tokens=500)
    assert type(desk.ask(tokens=100, max_tokens=500).error) is BudgetExhausted
    desk.answer(0, Usage(110, 40))
    assert spent_today(desk.gateway)[WHOLE_GAME] == 150
    assert desk.ask(tokens=100, max_tokens=500).results == []


def test_one_players_budget_is_not_anothers():
    desk = Desk(player_tokens_per_day=100)
    desk.ask(tokens=100, speakers=ANN)
    assert type(desk.ask(tokens=100, speakers=ANN).error) is BudgetExhausted
    assert desk.ask(tokens=100, speakers=frozenset({"#6"})).results == []


def test_an_assistants_own_budget_stands_beside_the_others():
    desk = Desk()
    error = desk.ask(tokens=100, assistant="1", tokens_per_day=99).error
    assert str(error).startswith("This assistant's budget: 0 of today's 99 tokens are used (0%)")


def test_what_was_spent_before_a_restart_counts():
    spent = {(PLAYER, "#5"): 90}
    desk = Desk(player_tokens_per_day=100, spent=lambda day: spent)
    assert type(desk.ask(tokens=11, speakers=ANN).error) is BudgetExhausted


def test_a_new_day_brings_a_new_budget():
    days = []
    desk = Desk(game_tokens_per_day=100, spent=lambda day: days.append(day) or {})
    desk.ask(tokens=100)
    desk.answer(0)
    assert type(desk.ask(tokens=1).error) is BudgetExhausted
    desk.clock.advance(86_400)
    assert desk.ask(tokens=100).results == []
    assert days == [datetime.fromtimestamp(at, UTC).date() for at in (0, 86_400)]


def test_a_failed_call_costs_nothing_one_given_up_its_prompt():
    desk = Desk(retry=RetryLimits(max_attempts=1), game_tokens_per_day=1_000)
    desk.ask(tokens=100)
    desk.fail(0)
    assert spent_today(desk.gateway) == {}
    desk.ask(tokens=100, deadline=1.0)
    desk.clock.advance(1.0)
    assert spent_today(desk.gateway)[WHOLE_GAME] == 100


def test_the_offline_brain_costs_nothing():
    desk = Desk(game_tokens_per_day=0)
    offline = ModelProfile("offline", "offline", "offline")
    assert desk.ask(tokens=100, profile=offline).results == []


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


# --- a local server that starts ---

HOME = ModelProfile("home", "scripted", "m", "http://127.0.0.1:8080/v1")
LOADING = ProviderUnavailable("loading", status=503, code=LOADING_CODE)


def test_while_a_server_loads_its_model_a_call_is_tried_until_it_is_up():
    desk = Desk(jitter=0.0)
    outcome = desk.ask(deadline=60.0, profile=HOME)
    for _ in range(30):
        desk.fail(0, LOADING)
        desk.clock.advance(LOADING_PAUSE_S)
    desk.answer(0)
    assert [reply.content for reply in outcome.results] == ["hi"]


def overdue(desk, profile, times):
    for _ in range(times):
        desk.ask(deadline=20.0, profile=profile)
        desk.clock.advance(20.0)
        desk.client.open.clear()
    return desk.gateway.health()[0].paused_s


def test_a_first_slow_answer_does_not_open_the_breaker_of_a_local_server():
    limits = BreakerLimits(failures=2)
    assert overdue(Desk(breaker=limits), PROFILE, 2) > 0
    assert overdue(Desk(breaker=limits), HOME, 5) == 0
    assert overdue(Desk(breaker=limits), HOME, 6) > 0


def test_once_it_has_answered_it_is_judged_as_any_other():
    desk = Desk(breaker=BreakerLimits(failures=2))
    desk.ask(profile=HOME)
    desk.answer(0)
    assert overdue(desk, HOME, 2) > 0

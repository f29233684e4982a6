"""The circuit breaker's transitions."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evennia_ai.errors import (
    DeadlineExceeded,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.policy.limits.retry import (
    LOADING_CODE,
    SLOW_STARTS,
    Breaker,
    BreakerLimits,
    admits,
    after_failure,
    judges_endpoint,
    with_probe,
)

LIMITS = BreakerLimits(failures=3, pause_s=10.0, longest_pause_s=60.0)
DOWN = ProviderUnavailable("down")


def failed(breaker, now, error=DOWN):
    return after_failure(breaker, error, now, LIMITS)


def opened(now=0.0):
    breaker = Breaker()
    for _ in range(LIMITS.failures):
        breaker = failed(breaker, now)
    return breaker


def test_failures_in_a_row_open_it_for_a_while():
    breaker = opened()
    assert not admits(breaker, 9.9)
    assert admits(breaker, 10.0)


def test_after_the_pause_one_call_probes_and_the_others_wait():
    probing = with_probe(opened(), True)
    assert not admits(probing, 10.0)


def test_a_failed_probe_opens_it_for_twice_as_long_up_to_the_limit():
    breaker, now, pauses = opened(), 0.0, []
    for _ in range(5):
        pauses.append(breaker.open_until - now)
        now = breaker.open_until
        breaker = failed(with_probe(breaker, True), now)
    assert pauses == [10.0, 20.0, 40.0, 60.0, 60.0]


def test_a_probe_that_was_given_up_lets_another_one_go():
    assert admits(with_probe(with_probe(opened(), True), False), 10.0)


def test_what_cannot_mend_itself_opens_it_at_once():
    for error in (ProviderMisconfigured("no such key"), QuotaExhausted("used up")):
        assert not admits(failed(Breaker(), 0.0, error), 1.0)


def test_a_time_the_provider_names_is_kept_up_to_the_longest_pause():
    assert failed(Breaker(), 0.0, QuotaExhausted("", retry_after_s=30.0)).open_until == 30.0
    assert failed(Breaker(), 0.0, QuotaExhausted("", retry_after_s=1e9)).open_until == 60.0


def overdue(times, starting):
    breaker = Breaker()
    for _ in range(times):
        breaker = after_failure(breaker, DeadlineExceeded("late"), 0.0, LIMITS, starting)
    return breaker


def test_overdue_calls_of_an_endpoint_that_is_starting_count_a_third():
    assert not overdue(LIMITS.failures, starting=False).closed
    assert overdue(SLOW_STARTS * LIMITS.failures - 1, starting=True).closed
    assert not overdue(SLOW_STARTS * LIMITS.failures, starting=True).closed


def test_an_endpoint_that_is_starting_and_refuses_connections_counts_in_full():
    breaker = Breaker()
    for _ in range(LIMITS.failures):
        breaker = after_failure(breaker, DOWN, 0.0, LIMITS, starting=True)
    assert not breaker.closed


def test_a_server_that_loads_its_model_has_not_failed():
    loading = ProviderUnavailable("loading", status=503, code=LOADING_CODE)
    assert not judges_endpoint(loading)
    assert judges_endpoint(ProviderUnavailable("busy", status=503))


class AnyOrder(RuleBasedStateMachine):
    """Calls that start, fail, succeed and are given up, as time goes by."""

    def __init__(self):
        super().__init__()
        self.breaker = Breaker()
        self.now = 0.0
        self.probes = 0

    @rule(seconds=st.floats(0.0, 100.0))
    def wait(self, seconds):
        self.now += seconds

    @rule(end=st.sampled_from(["fails", "succeeds", "is given up"]))
    def call(self, end):
        if not admits(self.breaker, self.now):
            return
        breaker = with_probe(self.breaker, True)
        if end == "fails":
            self.breaker = failed(breaker, self.now)
        elif end == "succeeds":
            self.breaker = Breaker()
        else:
            self.breaker = with_probe(breaker, False)

    @invariant()
    def it_is_never_open_longer_than_the_longest_pause(self):
        until = self.breaker.open_until
        # No difference: 60.00000000000003 s were measured of (196.47 + 60) - 196.47.
        assert until is None or until <= self.now + LIMITS.longest_pause_s

    @invariant()
    def it_never_stays_shut_for_ever(self):
        assert admits(self.breaker, self.now + LIMITS.longest_pause_s)


AnyOrder.TestCase.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
TestAnyOrder = AnyOrder.TestCase


def test_an_endpoint_that_is_down_for_a_year_pauses_no_longer_than_the_limit():
    breaker = Breaker(LIMITS.failures, 0.0, pauses=10_000, probing=True)
    assert failed(breaker, 0.0).open_until == LIMITS.longest_pause_s

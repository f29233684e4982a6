"""How fast an endpoint is, how long a turn may take with it, and what of this is stored."""

from dataclasses import replace

import pytest

from evennia_ai.messages import LLMReply, Timings, Usage
from evennia_ai.policy.limits.endpoints import (
    FIRST_DEADLINE_S,
    LEAST_READ,
    LEAST_WRITTEN,
    LOCAL_DEADLINE_S,
    LONGEST_DEADLINE_S,
    NEW_SHARE,
    UNKNOWN,
    EndpointFacts,
    Speed,
    is_local,
    local_deadline,
    measure_speed,
    read_facts,
    should_store,
    smooth_speed,
    stored_facts,
)

CPU = Speed(140.0, 35.0)


def timed(read=LEAST_READ, written=LEAST_WRITTEN):
    return LLMReply("", timings=Timings(read, 140.0, written, 35.0), usage=Usage(9, 900))


def test_what_the_endpoint_reports_is_taken():
    assert measure_speed(timed(), 1.0) == CPU


def test_a_prompt_from_the_cache_and_a_reply_of_a_word_tell_nothing():
    assert measure_speed(timed(read=LEAST_READ - 1), 1.0) == Speed(None, 35.0)
    assert measure_speed(timed(written=LEAST_WRITTEN - 1), 1.0) == Speed(140.0, None)


def test_without_a_report_the_duration_is_divided_between_prompt_and_reply():
    speed = measure_speed(LLMReply("", usage=Usage(2_800, 70)), 22.0)
    assert speed == Speed(pytest.approx(140.0), pytest.approx(35.0))
    assert speed.seconds_for(2_800, 70) == pytest.approx(22.0)


@pytest.mark.parametrize(
    ("reply", "took_s"),
    [
        (LLMReply(""), 5.0),
        (LLMReply("", usage=Usage(2_800, LEAST_WRITTEN - 1)), 5.0),
        (LLMReply("", usage=Usage(2_800, 70)), 0.0),
    ],
)
def test_otherwise_nothing_is_known(reply, took_s):
    assert measure_speed(reply, took_s) == UNKNOWN


def test_the_running_figure_follows_slowly_and_keeps_what_a_call_does_not_tell():
    assert smooth_speed(UNKNOWN, CPU) == CPU
    assert smooth_speed(CPU, UNKNOWN) == CPU
    assert smooth_speed(CPU, Speed(240.0, None)) == Speed(140.0 + NEW_SHARE * 100.0, 35.0)


def deadline(speed=CPU, answered=True, prompt=2_800, reply=700):
    return local_deadline(speed, answered, prompt, reply)


def test_a_deadline_has_time_to_read_the_prompt_and_to_write_half_a_reply_twice():
    assert deadline() == pytest.approx(2 * (20.0 + 10.0))
    assert deadline(prompt=4_200, reply=1_050) == pytest.approx(2 * (30.0 + 15.0))


def test_it_is_never_shorter_than_a_minute_and_never_endless():
    assert deadline(prompt=10) == LOCAL_DEADLINE_S
    assert deadline(prompt=1_000_000) == LONGEST_DEADLINE_S


@pytest.mark.parametrize("speed", [UNKNOWN, Speed(None, 35.0), Speed(140.0, None)])
def test_an_endpoint_of_unknown_speed_gets_a_minute(speed):
    assert deadline(speed=speed, prompt=100, reply=16) == LOCAL_DEADLINE_S


def test_the_first_call_may_have_to_wait_for_the_model():
    assert deadline(answered=False) == FIRST_DEADLINE_S
    assert deadline(answered=False, speed=UNKNOWN) == FIRST_DEADLINE_S


def test_stored_facts_are_read_as_they_were():
    facts = EndpointFacts(8_192, "plain", False, Speed(140.5, None))
    assert read_facts(stored_facts(facts)) == facts
    assert read_facts(stored_facts(EndpointFacts())) == EndpointFacts()


@pytest.mark.parametrize(
    "spoilt",
    [
        None,
        7,
        {"window": True, "form": ["tools"], "system": "yes", "speed": [1]},
        {"window": -1, "form": "auto", "speed": {"read": "fast", "written": float("inf")}},
        {"speed": {"read": 0.0, "written": float("nan")}},
    ],
)
def test_a_spoilt_value_counts_as_unknown(spoilt):
    assert read_facts(spoilt) == EndpointFacts()


FACTS = EndpointFacts(8_192, "plain", True, CPU)


@pytest.mark.parametrize(
    ("old", "new", "stored"),
    [
        (FACTS, FACTS, False),
        (FACTS, replace(FACTS, speed=Speed(175.0, 26.25)), False),
        (FACTS, replace(FACTS, speed=Speed(176.0, 35.0)), True),
        (FACTS, replace(FACTS, speed=Speed(140.0, 26.0)), True),
        (FACTS, replace(FACTS, speed=UNKNOWN), False),
        (EndpointFacts(), EndpointFacts(speed=Speed(None, 1.0)), True),
        (FACTS, replace(FACTS, form="tools"), True),
        (FACTS, replace(FACTS, system=False), True),
        (FACTS, replace(FACTS, window=4_096), True),
    ],
)
def test_any_new_fact_is_stored_but_of_a_speed_only_a_change_of_more_than_a_quarter(
    old, new, stored
):
    assert should_store(old, new) is stored


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://castle.lan/v1", True),
        ("http://model:8000/v1", True),
        ("https://api.openai.com/v1", False),
        ("", False),
    ],
)
def test_a_server_of_ones_own_is_known_by_its_address(address, local):
    assert is_local(address) is local

"""The stub provider's faults: that each is what its name says, on the wire and in a mix."""

import contextlib
import json
import socket
import time
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, IncompleteRead

import pytest

from tests.provider.faults import FAULTS, MIXED, Mix, draw_fault, expand_fault, read_mix
from tests.provider.faulty import FaultyOrders
from tests.provider.stub_replies import render_reply

TALK = {
    "model": "stub",
    "messages": [{"role": "user", "content": "Ann says: hello"}],
    "tools": [{"type": "function", "function": {"name": name}} for name in ("look", "say")],
}
AT = 1_767_268_800.0  # 1 January 2026, noon
LONGEST_WAIT_S = 20.0


def render(name, number=1, **options):
    reply = expand_fault({"fault": name, **options}, TALK, number, AT)
    return render_reply(reply, TALK, number)


def message_of(name):
    return json.loads(render(name).content)["choices"][0]["message"]


@contextlib.contextmanager
def asked(provider):
    """A connection on which the talk was sent."""
    connection = HTTPConnection("127.0.0.1", provider.port, timeout=LONGEST_WAIT_S)
    connection.request("POST", "/v1/chat/completions", json.dumps(TALK))
    try:
        yield connection
    finally:
        connection.close()


def ask_again(connection):
    connection.request("POST", "/v1/chat/completions", json.dumps(TALK))
    return connection.getresponse()


def eventually(condition):
    end = time.monotonic() + LONGEST_WAIT_S
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


# --- each by itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_every_fault_is_a_reply_that_can_be_sent(name):
    FaultyOrders().check({"fault": name})
    response = render(name)
    assert 200 <= response.status < 600
    assert response.manner == (
        name if name in ("reset", "cut", "hang", "drip", "flood") else "whole"
    )


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("rate_limited", 429),
        ("quota_exhausted", 429),
        ("payment_required", 402),
        ("server_error", 500),
        ("overloaded", 503),
        ("wrong_key", 401),
        ("forbidden", 403),
        ("unknown_model", 404),
        ("html", 200),
        ("redirect", 307),
        ("too_long", 400),
    ],
)
def test_an_endpoints_refusal_has_its_status(name, status):
    assert render(name).status == status


def test_a_rate_limit_says_when_to_come_back():
    assert render("rate_limited").headers["Retry-After"] == "2"
    assert render("rate_limited", seconds=5).headers["Retry-After"] == "5"
    assert int(render("rate_limited_for_days").headers["Retry-After"]) > 86_400
    date = parsedate_to_datetime(render("rate_limited_until").headers["Retry-After"])
    assert date.timestamp() == AT + 2
    assert render("rate_limited_oddly").headers["Retry-After"] == "in a while"


def test_truncated_json_is_none_and_broken_arguments_are_text():
    with pytest.raises(ValueError):  # noqa: PT011  # which one is json's affair
        json.loads(render("truncated_json").content)
    (call,) = message_of("broken_arguments")["tool_calls"]
    with pytest.raises(ValueError):  # noqa: PT011
        json.loads(call["function"]["arguments"])


def test_calls_come_under_one_id_or_by_the_hundred():
    ids = [call["id"] for call in message_of("same_ids")["tool_calls"]]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    assert len(message_of("many_calls")["tool_calls"]) == 100


def test_an_empty_reply_is_empty_in_either_way():
    assert json.loads(render("no_choices").content)["choices"] == []
    assert message_of("no_content")["content"] is None


def test_hostile_text_arrives_with_everything_in_it():
    text = message_of("hostile_text")["content"]
    assert all(
        part in text for part in ("\ud800", "\x00", "\x1b[", "|lc", "\u202e", "\r\n", "$eval")
    )


def test_usage_is_left_out_or_absurd():
    assert "usage" not in json.loads(render("no_usage").content)
    assert json.loads(render("absurd_usage").content)["usage"]["prompt_tokens"] < 0


def test_a_fault_that_needs_a_tool_takes_one_that_is_offered():
    body = {**TALK, "tools": [{"function": {"name": "noop"}}]}
    reply = expand_fault({"fault": "same_call"}, body, 1, AT)
    content = json.loads(render_reply(reply, body, 1).content)
    assert content["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "noop"


# --- on the wire ---------------------------------------------------------------------------------


def test_a_reset_comes_in_the_middle_of_the_body(provider):
    provider.fault("reset")
    with asked(provider) as connection, pytest.raises((ConnectionResetError, IncompleteRead)):
        connection.getresponse().read()


def test_a_cut_body_is_shorter_than_announced(provider):
    provider.fault("cut")
    with asked(provider) as connection, pytest.raises(IncompleteRead) as caught:
        connection.getresponse().read()
    assert len(caught.value.partial) > 0


def test_a_hanging_request_is_silent_and_a_client_that_leaves_is_logged(provider):
    provider.fault("hang")
    with asked(provider) as connection:
        connection.sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.getresponse()
    eventually(lambda: {"number", "left"} <= set(provider.records()[-1]))
    assert {"hang"} == {record["fault"] for record in provider.records() if "fault" in record}


def test_a_dripping_body_comes_byte_by_byte_and_whole(provider):
    provider.fault("drip", every_s=0.001)
    with asked(provider) as connection:
        answer = json.loads(connection.getresponse().read())
    assert answer["choices"][0]["message"]["tool_calls"]


def test_a_flood_is_as_long_as_ordered_and_ends_when_the_client_leaves(provider):
    provider.queue({"fault": "flood", "size": 1_000_000}, {"fault": "flood"})
    with asked(provider) as connection:
        assert 900_000 < len(connection.getresponse().read()) < 1_100_000
    with asked(provider) as connection:
        connection.getresponse().read(10)
    eventually(lambda: "left" in provider.records()[-1])


def test_while_it_refuses_nobody_connects_and_who_was_connected_is_dropped(provider):
    with asked(provider) as connection:
        connection.getresponse().read()
        provider.refuse(0.3)
        with pytest.raises(OSError, match=r"reset|closed|refused|aborted|Broken"):
            ask_again(connection)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", provider.port))

    def answers():
        with contextlib.suppress(ConnectionRefusedError), asked(provider) as again:
            return again.getresponse().status == 200
        return False

    eventually(answers)


# --- by rule, by order and in a mix --------------------------------------------------------------


def test_a_fault_can_stand_behind_a_rule(provider):
    provider.rules({"hello": {"fault": "server_error"}})
    with asked(provider) as connection:
        assert connection.getresponse().status == 500


@pytest.mark.parametrize(
    ("orders", "complaint"),
    [
        ({"queue": [{"fault": "hiccup"}]}, "no fault 'hiccup'"),
        ({"faults": {"rate": 0.5, "names": ["hiccup"]}}, "no fault 'hiccup'"),
        ({"faults": {"rate": 2}}, "rate from 0 to 1"),
        ({"faults": {"names": []}}, "names"),
        ({"faults": {"speed": 1}}, "speed"),
    ],
)
def test_an_order_for_no_fault_is_refused(provider, orders, complaint):
    with pytest.raises(ValueError, match=complaint):
        provider.control(**orders)


def drawn(mix, numbers=range(1, 2_001)):
    return {number: draw_fault(mix, number) for number in numbers}


def test_a_mix_is_the_same_for_the_same_seed_in_whatever_order_requests_come():
    mix = Mix(0.3, seed=7)
    assert drawn(mix) == drawn(mix, range(2_000, 0, -1))
    assert drawn(mix) != drawn(Mix(0.3, seed=8))


def test_a_mix_has_about_its_share_of_faults_and_every_kind_of_them():
    found = [reply["fault"] for reply in drawn(Mix(0.3, seed=7)).values() if reply]
    assert 500 < len(found) < 700
    assert set(found) == set(MIXED)


def test_a_mix_of_nothing_and_a_mix_of_everything():
    assert set(drawn(Mix(0.0)).values()) == {None}
    assert None not in drawn(read_mix({"rate": 1, "names": ["hang"]})).values()


def test_a_mix_plays_its_course_over_http_and_ends_with_clearing(provider):
    provider.mix_faults(1.0, seed=1, names=["server_error", "overloaded"])
    statuses = []
    for _ in range(6):
        with asked(provider) as connection:
            statuses.append(connection.getresponse().status)
    assert set(statuses) == {500, 503}
    provider.clear()
    with asked(provider) as connection:
        assert connection.getresponse().status == 200

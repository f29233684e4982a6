"""What an endpoint's refusal means, from the bodies that real ones send."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable, QuotaExhausted
from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.llm.fields_beside import parse_body
from evennia_ai.llm.refusals import (
    ERROR_TEXT_FIELDS,
    explain_refusal,
    read_refusal,
    shown_error,
    texts_in,
)
from evennia_ai.llm.reply_body import find_failure, unwrap
from evennia_ai.policy.limits.retry import LOADING_CODE
from evennia_ai.policy.provider_errors import ErrorResponse

KEY = "4f1c9e77-a2b8-tavern"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROFILE = ModelProfile("tavern", "openai", "stub", "http://host/v1", "STUB_KEY")
OVERFLOW = "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens."
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("error"), inner),
    max_leaves=8,
)


def read(body, status=400, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return read_refusal(unwrap(parse_body(content)), KEY, NOW, status, named)


def error_of(body, status=400, has_key=True, **headers):
    refusal = read(body, status, **headers)
    return explain_refusal(refusal, PROFILE, Endpoint("http://host/v1", KEY if has_key else ""))


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told", "code"),
    [
        ({"error": {"message": "No.", "type": "t", "code": "c"}}, "No", "c"),
        ({"error": {"message": "No.", "type": "t", "code": None}}, "No", "t"),
        ({"error": {"message": "No.", "type": "t", "code": 400}}, "No", "t"),
        ({"error": {"message": "No.", "code": "1261"}}, "No", "1261"),
        ({"error": {"message": "No.", "code": 400, "status": "INVALID"}}, "No", "INVALID"),
        ([{"error": {"message": "No.", "code": 400, "status": "INVALID"}}], "No", "INVALID"),
        ({"error": "No."}, "No", ""),
        ({"object": "error", "message": "No.", "type": "BadRequestError"}, "No", "BadRequestError"),
        ({"detail": "No."}, "No", ""),
        ({"error": {"message": f"key {KEY}", "code": f"bad-{KEY}"}}, "key ***", "bad-***"),
        (b"<html>no</html>", "", ""),
        (b"plain no", "plain no", ""),
        (b"", "", ""),
        (b"\xff\xfe", "", ""),
        ([], "", ""),
        (None, "", ""),
    ],
)
def test_what_a_server_says_and_its_code_are_found_in_every_form(body, told, code):
    refusal = read(body)
    assert (refusal.told.replace("\ufffd", "").strip(), refusal.code) == (told, code)


def test_words_are_found_deep_down_but_not_in_a_request_that_is_given_back():
    nested = {
        "error": {
            "message": "Provider returned error",
            "metadata": {"raw": json.dumps({"message": OVERFLOW})},
            "input": [{"role": "user", "content": "the prompt is too long"}],
        }
    }
    words = read(nested).words
    assert "maximum context length" in words
    assert "the prompt is too long" not in words


@given(body=JSON, status=st.integers(300, 599))
def test_no_body_at_all_breaks_the_reader(body, status):
    error = error_of(body, status)
    assert error.status == status
    assert KEY not in str(error)


def test_a_body_nested_without_end_is_read_to_some_depth():
    body = "x"
    for _ in range(50):
        body = {"error": [body]}
    assert list(texts_in(body, ERROR_TEXT_FIELDS)) == []
    assert read(b"[" * 100_000).status == 400


# --- meaning -------------------------------------------------------------------------------------


def test_a_wait_of_days_is_a_quota_and_a_short_one_is_not():
    assert type(error_of({}, 429, retry_after="172800")) is QuotaExhausted
    error = error_of({}, 429, retry_after="30")
    assert type(error) is ProviderUnavailable
    assert error.retry_after_s == 30.0


def test_a_server_that_wants_a_key_where_none_is_named_is_told_apart():
    assert "has no api_key_env" in str(error_of({}, 401, has_key=False))
    assert "refused the key in STUB_KEY" in str(error_of({}, 401))


# --- refusals that come with a status of success -------------------------------------------------


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"error": {"message": "No.", "code": 429}}, ErrorResponse("No.", 429, told="No")),
        ({"error": {"message": "No.", "code": "c"}}, ErrorResponse("No.\nc", code="c", told="No")),
        ({"error": "No."}, ErrorResponse("No.", told="No")),
        ({"error": {"code": True}}, ErrorResponse()),
        ({"error": {"code": 200}}, ErrorResponse()),
        ({"error": None}, None),
        ({"message": "hello"}, ErrorResponse("hello", told="hello")),
        ({"message": "hello", "choices": []}, None),
        ([], None),
    ],
)
def test_an_error_in_a_success_is_a_refusal_with_the_errors_own_status(body, refusal):
    failure = find_failure(body)
    found = None if failure is None else read_refusal(failure, KEY, NOW)
    assert found == refusal


# --- what an admin reads -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"message": "Too long."}, "Too long"),
        ({"detail": "no"}, "no"),
        ({"error": "bad"}, "bad"),
        ("plain\n\ttext", "plain text"),
        ("<html>big</html>", ""),
        (None, ""),
        ({"message": "key s3cret-key!"}, "key ***"),
        ({"message": "key sk-proj-****abcd"}, "key ***"),
        ({"message": "a\x1b[31m\u202eb"}, "a [31m b"),
        ({"message": "x" * 1_000}, "x" * 300),
        ({"message": "x" * 294 + " s3cret-key!"}, "x" * 294 + " ***"),
        ({"message": "no s3cret-key!s, keys3cret-key!"}, "no s3cret-key!s, keys3cret-key!"),
        ({"message": "see http://me:pw@host/v1?key=k now"}, "see http://host/v1 now"),
    ],
)
def test_a_servers_words_are_short_one_line_and_without_the_key(body, told):
    assert shown_error(body, "s3cret-key!") == told


@pytest.mark.parametrize(
    ("status", "message", "loading"),
    [
        (503, "Loading model", True),
        (503, "Model mistral is currently loading", True),
        (503, "no healthy upstream", False),
        (500, "Loading model", False),
    ],
)
def test_a_server_that_loads_its_model_is_told_apart(status, message, loading):
    error = error_of({"error": {"code": status, "message": message}}, status)
    assert type(error) is ProviderUnavailable
    assert (error.code == LOADING_CODE) is loading
    assert ("is still loading the model" in str(error)) is loading

"""What of keys, addresses and prompts people may read."""

import json
import subprocess
import sys

import pytest

from evennia_ai.policy import redaction
from evennia_ai.policy.redaction import (
    UNREADABLE,
    hide_secrets,
    mask_key,
    quote_without,
    shown_address,
)
from tests.growth import text_grows_like_a_square

KEY = "sk-a1b2c3"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-a1b2c3.", "key ***."),
        ("sk-a1b2c3", "***"),
        ("?key=sk-a1b2c3&x=1", "?key=***&x=1"),
        ("sk-a1b2c3 and sk-a1b2c3", "*** and ***"),
        ("sk-a1b2c3d", "sk-a1b2c3d"),
        ("task-sk-a1b2c34", "task-sk-a1b2c34"),
        ("\u5bc6\u94a5sk-a1b2c3\u65e0\u6548", "\u5bc6\u94a5***\u65e0\u6548"),
    ],
)
def test_a_key_is_masked_where_it_stands_as_a_whole(text, shown):
    assert mask_key(text, KEY) == shown


def test_a_key_is_masked_in_raw_json_too():
    raw = json.dumps({"told": f"\n{KEY}\u2028{KEY}\t{KEY}"})
    assert KEY in raw
    assert KEY not in mask_key(raw, KEY)
    assert mask_key(r"ab\/cd\/ef", "ab/cd/ef") == "***"


def test_a_key_of_fewer_than_8_characters_is_no_secret():
    assert mask_key('"n_ctx": 4096, "x": 1', "x") == '"n_ctx": 4096, "x": 1'
    assert mask_key("a 1234567 b", "1234567") == "a 1234567 b"
    assert mask_key("a 12345678 b", "12345678") == "a *** b"
    assert mask_key("a b", "") == "a b"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:pw@host.example:8/v1/?key=k#x", "https://host.example:8/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("https://token@host/v1", "https://host/v1"),
        ("https://me:p@w@host/v1", "https://host/v1"),
        ("postgres://me:pw@db/minds", "postgres://db/minds"),
        ("http://host", "http://host"),
        ("me:pw@host/v1", UNREADABLE),
        ("http://me:pa/ss@host/v1", UNREADABLE),
        ("http://me:12/ss@host/v1", UNREADABLE),
        ("http://me:12?ss@host/v1", UNREADABLE),
        ("http://me:12#ss@host/v1", UNREADABLE),
        ("http://h:99999/v1", UNREADABLE),
        ("http://[x/v1", UNREADABLE),
        ("http://", UNREADABLE),
        ("", UNREADABLE),
    ],
)
def test_an_address_is_shown_without_user_password_query_and_fragment(address, shown):
    assert shown_address(address) == shown


def test_addresses_inside_a_text_are_cleaned():
    text = "POST http://me:pw@host/v1?key=k failed (see https://docs.example/errors)"
    assert hide_secrets(text) == "POST http://host/v1 failed (see https://docs.example/errors)"
    assert hide_secrets("a key-123456, Sk-1234567") == "a ***, Sk-1234567"
    assert hide_secrets("\u94a5sk-proj-****abcd") == "\u94a5sk-proj-****abcd".replace(
        "sk-proj-****abcd", "***"
    )


def test_the_module_needs_nothing_that_is_not_in_python_itself():
    """`make demo` imports it before it has installed anything."""
    code = f"import runpy; runpy.run_path({redaction.__file__!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


# --- error sentences, quoted without the words of the prompt --------------------------------------


PROMPT = (
    "You are Mira. Ann whispers to you: the key to the cellar is under the third barrel, and "
    "the word is Zanzibar-40! 金の指輪は井戸の中 "
    "Das Paßwort heißt Füchsin. The model is in the text."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
        "Billing hard limit reached",
        "Rate limit reached for requests per minute: 500",
        "tools[0].function.parameters: invalid schema",
        "Value error, frobnication impossible",
    ],
)
def test_what_does_not_come_from_the_prompt_is_quoted(sentence):
    assert quote_without(sentence, PROMPT) == sentence


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ("Invalid input: Zanzibar", "Invalid input: ..."),
        ("Blocked: 'the key to the cellar is under the third barrel'", "Blocked: '...'"),
        ("blocked: ZANZIBAR-40", "blocked: ..."),
        ("content 'e third barr' is too long", "content '...' is too long"),
        ("cannot parse zanzib", "cannot parse ..."),
        ("cannot parse 40", "cannot parse ..."),
        ("input 指輪は is invalid", "input ... is invalid"),
        ("input Füchsinnen is invalid", "input ... is invalid"),
        ("input F\\u00fcchsin is invalid", "input ... is invalid"),
        ("input " + "eHh4" * 20 + " is invalid", "input ... is invalid"),
        ("Zanzibar", ""),
        ("", ""),
    ],
)
def test_what_may_come_from_the_prompt_is_cut(sentence, quoted):
    assert quote_without(sentence, PROMPT) == quoted


def test_the_time_for_a_prompt_grows_with_its_length_not_its_square():
    sentence = "sit amet consectetur " * 14
    assert not text_grows_like_a_square(
        lambda prompt: quote_without(sentence, prompt), "lorem ipsum dolor ", 360_000
    )

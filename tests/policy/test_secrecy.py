"""What of keys and addresses people may read."""

import json
import subprocess
import sys

import pytest

from evennia_ai.policy import secrecy
from evennia_ai.policy.secrecy import UNREADABLE, hide_secrets, mask_key, shown_address

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
    code = f"import runpy; runpy.run_path({secrecy.__file__!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)

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
    names_in,
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


# What was whispered shares words, and pieces of words, with what endpoints say.
WHISPERED = """\
Ann whispers to you: the presence of the temperamental organist was reported at the station, and the
completed statements mention a support for the third barrel. The stream near the mill is deployed
with eight barrels; the meter in the cellar reads 4711 and I owe 500 crowns. The reasoning of the
important delegation exceeded all expectation. Invalid is what she says of the contract; it is the
maximal penalty, and my limitations are known. Stop the seed merchant, for he requires the
temperature of the bath. The password is zanzibar."""
OWN = frozenset({"gpt", "4o", "mini", "temperature", "max_tokens", "top_p", "tools"})
# By providers, from public reports; the last is what must stay readable.
REAL_ERRORS = [
    ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens"),
    ("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature"),
    ("Unrecognized request argument supplied: presence_penalty", "presence_penalty"),
    ("The model `gpt-4o-mini` does not exist or you do not have access to it.", "gpt-4o-mini"),
    ("This model's maximum context length is 8192 tokens, your messages resulted in 8202 tokens.",
     "8192 tokens"),
    ("Rate limit reached for gpt-4o-mini: Limit 30000, Used 29500, Requested 1200.", "Limit 30000"),
    ("max_tokens is too large: 8192. This model supports at most 4096 completion tokens.",
     "4096 completion tokens"),
    ("Input validation error: `inputs` must have less than 4096 tokens. Given: 4711 tokens",
     "4096 tokens"),
    ("Rate limit: 500 requests per minute", "500 requests"),
    ("'stream_options' is only allowed when 'stream' is enabled", "stream_options"),
    ("[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort')}]", "reasoning_effort"),
    ("Invalid parameter: response_format of type json_schema is not supported", "json_schema"),
    ("ValidationException: Malformed input request: extraneous key [top_p] is not permitted",
     "top_p"),
    ("Missing required parameter: 'messages[1].content'", "messages[1].content"),
    ("InvokeModelWithResponseStream: Input is too long for requested model.", "InvokeModel"),
    ("stop_sequences: at most 4 are supported", "stop_sequences"),
    ("the request exceeds the available context size (4096 tokens), try increasing n_ctx",
     "n_ctx"),
    ("Value error, frequency_penalty must be in [-2, 2]", "frequency_penalty"),
    ("tool_choice 'required' is not supported; use auto", "tool_choice"),
    ("model 'qwen3:8b' not found, try pulling it first", "qwen3:8b"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "key_words"), REAL_ERRORS)
def test_key_words_of_an_error_stay_beside_a_prompt_with_words_like_them(sentence, key_words):
    assert key_words in quote_without(sentence, WHISPERED, OWN)


@pytest.mark.parametrize("sentence", [sentence for sentence, _key_words in REAL_ERRORS[::4]])
def test_no_piece_of_the_prompt_stays_wherever_it_is_cut(sentence):
    secrets = "organist temperamental zanzibar barrel delegation merchant cellar".split()
    for length in (9, 16, 40):
        for start in range(0, len(WHISPERED) - length, 3):
            echo = WHISPERED[start : start + length]
            for repeated in (f"'{echo}'", echo.upper(), "".join(echo.split()), repr(echo)):
                shown = quote_without(f"{sentence} Got: {repeated}", WHISPERED, OWN).lower()
                assert not [secret for secret in secrets if secret in shown], (echo, shown)


def test_of_an_error_to_private_words_the_names_and_limits_are_listed():
    for sentence, names in [
        (REAL_ERRORS[0][0], ["max_tokens"]),
        (REAL_ERRORS[2][0], ["presence_penalty"]),
        (REAL_ERRORS[3][0], ["gpt", "4o", "mini"]),
        (REAL_ERRORS[4][0], ["8192 tokens", "8202 tokens"]),
        (REAL_ERRORS[7][0], ["4096 tokens", "4711 tokens"]),
        ("temperature of the bath: zanzibar, cannot parse 500 crowns 1174", []),
        ("rabiznaz si drowssap ehT", []),
        (" ".join(str(ord(char)) for char in "zanzibar"), []),
    ]:
        assert names_in(sentence, WHISPERED, OWN) == names


def test_the_time_for_a_prompt_grows_with_its_length_not_its_square():
    sentence = "sit amet consectetur " * 14
    assert not text_grows_like_a_square(
        lambda prompt: quote_without(sentence, prompt), "lorem ipsum dolor ", 360_000
    )

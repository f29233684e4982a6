"""An endpoint's error sentence is quoted without the words of the prompt."""

import pytest

from evennia_ai.policy.secrecy import quote_without
from tests.growth import text_grows_like_a_square

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

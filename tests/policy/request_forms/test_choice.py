"""The choice of a request form."""

import pytest

from evennia_ai.policy.tool_call_modes.known_models import choose_form

BIG, SMALL = "gpt-5.1", "qwen2.5-coder-1.5b"


@pytest.mark.parametrize(
    ("model", "wanted", "told", "expected"),
    [
        (BIG, "auto", "", "tools"),
        (SMALL, "auto", "", "schema"),
        ("", "auto", "", "tools"),
        ("stub", "auto", "", "tools"),
        (SMALL, "auto", "text", "text"),
        (SMALL, "auto", "tools", "tools"),
        (BIG, "schema", "tools", "schema"),
        (SMALL, "tools", "schema", "tools"),
        (SMALL, "text", "", "text"),
        (SMALL, "unheard of", "", "schema"),
        (SMALL, "auto", "unheard of", "tools"),
    ],
)
def test_the_profile_counts_most_then_the_probe_then_the_name(model, wanted, told, expected):
    assert choose_form(model, wanted, told).name == expected

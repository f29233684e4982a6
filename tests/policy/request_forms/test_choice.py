"""The choice of a request form."""

import pytest

from evennia_ai.policy.tool_call_modes.form import choose_form

BIG, SMALL = "gpt-5.1", "qwen2.5-coder-1.5b"


@pytest.mark.parametrize(
    ("model", "wanted", "told", "expected"),
    [
        (BIG, "auto", "", "tools"),
        (SMALL, "auto", "", "plain"),
        ("", "auto", "", "tools"),
        ("stub", "auto", "", "tools"),
        (BIG, "auto", "plain", "plain"),
        (SMALL, "auto", "tools", "tools"),
        (BIG, "plain", "tools", "plain"),
        (SMALL, "tools", "plain", "tools"),
        (SMALL, "unheard of", "", "plain"),
        (SMALL, "auto", "unheard of", "tools"),
    ],
)
def test_the_profile_counts_most_then_the_probe_then_the_name(model, wanted, told, expected):
    assert choose_form(model, wanted, told).name == expected


@pytest.mark.parametrize("former", ["schema", "text"])
def test_the_names_of_former_forms_mean_plain_words(former):
    assert choose_form(BIG, former).name == "plain"
    assert choose_form(BIG, "auto", former).name == "plain"

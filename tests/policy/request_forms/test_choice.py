"""The choice of a request form."""

import pytest

from evennia_ai.policy.request_forms.form import FORMS
from evennia_ai.policy.request_forms.known_models import REQUEST_FORMS, choose_form

BIG, SMALL = "gpt-5.1", "qwen2.5-coder-1.5b"


def test_every_form_has_its_own_name():
    assert tuple(REQUEST_FORMS) == FORMS
    assert all(form.name == name for name, form in REQUEST_FORMS.items())


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

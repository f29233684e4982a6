"""Stored values are plain data, and what older versions pickled is read by a table."""

import os
import re
from base64 import b64encode
from pathlib import Path

import pytest

import evennia_ai
from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.record import RecordSegment, read_segment
from evennia_ai.policy.records.stored_values import OLD_FORMS, opened, stored, unpacked
from tests.upgrade.old_values import OLD, OLDEST, column, sealed

LABEL = "2 records of an assistant"
CONTENT = {"used": 2, "records": {"1": {"content": "Grüße \ud800 #5"}, "2": {"trust": 0.5}}}


def kept(content):
    return stored(content, "3 #5 ", LABEL)


def test_a_value_is_read_as_it_was_stored():
    assert unpacked(None, kept(CONTENT)["db_strvalue"]) == CONTENT
    assert unpacked(None) is None


def test_the_column_that_examine_shows_holds_the_label_alone():
    assert kept({"content": "a silver spoon"})["db_value"] == LABEL
    assert "silver" not in kept({"content": "a silver spoon"})["db_strvalue"]


@pytest.mark.parametrize(("module", "name"), OLD_FORMS)
def test_a_value_of_an_old_class_is_read_although_its_module_is_gone(module, name):
    assert unpacked(sealed(module, CONTENT, name)) == CONTENT
    assert unpacked(column(CONTENT)) == CONTENT  # before there was a class


def test_the_classes_of_all_landed_versions_are_read():
    known = {OLDEST, OLD}
    assert {module for module, _name in OLD_FORMS} >= known


def test_what_a_version_could_not_read_is_read_once_the_next_one_can():
    old = sealed(OLDEST, CONTENT)
    for columns in ((sealed(OLD, old), "3 #5 "), (None, kept(old)["db_strvalue"])):
        assert opened(*columns) == old
        assert unpacked(*columns) == CONTENT


class Payload:
    def __reduce__(self):
        return os.mkdir, ("made-by-a-pickle",)


@pytest.mark.parametrize(
    "raw",
    [
        column(Payload()), sealed("evennia_ai.elsewhere", CONTENT), column("nonsense"), "nonsense",
        column(b64encode), "====", "",
    ],
)  # fmt: skip
def test_any_other_class_and_damage_is_refused(raw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadRecord):
        unpacked(raw)
    assert not list(tmp_path.iterdir())


def test_a_segment_of_an_older_version_is_read_whole():
    def read(item):
        return item

    old = {"used": 2, "records": {1: {"id": "j1"}, 2: {"id": "j2"}}}
    raw = sealed(OLDEST, old)
    assert read_segment(raw, 0, read) == (RecordSegment(2, old["records"], 0), True)


def test_nothing_else_in_the_package_unpickles():
    files = Path(evennia_ai.__file__).parent.rglob("*.py")
    loading = re.compile(r"\b(pickle|marshal|shelve|dill)\.(loads?|Unpickler|open)\b")
    found = {file.name for file in files if loading.search(file.read_text(encoding="utf-8"))}
    assert found == {"stored_values.py"}


@pytest.mark.parametrize("below", ["", "x", "eyJ9", "e30=", "MQ=="])
def test_damage_below_the_people_is_refused(below):
    with pytest.raises(BadRecord):
        unpacked(column(CONTENT), f"3 #5 \n{below}")

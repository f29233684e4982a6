"""Stored values are plain data, and what older versions pickled is read by a table."""

import os
from base64 import b64encode

import pytest

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.provenance import Segment, read_segment
from evennia_ai.policy.records.stored_values import OLD_FORMS, opened, packed, unpacked
from tests.upgrade.old_values import OLD, OLDEST, column, sealed

LABEL = "2 records of an assistant"
CONTENT = {"used": 2, "records": {"1": {"content": "Grüße \ud800 #5"}, "2": {"trust": 0.5}}}
WIDTH = 78  # at which `examine` cuts


def test_a_value_is_read_as_it_was_stored():
    assert unpacked(column(packed(CONTENT, LABEL))) == CONTENT
    assert unpacked(None) is None


def test_a_value_shows_its_label_where_it_is_cut_and_no_word_at_all():
    shown = repr(packed({"content": "a silver spoon"}, "32 records of an assistant; aimemory"))
    assert "aimemory" in shown[:WIDTH]
    assert "silver" not in shown


@pytest.mark.parametrize(("module", "name"), OLD_FORMS)
def test_a_value_of_an_old_class_is_read_although_its_module_is_gone(module, name):
    assert unpacked(sealed(module, CONTENT, name)) == CONTENT
    assert unpacked(column(CONTENT)) == CONTENT  # before there was a class


def test_the_classes_of_all_landed_versions_are_read():
    known = {OLDEST, OLD}
    assert {module for module, _name in OLD_FORMS} >= known


def test_what_a_version_could_not_read_is_read_once_the_next_one_can():
    old = sealed(OLDEST, CONTENT)
    for kept in (sealed(OLD, old), column(packed(old, LABEL))):
        assert opened(kept) == old
        assert unpacked(kept) == CONTENT


class Payload:
    def __reduce__(self):
        return os.mkdir, ("made-by-a-pickle",)


@pytest.mark.parametrize(
    "raw",
    [
        column(Payload()), sealed("evennia_ai.elsewhere", CONTENT), column("nonsense"), "nonsense",
        "", column({"packed": "{"}), column({"packed": 3}), column(b64encode),
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
    assert read_segment(raw, 0, read) == (Segment(2, old["records"], 0), True)

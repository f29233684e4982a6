"""Whoever looks for the names of the design documents is led to where things are."""

import re
from datetime import datetime

import pytest
from twisted.logger import formatEvent, globalLogPublisher

from evennia_ai.sleep.compaction.compact import compact_conversation_history
from evennia_ai.store import attributes
from tests.e2e.harness import ROOT
from tests.scripted import call

PAGE = ROOT / "docs" / "design-names.md"


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.setattr(attributes, "_pointed_out", set())
    seen = []

    def watch(event):
        seen.append(formatEvent(event))

    globalLogPublisher.addObserver(watch)
    yield seen
    globalLogPublisher.removeObserver(watch)


def test_a_name_that_is_elsewhere_is_told_once(mira, lines):
    assert mira.db.journal is None and mira.db.journal is None
    assert mira.assistant.db.conversation_history is None
    told = [line for line in lines if "is in no Attribute" in line]
    assert len(told) == 2
    assert "use character.journal" in told[0] and "script.conversation_history" in told[1]


def test_the_attributes_are_those_of_any_object(mira, lines):
    mira.db.hat = "red"
    mira.assistant.db.journal = "mine"
    assert (mira.db.hat, mira.attributes.get("hat"), mira.db.boots) == ("red", "red", None)
    assert mira.assistant.db.journal == "mine"
    del mira.db.hat
    assert mira.db.hat is None
    assert not [line for line in lines if "is in no Attribute" in line]


def test_the_time_of_the_last_compaction_is_stored(game, ann, mira):
    script = mira.assistant
    assert script.db.last_compaction is None
    for number in range(8):
        game.model.add(call("say", text=f"I hear you, number {number}."))
        ann.do(f"say Mira, lamp {number} that I sell costs {number + 3} silver in the market hall.")
        game.run(61)
    game.model.script[:] = ["Ann sells lamps in the market hall for 3 to 10 silver."]
    doing = compact_conversation_history(script, mira, force=True, keep_recent=2)
    assert game.result(doing)["success"]
    assert datetime.fromisoformat(script.db.last_compaction) <= script.services.now()


def test_each_place_of_the_page_is_there():
    rows = re.findall(r"^\| (`.+`.*) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert len(rows) >= 25
    for _name, where in rows:
        for path in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", where):
            assert (ROOT / "evennia_ai" / path).exists(), path

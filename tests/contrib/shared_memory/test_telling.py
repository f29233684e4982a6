"""What one character tells others: what it knows at first hand, openly, and no more than that."""

from datetime import UTC, datetime, timedelta

import pytest

from evennia_ai.contrib.shared_memory.telling import (
    LEAST_TRUST,
    TRUST_KEPT,
    Rumours,
    make_tellings,
    may_be_told,
    read_scopes,
    select_scopes,
)
from evennia_ai.errors import ConfigError
from evennia_ai.policy.records.journal_entry import (
    COPIED_FIELDS,
    UNGUARDED,
    is_as_copied,
    make_entry,
)
from evennia_ai.policy.records.record import TRUST

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ANN, BOB = "#5", "#6"


def entry(content="The bridge is down.", at=NOW, **fields):
    return make_entry("j1", content, at, {"importance": 6, **fields})


def rumour(content, since=NOW):
    return {"content": content, "available_from": since.isoformat()}


def told(content, at=NOW, since=NOW, heard="The bridge at the mill is down."):
    rumours = Rumours()
    rumours.add(rumour(heard, since), "Mira")
    return rumours.is_echo(entry(content, at))


# --- to whom ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["guild", "quest:key", "faction:", "faction, nobody", "off, room"])
def test_what_is_no_scope_is_named(text):
    with pytest.raises(ConfigError, match="share_memory cannot be"):
        read_scopes(text)


def test_a_kind_takes_in_what_the_character_belongs_to_and_nothing_else():
    labels = {"all", "tag:tall", "faction:guards", "faction:choir", "room:#12", "room:market"}
    assert select_scopes(("faction",), labels) == ["faction:choir", "faction:guards"]
    assert select_scopes(("room",), labels) == ["room:#12"]
    assert select_scopes(("room:market", "tag:tall"), labels) == ["room:market", "tag:tall"]
    assert select_scopes(("faction:thieves",), labels) == []
    assert select_scopes(("all",), labels) == ["all"]
    assert select_scopes((), labels) == []


# --- what -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"audience": [ANN]},
        {"audience": []},
        {"pinned": True},
        {"tags": ["Secret"]},
        {"tags": [UNGUARDED]},
        {"trust": LEAST_TRUST / TRUST_KEPT - 0.01},
        *({"source_type": kind} for kind in TRUST if kind not in ("direct", "observation")),
    ],
)
def test_what_is_anybodys_own_affair_may_not(fields):
    assert not may_be_told(entry(**fields), 1)


@pytest.mark.parametrize(
    "change",
    [
        {"content": "It is not."}, {"audience": [ANN]}, {"speakers": [ANN]}, {"source_entity": ANN},
        {"source_seqs": [3]}, {"source_type": "inference"}, {"tags": ["secret"]}, {"pinned": True},
    ],
)  # fmt: skip
def test_whatever_changes_what_was_told_takes_it_back(change):
    assert set(change) <= set(COPIED_FIELDS)
    assert not is_as_copied(entry(), {**entry(), **change})


# --- a rumour is not told on --------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "The bridge at the mill is down.",
        "Mira told me that the mill bridge went down.",
        "They say the bridge near the old mill has been down since the storm.",
        "Mira says there is no way over the bridge to the mill.",
    ],
)
def test_what_others_told_is_known_again_in_its_own_words(content):
    assert told(content, at=NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    "content",
    [
        "Ann sells her grey mare.",
        "Mira sells her grey mare.",
        "The bridge at the ford is down.",
        "There is a way over the bridge to the mill.",
        "Storm.",
    ],
)
def test_what_is_something_else_is_its_own(content):
    assert not told(content, at=NOW + timedelta(hours=1))


# --- when -------------------------------------------------------------------------------------


def test_news_takes_its_time_from_when_it_was_learnt():
    (soon,) = make_tellings(entry(), ["all"], NOW, 60, frozenset())
    assert soon.available_from == NOW + timedelta(seconds=60)
    (late,) = make_tellings(entry(at=NOW - timedelta(days=1)), ["all"], NOW, 60, frozenset())
    assert late.available_from == NOW


# --- beside what one knows oneself --------------------------------------------------------------

"""Entries that say the same become one in sleep, if a model says so, and nothing is lost."""

import json

import numpy as np
import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.deduplication.pairs import (
    APART,
    NEAREST,
    candidates,
    grouped,
    read_judgement,
)
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.policy.records.journal_entry import make_entry
from evennia_ai.ports.journal import Journal
from evennia_ai.store.memory_editor import MemoryEditor
from tests.forgetting import forget_chunk
from tests.memory.bag_of_words import BagOfWords

ASKING = ModelProfile("test", client="openai", model="scripted")
SAME, OTHER = json.dumps({"1": "same"}), json.dumps({"1": "different"})


@pytest.fixture
def tidy(game, mira):
    """A function that runs the step; returns its result."""
    mind = mira.assistant.mind
    mira.assistant.attributes.add("merge_entries", True)
    mind.services.nearness = TextNearness(BagOfWords)
    return lambda profile=ASKING: game.asleep(mind, mind.sleep_pass.steps["deduplication"], profile)


@pytest.fixture
def note(game, mira, ann):
    """A function that writes an entry down, by default with Ann's word; returns its id."""

    def add(content, source=ann.dbref, **fields):
        game.clock.advance(1)
        return mira.journal.add(content, source_entity=source, speakers=[source], **fields)

    return add


def entries(mira):
    Journal.drop(mira)
    return mira.journal.all()


@pytest.mark.game
@pytest.mark.engine
class TestInSleep:
    """A pass of sleep over a journal, with a scripted model."""

    def test_of_two_that_say_the_same_the_newest_stays(self, game, mira, ann, tidy, note):
        first = note("Ann sails on the ship Kestrel.", source_seqs=[3], tags=["ship"])
        second = note("Ann sails the ship Kestrel now.", source_seqs=[8])
        game.model.add(SAME)
        figures = {"merged": 1, "compared": 1, "calls": 1}
        assert tidy() == {"success": True, **figures}
        (left,) = entries(mira)
        assert (left["id"], left["content"]) == (second, "Ann sails the ship Kestrel now.")
        assert (left["source_seqs"], left["tags"]) == ([3, 8], ["ship"])
        assert left["links"] == [first]
        assert mira.journal.archive.require(first)["content"] == "Ann sails on the ship Kestrel."

    def test_what_a_builder_restores_is_merged_no_more(self, game, mira, tidy, note):
        first = note("Ann sails on the ship Kestrel.")
        note("Ann sails the ship Kestrel now.")
        game.model.add(SAME)
        tidy()
        MemoryEditor(mira).restore(first)
        assert tidy()["skipped"] is True
        assert len(entries(mira)) == 2

    def test_a_pair_that_was_judged_different_is_not_asked_again(self, game, mira, tidy, note):
        first = note("Ann sails on the ship Kestrel.")
        note("Ann sails on the ship Heron.")
        game.model.add(OTHER)
        assert (tidy()["compared"], len(entries(mira))) == (1, 2)
        assert mira.journal.all()[1]["links"] == [f"{APART}{first}"]
        assert tidy() == {"skipped": True, "reason": "no two entries are near each other"}
        note("Ann sails on the ship Gull.")
        game.model.add(json.dumps({"1": "different", "2": "different"}))
        assert tidy()["compared"] == 2

    def test_what_others_told_and_what_others_may_not_know_is_never_compared(
        self, game, mira, ann, bob, tidy, note
    ):
        note("Ann sails on the ship Kestrel.")
        note("Ann sails on the ship Kestrel!?", bob.dbref)
        note("Ann sails on her ship Kestrel.", audience=[ann.dbref])
        assert tidy()["skipped"] is True
        assert game.model.requests == []

    def test_a_request_holds_entries_of_one_audience(self, game, mira, ann, tidy, note):
        for audience in (None, [ann.dbref]):
            note("Ann sails on the ship Kestrel.", audience=audience)
            note("Ann sails the ship Kestrel now.", audience=audience)
        game.model.add(SAME, SAME)
        assert tidy()["merged"] == 2
        assert [len(request.messages[-1]["content"].split("Kestrel")) for request in
                game.model.requests] == [3, 3]  # fmt: skip
        assert [entry["audience"] for entry in entries(mira)] == [None, [ann.dbref]]

    def test_without_a_model_with_tools_or_by_the_setting_nothing_is_asked(
        self, game, mira, tidy, note
    ):
        note("Ann sails on the ship Kestrel.")
        note("Ann sails the ship Kestrel now.")
        assert tidy(ModelProfile("test", client="offline"))["reason"] == "no model to ask"
        mira.assistant.attributes.add("merge_entries", False)
        assert tidy()["reason"] == "merging of entries disabled"
        assert game.model.requests == []

    def test_a_model_that_fails_or_talks_nonsense_changes_nothing(self, game, mira, tidy, note):
        note("Ann sails on the ship Kestrel.")
        note("Ann sails the ship Kestrel now.")
        game.model.add(ProviderUnavailable("gone"))
        assert tidy()["success"] is False
        game.model.add("They are the same, I think.")
        assert tidy()["compared"] == 0
        assert [entry["links"] for entry in entries(mira)] == [[], []]

    def test_what_changed_while_the_model_thought_stays(self, game, mira, ann, tidy, note):
        first = note("Ann sails on the ship Kestrel.")
        note("Ann sails the ship Kestrel now.")

        def meanwhile(request):
            mira.journal.update(first, pinned=True)
            return SAME

        game.model.add(meanwhile)
        assert tidy()["merged"] == 0
        assert len(entries(mira)) == 2

    def test_forgetting_somebody_takes_a_merged_entry_too(self, game, mira, ann, tidy, note):
        note("Ann sails on the ship Kestrel.")
        note("Ann sails the ship Kestrel now.")
        game.model.add(SAME)
        tidy()
        while forget_chunk(ann.dbref):
            pass
        assert entries(mira) == []
        assert mira.journal.archive.all() == []


# --- the pairs ------------------------------------------------------------------------------------


def entry(number, content="Ann hums.", **fields):
    at = f"2026-01-01T00:00:{number:02}+00:00"
    own = {"timestamp": at, "source_entity": "#5", "speakers": ["#5"], **fields}
    return make_entry(f"j{number}", content, at, own)


def test_what_is_kept_made_or_cited_is_in_no_pair():
    kept = [
        entry(1, pinned=True),
        entry(2, importance=9),
        entry(3, source_type="reflection"),
        entry(4),
        entry(5),
        entry(6),
    ]
    assert [[e["id"] for e in group] for group in grouped(kept, {"j4"})] == [["j5", "j6"]]


def test_each_entry_is_compared_with_few_older_ones():
    group = [entry(n, f"Ann hums song {n}.") for n in range(1, 9)]
    pairs = [pair for _nearness, pair in candidates(group, lambda _text, them: [0.9] * len(them))]
    assert max(sum(p.newer["id"] == e["id"] for p in pairs) for e in group) == NEAREST
    assert all(pair.older["timestamp"] < pair.newer["timestamp"] for pair in pairs)
    assert candidates(group, lambda _text, them: np.full(len(them), 0.2)) == []
    assert candidates(group, lambda _text, _them: []) == []


@pytest.mark.parametrize(
    ("reply", "judged"),
    [
        ('{"1": "same", "2": "different"}', {0: True, 1: False}),
        ('Well:\n```json\n{"1": "different"}\n```', {0: False}),
        ('{"1": "maybe", "2": true, "3": "same"}', {}),
        ("<think>{}</think>", {}),
        ("[1, 2]", {}),
        ("{" * 50_000, {}),
    ],
)
def test_only_a_clear_judgement_counts(reply, judged):
    assert read_judgement(reply, 2) == judged

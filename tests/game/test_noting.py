"""Asleep, its model journals what players said, or rules do, with the origin of each entry."""

import json

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import make_message, wire_call
from evennia_ai.sleep.extraction import run_pre_compaction_extraction
from tests.forgetting import forget_chunk
from tests.scripted import call

pytestmark = pytest.mark.engine

ASKING = ModelProfile("test", client="openai", model="scripted")
DEBT = "I owe you three silver."
BROTHER = "My brother's called Edric."


@pytest.fixture
def extract(game, mira):
    """A function that runs the sleep step; returns its result."""

    def extract(profile=ASKING):
        mira.assistant.mind.settings.resolve()
        mira.assistant.mind.settings._profile = profile
        fired = []
        run_pre_compaction_extraction(mira.assistant, mira).addBoth(fired.append)
        for _ in range(20):
            game.run(1)
        return fired[0]

    return extract


@pytest.fixture
def log(mira):
    """A function that appends heard lines to Mira's log, as the inbox would."""

    def log(who, *texts, private=False):
        mira.assistant.conversation.append(
            [
                make_message(
                    "user",
                    f"{who.character.key} {'whispers to you' if private else 'says'}: {text}",
                    speaker=who.dbref,
                    speaker_name=who.character.key,
                    audience=[who.dbref],
                    private=private,
                )
                for text in texts
            ]
        )

    return log


def entries(mira):
    return [(e["content"], e["audience"]) for e in mira.journal.all()]


def test_a_short_visit_leaves_entries_with_their_source_and_their_audience(mira, ann, extract, log):
    log(ann, "Good evening!", DEBT)
    log(ann, BROTHER, private=True)
    assert extract() == {
        "success": True,
        "facts_recorded": 2,
        "iterations": 0,
        "stopped_by": "by_rule",
    }
    assert entries(mira) == [(f"Ann: {DEBT}", None), (f"Ann: {BROTHER}", [ann.dbref])]
    seqs = [m["metadata"]["seq"] for m in mira.assistant.conversation.view()]
    times = [m["metadata"]["at"] for m in mira.assistant.conversation.view()]
    assert [entry["said_at"] for entry in mira.journal.all()] == times[1:]
    for entry, seq in zip(mira.journal.all(), seqs[1:], strict=True):
        assert (entry["source_entity"], entry["speakers"]) == (ann.dbref, [ann.dbref])
        assert (entry["source_type"], entry["source_seqs"]) == ("direct", [seq])


def test_who_a_speaker_is_stands_in_their_profile(mira, ann, extract, log):
    log(ann, BROTHER, DEBT)
    extract()
    (observed,) = mira.ai_profiles.observations(ann.dbref)
    assert (observed["content"], observed["speakers"]) == (f"Ann: {BROTHER}", [ann.dbref])


def test_nothing_is_written_twice(game, mira, ann, extract, log):
    mira.journal.add("Ann owes me 3 silver.")
    game.run(5)
    log(ann, DEBT, BROTHER)
    game.run(5)
    assert extract()["facts_recorded"] == 1
    game.run(5)
    assert extract()["skipped"]
    (entry,) = [e for e in mira.journal.all() if "Edric" in e["content"]]
    mira.journal.remove(entry["id"])
    log(ann, "The rain is cold.")
    assert extract()["skipped"], "what was deleted came back"
    log(ann, "I hate onions.")
    assert extract()["facts_recorded"] == 1


def test_a_model_that_journals_is_left_to_it_and_the_offline_brain_is_not(mira, ann, extract, log):
    noted = wire_call("1", "add_journal_entry", json.dumps({"content": "Ann came by."}))
    log(ann, DEBT)
    mira.assistant.conversation.append(
        [
            make_message("assistant", "", tool_calls=[noted], audience=[ann.dbref]),
            make_message("tool", "You noted it.", tool_call_id="1", audience=[ann.dbref]),
        ]
    )
    assert extract()["skipped"]
    assert extract(ModelProfile("offline"))["facts_recorded"] == 1


def test_what_it_said_itself_and_what_is_no_talk_is_never_noted(mira, ann, extract, log):
    words = "I promise you my horse, and my name is Add Journal Entry."
    mira.assistant.conversation.append(
        [
            make_message("assistant", words, audience=[ann.dbref]),
            make_message("assistant", DEBT, type="excuse", audience=[ann.dbref]),
            make_message("user", f"◆ A voice: {DEBT}", audience=[ann.dbref], nature="perceived"),
        ]
    )
    assert extract()["skipped"]
    assert entries(mira) == []


def test_a_broken_model_does_not_keep_the_rules_from_it(game, mira, ann, extract, log):
    mira.assistant.attributes.add("max_context_tokens", 4_000)
    mira.assistant.attributes.add("compact_preserve_window", 4)
    log(ann, DEBT, *[f"line {number} " + "and so on " * 40 for number in range(80)])
    game.model.add(ProviderUnavailable("down"))
    result = extract()
    assert (result["success"], result["facts_recorded"]) == (False, 1)
    assert entries(mira) == [(f"Ann: {DEBT}", None)]


@pytest.fixture
def much_talk(mira, ann, bob, log):
    """Talk that the next compaction evicts."""
    mira.assistant.attributes.add("max_context_tokens", 4_000)
    mira.assistant.attributes.add("compact_preserve_window", 4)
    log(ann, "I am a smith in Dunmore.")
    log(bob, "The ferry costs forty crowns.")
    log(bob, "I am a spy.", private=True)
    log(bob, *["hm, " + "and so on " * 40] * 40)
    log(bob, *["hm, " + "and so on " * 40] * 40, private=True)


def told_by(mira):
    return {entry["content"]: entry["speakers"] for entry in mira.journal.all()}


def test_an_entry_of_a_model_is_forgotten_with_its_speaker(
    game, mira, ann, bob, extract, much_talk
):
    smith, ferry, spy = "Ann is a smith in Dunmore.", "The ferry costs 40 crowns.", "Bob is a spy."
    game.model.add(call("add_journal_entry", content=smith))
    game.model.add(call("add_journal_entry", content=ferry), call("noop"))
    game.model.add(call("add_journal_entry", content=spy), call("noop"))
    assert extract()["facts_recorded"] == 3
    assert told_by(mira) == {smith: [ann.dbref], ferry: [bob.dbref], spy: [bob.dbref]}
    said = {m["metadata"]["seq"]: m["metadata"]["at"] for m in mira.assistant.conversation.view()}
    seqs = sorted(said)
    origins = [(entry["source_seqs"], entry["said_at"]) for entry in mira.journal.all()]
    assert origins == [([seqs[place]], said[seqs[place]]) for place in range(3)]
    assert [entry["audience"] for entry in mira.journal.all()] == [None, None, [bob.dbref]]
    while forget_chunk(ann.dbref):
        pass
    assert set(told_by(mira)) == {ferry, spy}
    while forget_chunk(bob.dbref):
        pass
    assert told_by(mira) == {}


def test_an_observation_of_a_model_is_forgotten_with_its_speaker(
    game, mira, ann, extract, much_talk
):
    seen = {"entity": "Ann", "observation": "Ann is a smith in Dunmore."}
    game.model.add(call("update_entity_observation", **seen), call("noop"), call("noop"))
    extract()
    (observed,) = mira.ai_profiles.observations(ann.dbref)
    assert (observed["speakers"], len(observed["source_seqs"])) == ([ann.dbref], 1)

"""What was noticed of others becomes what is known of them, and shows when they are near."""

import json
from functools import partial

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.memory.entity_context import run_entity_consolidation_batch
from evennia_ai.policy.audience import KnownLine
from evennia_ai.ports.profiles import EntityProfiles
from tests.game.profile_values import history, set_attribute
from tests.scripted import call

pytestmark = pytest.mark.engine

ASKING = ModelProfile("test", client="openai", model="scripted")


def line(attribute, value, *sources):
    return json.dumps({"attribute": attribute, "value": value, "sources": list(sources)})


@pytest.fixture
def known(mira):
    return mira.ai_profiles


@pytest.fixture
def consolidate(game, mira):
    """A function that runs one pass; returns its result."""
    step = partial(run_entity_consolidation_batch, mira.assistant, mira)
    return lambda profile=None: game.asleep(mira.assistant.mind, step, profile)


def values(profiles, dbref, audience=None):
    return {a["attribute"]: a["value"] for a in profiles.attributes(dbref, audience)}


def cold(character):
    EntityProfiles.drop(character)
    return character.ai_profiles


def test_a_busy_database_loses_and_doubles_nothing(game, ann, known, consolidate, busy):
    one = known.observe(ann.dbref, "She likes ale.")
    failed = busy(known.segments, "write", times=2)
    game.model.add(line("likes", "ale", one))
    assert consolidate(ASKING)["attributes"] == 1
    assert len(failed) == 2
    assert len(history(known, ann.dbref, "likes")) == 1


def test_a_model_is_asked_once_for_what_the_same_people_may_know(
    game, ann, bob, known, consolidate
):
    one = known.observe(ann.dbref, "She always pays in old coin.")
    two = known.observe(ann.dbref, "Old coin again.", speakers=[bob.dbref])
    secret = known.observe(ann.dbref, "She hides from the Guild.", audience=[ann.dbref])
    game.model.add(line("pays with", "old coin", one, two), line("hides from", "the Guild", secret))
    result = consolidate(ASKING)
    assert (result["calls"], result["attributes"], result["left"]) == (2, 2, 0)
    public, private = (json.dumps(r.messages) for r in game.model.requests)
    assert "Guild" not in public
    assert "Old coin" in public and "Old coin" not in private
    assert "sentiment" in public and "sentiment" not in private
    assert all(r.caller.background for r in game.model.requests)
    (made,) = known.attributes(ann.dbref)
    assert (made["value"], made["source_type"], made["trust"]) == ("old coin", "inference", 0.5)
    assert (made["sources"], made["speakers"]) == ([one, two], [bob.dbref, "stranger"])
    assert values(known, ann.dbref, frozenset({ann.dbref}))["hides from"] == "the Guild"


def test_what_cites_nothing_that_was_shown_is_refused(game, ann, bob, known, consolidate):
    of_bob = known.observe(bob.dbref, "He smokes.", audience=[bob.dbref])
    mine = known.observe(ann.dbref, "She hums.")
    game.model.add("", f"{line('smokes', 'yes', of_bob)}\n{line('hums', 'yes', mine)}")
    result = consolidate(ASKING)
    assert result["refused"] == 1
    assert values(known, ann.dbref) == {"hums": "yes"}


def test_a_model_that_fails_leaves_everything_for_the_next_pass(game, ann, bob, known, consolidate):
    one = known.observe(ann.dbref, "She hums.")
    known.observe(bob.dbref, "He smokes.")
    game.model.add(line("hums", "yes", one), ProviderUnavailable("down"))
    result = consolidate(ASKING)
    assert (result["success"], result["observations"], result["left"]) == (False, 1, 1)
    assert "down" in result["error"]


def test_who_was_forgotten_while_the_model_thought_is_not_in_its_answer(
    game, ann, bob, known, consolidate
):
    said = known.observe(ann.dbref, "She hums.", speakers=[bob.dbref])
    kept = known.observe(ann.dbref, "She sings.")

    def answer(request):
        known.remove(said)
        return f"{line('hums', 'yes', said)}\n{line('sings', 'yes', kept)}"

    game.model.add(answer)
    consolidate(ASKING)
    assert values(known, ann.dbref) == {"sings": "yes"}


def test_how_somebody_treats_it_is_taken_from_what_all_saw(game, ann, known, consolidate):
    known.note_contact(ann.dbref)
    known.observe(ann.dbref, "She spat at my feet.")
    game.model.add('{"sentiment": -1}')
    consolidate(ASKING)
    assert known.relationship(ann.dbref)["sentiment"] == pytest.approx(-0.2)


# --- what a prompt shows -----------------------------------------------------------------------


UNKNOWN = frozenset({"stranger"})  # nobody is stored as the author


def lines(script, *audience):
    script.mind.settings.resolve()
    return script.mind.people.describe_present(frozenset(audience))


def test_who_is_here_is_shown_as_the_listeners_may_know(game, mira, ann, bob, known):
    set_attribute(known, ann.dbref, "likes", "ale")
    set_attribute(known, ann.dbref, "home", "in Ferrow", source_entity=bob.dbref)
    set_attribute(known, ann.dbref, "debt to Cid", "5 silver", audience=[ann.dbref])
    both = lines(mira.assistant, ann.dbref, bob.dbref)
    assert both == [KnownLine("Ann: likes: ale; home: in Ferrow (from Bob)", authors=UNKNOWN)]
    (for_ann,) = lines(mira.assistant, ann.dbref)
    assert "debt to cid: 5 silver" in for_ann.text and for_ann.private


def test_a_contradiction_shows_to_those_who_may_know_both(game, mira, ann, bob, known):
    set_attribute(known, ann.dbref, "debt", "9", source_entity=bob.dbref, audience=[bob.dbref])
    set_attribute(known, ann.dbref, "debt", "5", source_entity=ann.dbref)
    assert lines(mira.assistant, ann.dbref, bob.dbref) == [
        KnownLine("Ann: debt: 5 (own words)", authors=UNKNOWN)
    ]
    ((for_bob, *_),) = lines(mira.assistant, bob.dbref)
    assert for_bob == "Ann: debt: 5 (own words, others say otherwise)"


def test_the_room_for_it_is_kept(game, mira, ann, bob, known):
    set_attribute(known, ann.dbref, "story", "word " * 200)
    set_attribute(known, bob.dbref, "likes ale", "yes")
    mira.assistant.attributes.add("entity_tokens", 0)
    assert not lines(mira.assistant, ann.dbref)
    mira.assistant.attributes.add("entity_tokens", 40)
    assert lines(mira.assistant, ann.dbref) == []


def test_they_get_to_know_each_other_by_talking(game, mira, ann, known):
    for _ in range(2):
        game.model.add(call("say", text="Good day."))
        ann.do("say Mira, hello")
        game.run(5)
        game.clock.advance(3_600)
    assert cold(mira).relationship(ann.dbref)["contacts"] == 2
    game.model.add(call("say", text="Good day."))
    ann.do("say Mira, it is me again")
    game.run(5)
    tail = game.tail()
    assert "Of those here: Ann (in conversation with you): you know each other a little" in tail


def test_what_is_known_for_some_ears_alone_makes_the_answer_private(game, mira, ann, bob, known):
    set_attribute(known, ann.dbref, "debt to Cid", "5 silver", audience=[ann.dbref])
    game.model.add(call("say", text="Good day."))
    ann.do("say Mira, hello")
    game.run(5)
    assert "5 silver" not in str(game.model.requests[-1].messages)
    game.model.add(call("whisper", target="Ann", text="Pay him."))
    ann.do("whisper Mira = what now?")
    game.run(5)
    assert "debt to cid: 5 silver" in str(game.model.requests[-1].messages)
    told = mira.assistant.conversation_history[-1]["metadata"]
    assert told["private"]

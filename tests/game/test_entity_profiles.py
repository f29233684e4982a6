"""What a character knows of others, on the character."""

import pytest

from evennia_ai.ports.profiles import EntityProfiles

ANN, BOB, CID = "#1005", "#1007", "#1009"


@pytest.fixture
def known(mira):
    return mira.ai_profiles


def cold(character):
    """The profiles as a new process finds them."""
    EntityProfiles.drop(character)
    return character.ai_profiles


def test_an_observation_is_kept_once(mira, known):
    made = known.observe(ANN, "She limps.", source_seqs=[3])
    assert known.observe(ANN, "she limps", source_seqs=[9]) == made
    assert known.observe(BOB, "She limps.") != made
    assert known.observe(ANN, "She limps.", audience=[BOB]) != made
    assert cold(mira).get(made)["source_seqs"] == [3, 9]


def test_an_observation_is_told_to_those_who_may_know_it(known):
    known.observe(ANN, "She is a spy.", audience=[BOB])
    assert known.observations(ANN, frozenset({BOB}))
    assert not known.observations(ANN, frozenset({BOB, CID}))
    assert not known.observations(ANN)


def test_they_come_to_know_each_other(game, mira, known):
    assert known.relationship(ANN)["contacts"] == 0
    known.note_contact(ANN)
    game.clock.advance(3_600)
    known.note_contact(ANN)
    after = cold(mira).relationship(ANN)
    assert after["contacts"] == 2
    assert len([r for r in known.all() if r["kind"] == "relationship"]) == 1


@pytest.fixture
def notice(use):
    tool = "update_entity_observation"
    return lambda entity, observation: use(tool, entity=entity, observation=observation)


def test_the_tool_knows_people_things_and_places_by_what_they_are_called(
    game, mira, ann, tavern, notice
):
    mug = game.thing("mug", tavern)
    told = notice("ann", "She limps.")
    assert (told.state, told.text) == ("done", "You will keep that in mind about Ann.")
    assert notice("mug", "It is cracked.").state == "done"
    assert notice("Tavern", "It is warm.").state == "done"
    assert set(mira.ai_profiles.entities()) == {ann.dbref, mug.dbref, tavern.dbref}
    (seen,) = mira.ai_profiles.observations(ann.dbref)
    assert (seen["content"], seen["source_entity"]) == ("She limps.", ann.dbref)


def test_of_two_of_one_name_the_one_who_speaks_is_meant(game, mira, ann, bob, tavern, notice):
    other = game.player("Anna", tavern)
    other.character.key = "Ann"
    assert notice("Ann", "She limps.").state == "done"
    assert mira.ai_profiles.observations(ann.dbref)
    assert not mira.ai_profiles.observations(other.dbref)
    ann.character.key, bob.character.key = "Zoe", "Ann"
    result = notice("Ann", "He smokes.")
    assert (result.state, result.text) == (
        "failed",
        "Several people here are called 'Ann': who is meant?",
    )

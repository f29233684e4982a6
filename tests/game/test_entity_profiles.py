"""What a character knows of others, on the character."""

import pytest

ANN, BOB, CID = "#1005", "#1007", "#1009"


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

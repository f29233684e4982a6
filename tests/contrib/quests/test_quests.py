"""Quest flags: a character sets those that a builder listed, for what really happened."""

import pytest

from evennia_ai.contrib.quests import check_quests, set_quest
from evennia_ai.testing.tools import try_tool
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


def flags(player):
    return player.character.tags.get(category="quest", return_list=True)


def sets(mira, player, flag):
    return try_tool(set_quest, mira, player.character, flag=flag)


def test_only_flags_that_a_builder_listed_are_set_and_only_on_the_speaker(mira, ann, bob):
    mira.db.ai_quests = ["met_mira", "fed_cat"]
    assert sets(mira, ann, "Met_Mira").text == "Ann has met_mira now."
    assert "There are: met_mira, fed_cat." in sets(mira, ann, "king").text
    assert sets(mira, ann, "met_mira").text == "They have that flag already."
    told = try_tool(check_quests, mira, ann.character).text
    assert told == "Ann has met_mira: yes, fed_cat: no."
    assert (flags(ann), flags(bob)) == (["met_mira"], [])


def test_a_flag_with_a_condition_is_set_for_what_really_happened(game, mira, ann):
    mira.db.ai_quests = {"key_returned": "give golden key"}
    game.thing("golden key", ann.character)
    game.model.add(call("noop"), call("noop"))
    ann.do("pose gives Mira a golden key.")
    assert sets(mira, ann, "key_returned").text == "You did not see them do that."
    ann.do("give golden key to Mira")
    game.run(1)
    assert sets(mira, ann, "key_returned").state == "done"
    assert flags(ann) == ["key_returned"]


def test_a_list_that_cannot_be_used_lists_nothing(mira, ann):
    mira.db.ai_quests = 7
    assert sets(mira, ann, "7").state == "failed"
    assert flags(ann) == []

"""Builders see and set what a character is after."""

import pytest
from evennia.utils import logger

pytestmark = pytest.mark.game

STATE = ("done", "drop", "undo")


def test_a_goal_is_given_shown_ended_and_taken_up_again(builder, mira):
    assert "has no goals" in builder.told("aigoals Mira")
    told = builder.told("aigoals/add Mira = Find out who waters the ale: 8")
    assert "g1 Find out who waters the ale (weight 8, 0%, a builder's)" in told
    builder.told("aigoals/add Mira = Ask the brewer. : 5 : g1")
    assert builder.told("aigoals Mira").splitlines()[1].startswith("  g2 Ask the brewer.")
    assert "g1 is done with 1 open steps" in builder.told("aigoals/done Mira = 1")
    assert "done already" in builder.told("aigoals/drop Mira = g1")
    assert [goal["state"] for goal in mira.ai_goals.all()] == ["done", "done"]
    assert "Open again: g1" in builder.told("aigoals/undo Mira = g1")
    assert [goal["state"] for goal in mira.ai_goals.all()] == ["open", "open"]
    assert "g1 is open already" in builder.told("aigoals/undo Mira = g1")
    assert "g2 is dropped." in builder.told("aigoals/drop Mira = brewer")


def test_confided_goals_are_for_admins_to_read(builder, admin, ann, mira):
    mira.ai_goals.add("Hide the ring.", audience=[ann.dbref])
    told = builder.told("aigoals Mira")
    assert "1 more: private" in told
    assert "ring" not in told
    assert "There is no goal" in builder.told("aigoals/drop Mira = g1")
    assert "known to Ann alone" in admin.told("aigoals Mira")


@pytest.mark.parametrize("line", ["add Mira = Sing.", *(f"{how} Mira = g1" for how in STATE)])
def test_only_who_may_edit_the_character_changes_its_goals(game, tavern, mira, line):
    mira.ai_goals.add("Dance.")
    other = game.player("Bo", tavern, permissions=["Builder"])
    assert "You may not change Mira: its edit and control locks" in other.told(f"aigoals/{line}")
    assert [goal["state"] for goal in mira.ai_goals.all()] == ["open"]
    assert "Dance." in other.told("aigoals Mira")


WRONG = """\
aigoals | Which character?
aigoals/add Mira | Which goal?
aigoals/add Mira = : 5 | This goal cannot be stored
aigoals/add Mira = Sing : 99 | This goal cannot be stored
aigoals/add Mira = Sing : 5 : g7 | There is no goal 'g7'
aigoals/done Mira = g7 | There is no goal 'g7'
aigoals/add/done Mira = g7 | Use one switch
""".splitlines()


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_done_is_told_in_a_sentence_and_changes_nothing(admin, mira, line):
    typed, _, answer = line.partition(" | ")
    assert answer in " ".join(admin.told(typed).split())
    assert mira.ai_goals.all() == []


def test_reading_a_confided_goal_is_logged(admin, ann, mira, monkeypatch):
    mira.ai_goals.add("Hide the ring.", audience=[ann.dbref])
    logged = []
    monkeypatch.setattr(logger, "log_sec", logged.append)
    admin.told("aigoals Mira")
    (line,) = logged
    assert line.startswith("aigoals: ") and "read 1 private items of Mira" in line

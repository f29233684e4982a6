"""What an assistant is after stands in its prompts, for those who may know of it."""

import pytest

from evennia_ai.ports.goal_records import Goals
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


def use(game, speaker, tool, line="say Mira, a word", **arguments):
    """Have Mira use a tool at somebody's word; returns what she was told."""
    game.model.add(call(tool, **arguments), call("noop"))
    speaker.do(line)
    game.run(1)
    return str(game.model.requests[-1].messages)


def ask(game, speaker, line="say Mira, hello"):
    game.model.add(call("noop"))
    speaker.do(line)
    game.run(1)
    return game.tail()


def states(mira):
    Goals.drop(mira)
    return {goal["content"]: goal["state"] for goal in mira.ai_goals.all()}


def test_what_it_sets_itself_stands_in_every_prompt_from_then_on(game, ann, mira):
    use(game, ann, "set_goal", goal="Find the thief.", why="Ann begged", importance=7)
    assert "You are after: Find the thief (Ann begged) [g1]" in ask(game, ann)
    (goal,) = mira.ai_goals.all()
    assert (goal["origin"], goal["audience"]) == ("self", None)
    assert goal["speakers"] == [ann.dbref, "builder"]


def test_a_goal_of_a_whisper_is_for_its_parties_alone(game, ann, bob, mira):
    use(game, ann, "set_goal", "whisper Mira = help me", goal="Hide Ann's ring.")
    assert "Ann's ring" not in ask(game, bob)
    assert "Ann's ring" not in ask(game, ann)
    assert "Ann's ring" in ask(game, ann, "whisper Mira = hello")


def test_a_step_towards_a_confidence_is_one(game, ann, bob, mira):
    secret = mira.ai_goals.add("Hide Ann's ring.", audience=[ann.dbref], speakers=[ann.dbref])
    use(game, ann, "set_goal", "whisper Mira = go on", goal="Buy a box.", part_of="ring")
    step = mira.ai_goals.all()[1]
    assert (step["parent"], step["audience"]) == (secret, [ann.dbref])
    assert "box" not in ask(game, bob)


def test_nobody_else_can_name_a_confided_goal(game, ann, bob, mira):
    mira.ai_goals.add("Hide Ann's ring.", audience=[ann.dbref])
    told = use(game, bob, "update_goal", goal="g1", state="dropped")
    assert "You have no goal 'g1'. There are: none." in told
    assert states(mira) == {"Hide Ann's ring.": "open"}


def test_what_is_confided_changes_no_goal_that_others_see(game, ann, mira):
    mira.ai_goals.add("Find the thief.")
    told = use(game, ann, "update_goal", "whisper Mira = it was Bob", goal="g1", progress=90)
    assert "Others know of that goal" in told
    assert mira.ai_goals.get("g1")["progress"] == 0
    mira.assistant.attributes.add("whisper_policy", "trusting")
    use(game, ann, "update_goal", "whisper Mira = it was Bob", goal="g1", progress=90)
    assert mira.ai_goals.get("g1")["progress"] == 0, "the prompt holds the older whisper"


def test_progress_and_ends_are_stored_and_what_is_done_leaves_the_prompt(game, ann, mira):
    mira.ai_goals.add("Find the thief.")
    mira.ai_goals.add("Sell the ring.")
    use(game, ann, "update_goal", goal="thief", progress=40)
    assert "[g1, 40% done]" in ask(game, ann)
    use(game, ann, "update_goal", goal="thief", state="done")
    use(game, ann, "update_goal", goal="g2", state="dropped")
    assert states(mira) == {"Find the thief.": "done", "Sell the ring.": "dropped"}
    assert "You are after" not in ask(game, ann)

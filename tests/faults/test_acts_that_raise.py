"""A tool that raises after its effect: the act is not repeated, whatever the model asks (P2)."""

import pytest
from evennia.utils.create import create_object

from evennia_ai.errors import ToolError
from evennia_ai.models import ToolCall
from evennia_ai.tools import NothingDone
from tests.faults.broken_tools import add_tool
from tests.faults.seen import ends, seems_sane, spoken_by
from tests.scripted import call

pytestmark = pytest.mark.game


def pour_mug(error):
    """Return a tool that makes a mug before it raises."""

    def pour(context):
        create_object(
            "evennia.objects.objects.DefaultObject", key="mug", location=context.character
        )
        raise error

    return pour


@pytest.mark.parametrize("error", [RuntimeError("no tap"), ToolError("The tap broke off.")])
@pytest.mark.parametrize("category", ["free", "once"])
def test_a_mug_is_given_once_though_its_tool_raises_after_it(game, ann, mira, error, category):
    add_tool(game, pour_mug(error), "pour", category=category)
    game.model.add(call("pour"), call("pour"), call("say", text="There."))
    ann.do("say a mug, please")
    game.run()
    assert [thing.key for thing in mira.contents] == ["mug"]
    first = ToolCall.objects.filter(name="pour").order_by("id").first()
    assert first.state == "unknown"
    assert "do not do it again" in first.result
    assert ann.last() == 'Mira says, "There."'
    assert ends() == {"a mug, please": "answered"}
    assert seems_sane(ann)


def test_a_tool_that_says_it_did_nothing_may_be_tried_again(game, ann, mira):
    tried = []

    def pour(context):
        tried.append(True)
        if len(tried) == 1:
            raise NothingDone("The barrel is empty.")
        return "You pour a mug."

    add_tool(game, pour, "pour", category="once")
    game.model.add(call("pour"), call("look"), call("pour", really="yes"), call("say", text="Now."))
    ann.do("say a mug, please")
    game.run()
    states = list(ToolCall.objects.filter(name="pour").values_list("state", flat=True))
    assert states == ["failed", "done"]
    assert ann.last() == 'Mira says, "Now."'


def test_an_answer_that_raises_after_it_was_heard_is_heard_once(game, ann, bob, mira, monkeypatch):
    speak = type(mira).at_say

    def heard_and_raised(self, *args, **kwargs):
        speak(self, *args, **kwargs)
        raise RuntimeError("a logger of the game")

    monkeypatch.setattr(type(mira), "at_say", heard_and_raised)
    game.model.add(*[call("say", text="It is three crowns.")] * 9)
    ann.do("say Mira, what does it cost?")
    game.run(30)
    assert spoken_by("Mira says", bob).count('Mira says, "It is three crowns."') == 1
    assert len(game.model.requests) == 1
    assert len(spoken_by("Mira says", bob)) <= 2  # the answer and one excuse
    assert ends()["Mira, what does it cost?"] in ("excused", "expired")
    monkeypatch.undo()
    ann.do("say Mira, and now?")
    game.run(10)
    assert ends()["Mira, and now?"] == "answered"


def test_a_thing_that_moved_although_a_hook_of_the_game_failed_counts_as_given(
    game, ann, mira, monkeypatch
):
    mug = game.thing("mug", mira)

    def broken(self, *args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr(type(mug), "at_post_move", broken)
    game.model.add(call("give", item="mug", to="Ann"), call("say", text="Here."))
    ann.do("say the mug, please")
    game.run()
    assert mug.location is ann.character
    assert ToolCall.objects.get(name="give").state in ("done", "unknown")

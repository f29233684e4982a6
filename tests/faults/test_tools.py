"""Faults of tools and hooks, numbered as on the list they come from."""

import pytest
from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks

from evennia_ai.models import ToolCall, Turn
from evennia_ai.turn.tool_executor import IN_DOUBT, WRONG
from tests.faults.broken_tools import add_tool
from tests.faults.seen import ends, seems_sane, spoken_by
from tests.scripted import call

pytestmark = pytest.mark.game


def breaks(context):
    raise RuntimeError("sk-secret: no such bell")


def test_29_a_tool_that_raises_goes_back_to_the_model_as_a_sentence(game, ann, mira, logged):
    add_tool(game, breaks)
    game.model.add(call("ring"), call("say", text="The bell is broken."))
    ann.do("say ring, please")
    game.run()
    assert ann.last() == 'Mira says, "The bell is broken."'
    assert ends() == {"ring, please": "answered"}
    failed = ToolCall.objects.get(name="ring")
    assert failed.state == "unknown"
    assert failed.result == f"{WRONG} {IN_DOUBT}"
    assert "sk-secret" not in str(game.model.requests[-1].messages)
    assert [line for line in logged if "tool ring failed" in line]
    assert seems_sane(ann)


@pytest.mark.parametrize("hook", ["at_ai_pre_act", "at_ai_say", "at_pre_say", "at_say"])
def test_29_a_hook_of_the_game_that_raises_ends_in_a_line_all_the_same(
    game, ann, mira, monkeypatch, hook
):
    def broken(self, *args, **kwargs):
        raise RuntimeError(hook)

    game.model.add(*[call("say", text="Hello.") for _ in range(10)])
    monkeypatch.setattr(type(mira), hook, broken)
    ann.do("say hi")
    game.run(30)
    assert seems_sane(ann)
    assert ends()["hi"] in ("excused", "expired")
    monkeypatch.undo()
    game.model.script[:] = [call("say", text="Well again.")]
    ann.do("say and now?")
    game.run(10)
    assert ann.last() == 'Mira says, "Well again."'


def test_29_a_situation_hook_that_raises_costs_no_player_the_answer(game, ann, mira, monkeypatch):
    def broken(self, situation):
        raise RuntimeError

    monkeypatch.setattr(type(mira), "at_ai_situation", broken)
    game.model.add(call("say", text="Hello."))
    ann.do("say hi")
    game.run(1)
    assert spoken_by("Mira", ann) == [ann.last()]
    assert ends()["hi"] == "excused"


def test_30_a_tool_that_hangs_leaves_the_model_time_for_a_word(game, ann, mira):
    add_tool(game, lambda context: Deferred())
    game.model.add(call("ring"), call("say", text="Enough."))
    ann.do("say hi")
    game.run(17.1)
    assert ann.last() == 'Mira says, "Enough."'
    assert ends() == {"hi": "answered"}


def test_30_where_the_model_hangs_too_the_line_comes_within_a_second_of_the_deadline(
    game, ann, mira
):
    add_tool(game, lambda context: Deferred())
    game.model.add(call("ring"), Deferred())
    ann.do("say hi")
    game.run(17.1)
    assert len(game.model.requests) == 2
    game.run(3.9)
    assert "my thoughts wandered" in ann.last() or ends() == {"hi": "answered"}
    assert not Turn.objects.filter(ended_at=None)
    assert seems_sane(ann)


def test_30_many_tools_that_hang_do_not_add_up_beyond_the_deadline(game, ann, mira):
    for number in range(8):
        add_tool(game, lambda context: Deferred(), f"ring_{number}")
    game.model.add([call(f"ring_{number}") for number in range(8)], Deferred())
    ann.do("say hi")
    for _ in range(42):
        game.run(0.5)
    assert (turn := Turn.objects.get()).ended_at
    assert (turn.ended_at - turn.at).total_seconds() <= 21


def test_30_a_tool_that_will_not_be_cancelled_is_left_behind(game, ann, mira):
    @inlineCallbacks
    def stubborn(context):
        while True:
            try:
                yield Deferred()
            except CancelledError:
                continue

    add_tool(game, stubborn)
    game.model.add(call("ring"), call("say", text="Enough."), call("say", text="Yes?"))
    ann.do("say hi")
    game.run(17.1)
    assert ann.last() == 'Mira says, "Enough."'
    ann.do("say Mira?")
    game.run(1)
    assert ann.last() == 'Mira says, "Yes?"'

"""The clock jumps: fault 45 of the list."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.models import Event
from tests.faults.process_scene import pass_time
from tests.faults.seen import ends
from tests.scripted import call

StandIn = pytest.importorskip(
    "evennia_ai.contrib.stand_in", reason="the stand-in is left out"
).StandIn

pytestmark = pytest.mark.game


DAY_S = 86_400


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_when_the_clock_jumps_there_is_no_burst_and_talk_goes_on(
    game, ann, mira, jump, monkeypatch
):
    ticks = []
    real = AssistantScript.at_tick
    monkeypatch.setattr(
        AssistantScript, "at_tick", lambda self: ticks.append(game.clock.seconds()) or real(self)
    )
    game.model.add(call("say", text="One."), call("say", text="Two."), call("say", text="Three."))
    ann.do("say Mira, one")
    pass_time(game, 12)
    ticks.clear()
    game.clock.rightNow += jump
    game.run()
    assert len(ticks) <= 1
    ann.do("say Mira, two")
    game.run(1)
    assert ann.last() == 'Mira says, "Two."'
    pass_time(game, 60)
    assert 10 <= len(ticks) <= 16
    ann.do("say Mira, three")
    game.run(1)
    assert ann.last() == 'Mira says, "Three."'
    assert set(ends().values()) == {"answered"}


def test_45_what_grew_too_old_is_told_to_whoever_waits(game, ann, mira):
    late = Deferred()
    game.model.add(late)
    ann.do("say Mira, one")
    game.run(1)
    ann.do("say Mira, two")
    game.clock.rightNow += 400
    game.run(1)
    assert ends()["Mira, one"] == "excused"
    two = Event.objects.get(text="Mira, two")
    assert (two.state, two.reason) == ("expired", "too old to answer")
    assert "(Mira did not catch that. Please say it again.)" in ann.heard()

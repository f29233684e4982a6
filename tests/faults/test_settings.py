"""Settings that change under way: fault 48 of the list."""

import pytest
from twisted.internet.defer import Deferred

from tests.faults.seen import ends, seems_sane, tracebacks
from tests.scripted import call

pytestmark = pytest.mark.game


def test_48_a_model_swapped_in_mid_turn_is_asked_from_the_next_call_on(game, ann, mira, logged):
    script = mira.assistant
    asked = []
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    game.service.profiles["two"] = {"client": "openai", "model": "second"}
    script.attributes.add("profile", "one")
    real = game.model.complete

    def complete(request, profile, deadline_at=None):
        asked.append(profile.model)
        return real(request, profile)

    game.model.complete = complete
    late = Deferred()
    game.model.add(late, call("say", text="Here."), call("say", text="Again."))
    ann.do("say hi")
    game.run(1)
    script.attributes.add("profile", "two")
    script.mind.settings.resolve()
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "Here."'
    ann.do("say Mira?")
    game.run(1)
    assert asked == ["first", "second", "second"]
    assert not tracebacks(logged)


@pytest.mark.parametrize("value", [None, {}, 7, {"PROFILES": 7, "TEXTS": 7, "TOOLS": 7}])
def test_48_the_game_s_settings_gone_in_mid_turn_stop_nobody(
    game, ann, mira, settings, logged, value
):
    late = Deferred()
    game.model.add(late, *[call("say", text="Here.")] * 5)
    ann.do("say hi")
    game.run(1)
    settings.AI_ASSISTANT = value
    mira.assistant.mind.settings.resolve()
    late.callback(call("look"))
    game.run(1)
    assert ann.last() == 'Mira says, "Here."'
    ann.do("say Mira?")
    game.run(1)
    assert ends()["Mira?"] == "answered"
    assert not tracebacks(logged)
    assert seems_sane(ann)

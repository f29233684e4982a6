"""Errors of a game's own code may quote what they were given: of private talk the log has none."""

import pytest

from evennia_ai.tools.base import NoArguments, tool
from tests.scripted import call

pytestmark = pytest.mark.engine
SECRET = "the silver lies in the well"


def breaks(*_, **__):
    raise KeyError(SECRET)


def breaking_tool(game, mira, monkeypatch):
    @tool("broken")
    def broken(context, arguments: NoArguments) -> str:
        """Break."""
        breaks()

    game.service.toolbox.add(broken)
    game.model.add(call("broken"), call("noop"))


def breaking_need(game, mira, monkeypatch):
    @tool("broken", needed=breaks)
    def broken(context, arguments: NoArguments) -> str:
        """Do nothing."""

    game.service.toolbox.add(broken)
    game.model.add(call("noop"))


def breaking_hook(game, mira, monkeypatch):
    monkeypatch.setattr(type(mira), "at_ai_hear", breaks)
    game.model.add(call("noop"))


def breaking_turn(game, mira, monkeypatch):
    monkeypatch.setattr(mira.assistant.mind.turn_runner._loop, "run", breaks)


@pytest.mark.parametrize("plan", [breaking_tool, breaking_need, breaking_hook, breaking_turn])
@pytest.mark.parametrize("way", ["whisper Mira = {}", "say Mira, {}"])
def test_the_log_quotes_no_error_of_private_talk(game, mira, ann, log, monkeypatch, plan, way):
    plan(game, mira, monkeypatch)
    ann.do(way.format(SECRET))
    game.run(2)
    told = "\n".join(log)
    assert "Traceback" in told and "KeyError" in told and "breaks" in told
    assert (SECRET in told) == way.startswith("say")

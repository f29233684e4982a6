"""A game attacks its own tools in a test and without effect."""

import pytest
from pydantic import BaseModel, Field

from evennia_ai.models import Message, ModelCall, ToolCall
from evennia_ai.testing.tools import attack_tools
from evennia_ai.tools import tool


class VaultArguments(BaseModel):
    note: str
    times: int = Field(ge=2, le=12)


OPENED = []


@tool("open_vault", lock="perm(Builder)")
def open_vault(context, arguments: VaultArguments) -> str:
    """Open the vault."""
    OPENED.append(arguments)
    return "It is open."


@pytest.fixture
def guard(game, tavern, settings):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "TOOLS": [__name__]}
    return create_object(DefaultCharacter, key="Guard", location=tavern)


def test_each_tool_is_tried_with_arguments_that_fit_and_none_runs(ann, guard):
    attempts = {attempt.tool: attempt for attempt in attack_tools(guard, ann.character)}
    assert attempts["open_vault"].arguments == {"note": "for me", "times": 2}
    assert "may not" in attempts["open_vault"].refused
    assert not attempts["look"].refused
    assert {"give", "add_journal_entry"} <= set(attempts)
    assert not OPENED
    assert ann.heard() == []
    assert not (Message.objects.exists() or ToolCall.objects.exists() or ModelCall.objects.exists())


def test_whoever_passes_the_lock_is_obeyed_if_the_arguments_fit(game, tavern, guard):
    bea = game.player("Bea", tavern, permissions=["Builder"])

    def refused(**arguments):
        attempts = attack_tools(guard, bea.character, **arguments)
        return {attempt.tool: attempt.refused for attempt in attempts}["open_vault"]

    assert not refused()
    assert "times" in refused(open_vault={"note": "x", "times": 99})

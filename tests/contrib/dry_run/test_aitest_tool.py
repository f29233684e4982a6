"""``aitest/tool``: a builder tries a tool in the game, without a model."""

import pytest
from pydantic import BaseModel, Field

from evennia_ai import models
from evennia_ai.tools.base import tool
from tests.game.vault import Vault

pytestmark = [pytest.mark.game, pytest.mark.engine]


class RingArguments(BaseModel):
    """How often."""

    times: int = Field(ge=1, le=12)
    hand: str = "left"


@tool("ring")
def ring(context, arguments: RingArguments) -> str:
    """Ring the bell."""
    context.character.location.msg_contents(f"The bell rings, {arguments.hand} hand.")
    return f"It rang {arguments.times} times."


@pytest.fixture
def bea(game, tavern, mira):
    bea = game.player("Bea", tavern, permissions=["Builder"])
    mira.locks.add(f"edit:id({bea.character.id})")
    game.service.toolbox.add(ring)
    return bea


def tried(game, player, call, name="Mira"):
    """Type a call; return what the builder reads."""
    player.forget()
    player.do(f"aitest/tool {name} = {call}")
    game.run(1)
    return "\n".join(player.heard())


@pytest.mark.parametrize(
    "typed", ["ring times = 3; hand = right", 'ring {"times": 3, "hand": "right"}']
)
def test_the_tool_runs_once_and_the_builder_reads_what_a_model_would(game, mira, bea, typed):
    told = tried(game, bea, typed)
    assert "ring" in told and "done: It rang 3 times." in told
    assert told.count("The bell rings, right hand.") == 1
    assert not game.model.requests
    (act,), (turn,) = models.ToolCall.objects.all(), models.Turn.objects.all()
    assert (act.state, act.turn_id) == ("done", turn.id)
    assert (turn.context, turn.outcome) == ("tried_act", "noted")
    assert any("It rang 3 times." in m["content"] for m in mira.assistant.conversation_history)


def test_without_a_known_tool_nothing_of_others_is_told(game, bea):
    assert "Which tool? Usage: aitest/tool" in tried(game, bea, "")
    told = tried(game, bea, "open_gate")
    assert "There is no tool 'open_gate'" in told and "who may" not in told


def test_the_locks_are_asked_of_everybody_whose_words_the_prompt_holds(game, mira, bea, ann):
    vault = Vault(game)
    told = tried(game, bea, "staff_vault door = south")
    assert not mira.assistant.conversation_history
    assert "refused: You may not do that for everybody" in told and "Ann" in told
    ann.character.location = game.room("Yard")
    assert "done: The south door is open." in tried(game, bea, "staff_vault door = south")
    assert vault.opened == ["south"]


def test_a_sensitive_tool_waits_for_the_builders_yes(game, bea):
    vault = Vault(game, answers_only=True)
    assert "waits for a person's yes: Not done yet." in tried(game, bea, "staff_vault")
    assert vault.opened == []
    bea.do("yes")
    game.run(1)
    assert vault.opened == ["north"]


def test_only_who_may_edit_the_character_tries_its_tools_and_only_while_it_is_on(
    game, tavern, mira, bea
):
    cy = game.player("Cy", tavern, permissions=["Builder"])
    assert "You may not change Mira" in tried(game, cy, "ring times = 3")
    bea.do("aistop Mira")
    assert "cannot act now" in tried(game, bea, "ring times = 3")
    assert not models.ToolCall.objects.exists()


def test_it_waits_until_a_turn_in_progress_has_ended(game, mira, bea, monkeypatch):
    pauses = []
    monkeypatch.setattr(
        "evennia.utils.utils.delay", lambda seconds, work, *args: pauses.append((work, args))
    )
    ticker = mira.assistant.mind.ticker
    ticker.is_ticking = True
    assert tried(game, bea, "ring times = 3") == ""
    ticker.is_ticking = False
    ((work, args),) = pauses
    work(*args)
    game.run(1)
    assert "done: It rang 3 times." in "\n".join(bea.heard())

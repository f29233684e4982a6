"""A game's own tool is tried in a test by one line, as it would run in the game."""

import pytest
from pydantic import BaseModel, Field
from twisted.internet.defer import Deferred, succeed

from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.testing.tools import try_tool
from evennia_ai.tools import NothingDone, tool


class RingArguments(BaseModel):
    times: int = Field(ge=1, le=12)


@tool("ring", lock="not tag(banned)")
def ring(context, arguments: RingArguments) -> str:
    """Ring the bell."""
    if arguments.times > 3:
        raise NothingDone("The rope is too short for that.")
    context.character.location.msg_contents("The bell rings.")
    return f"It rang for {context.character.key}."


@tool("later")
def later(context, arguments: RingArguments) -> str:
    """Ring it later."""
    return Deferred() if arguments.times > 1 else succeed("It rang.")


@pytest.fixture
def guard(game, tavern):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    return create_object(DefaultCharacter, key="Guard", location=tavern)


def test_it_is_really_run_by_a_character_of_any_kind(ann, guard):
    result = try_tool(ring, guard, ann.character, times=2)
    assert (result.state, result.text) == ("done", "It rang for Guard.")
    assert ann.last() == "The bell rings."
    assert isinstance(guard, AssistantMixin)


def test_what_the_tool_cannot_do_has_failed(ann, guard):
    assert try_tool(ring, guard, ann.character, times=4).text == "The rope is too short for that."
    assert try_tool(ring, guard, ann.character, times=13).state == "failed"
    assert "The arguments do not fit" in try_tool(ring, guard, ann.character).text


def test_a_tool_may_answer_by_a_deferred_that_has_fired(ann, guard):
    assert try_tool(later, guard, ann.character, times=1).text == "It rang."
    with pytest.raises(AssertionError, match="later returned a Deferred that has not fired"):
        try_tool(later, guard, ann.character, times=2)


class BarterArguments(BaseModel):
    item: str
    character: str
    speaker: str


@tool("barter")
def barter(context, arguments: BarterArguments) -> str:
    """Barter."""
    return f"{arguments.speaker} gets the {arguments.item} of {arguments.character}."

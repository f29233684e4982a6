"""No line can hold the stand-in: its expressions are tried, and it reads in linear time."""

import pytest

from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.expressions.found import expressions
from tests.growth import text_grows_like_a_square
from tests.short_form import short_form
from tests.test_expressions import PIECES


def heard(text: str) -> StandInRequest:
    """Return a request to answer a line that was said."""
    line = HeardLine("say", "Ann", text, False)
    messages = [{"role": "user", "content": f"Ann says: {text}"}]
    return StandInRequest("Mira", Persona("You are Mira."), (line,), messages=messages)


def test_the_expressions_of_its_data_are_among_those_that_are_tried():
    every = expressions()
    assert "offline.data.en.story" in {item.place for item in every}
    texts = {item.pattern.pattern for item in every}
    assert r"^(?:that|you know that)\s+(?=\S)" in texts
    assert r"[.!?…]+" in texts  # inside a function


@pytest.mark.parametrize("piece", short_form(PIECES, 3))
def test_reading_twice_the_text_takes_about_twice_the_time(piece):
    assert not text_grows_like_a_square(lambda text: StandIn().think(heard(text)), piece)

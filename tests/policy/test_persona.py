"""Personas: free text or fields."""

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.persona_and_lore import Persona, read_persona, render_persona


def test_text_is_a_persona_as_it_is():
    assert render_persona(read_persona("You are Mira.")) == "You are Mira."


def test_fields_stand_under_headings_and_lists_may_be_written_with_semicolons():
    persona = read_persona(
        {"text": "You are Mira.", "voice": "dry", "wants": "peace; a new roof", "knows": ["x"]}
    )
    assert persona.wants == ("peace", "a new roof")
    assert render_persona(persona) == (
        "You are Mira.\nYour voice: dry\nYou know:\n- x\nYou want:\n- peace\n- a new roof"
    )


def test_an_unknown_field_names_those_there_are():
    with pytest.raises(ConfigError, match=r"no field 'mood'. Use one of text, voice"):
        read_persona({"mood": "x"})


def test_nobody_is_somebody_without_a_past():
    assert render_persona(read_persona(None)) == "You have no past yet."
    assert read_persona(Persona("x")) == Persona("x")

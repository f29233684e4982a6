"""Tests of a character: scenes of a file are played with the real engine, and checked."""

from evennia_ai.extension import Extension


class EvalsExtension(Extension):
    """Gives ``evennia ai_check``, which Django finds in the folder ``management/commands``."""

    name = "evals"


EXTENSION = EvalsExtension

"""What must be read anew when the words of logged lines change, or whether they are recalled."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from evennia_ai.game.script_ports import GameScript


@contextmanager
def changing(script: GameScript) -> Generator[None]:
    """Let the next prompt and the next recall read lines anew that change meanwhile."""
    script.services.memory_indices.drop(script)  # it stores vectors of the old words
    yield
    script.conversation.forget_view()

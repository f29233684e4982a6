"""For a game's own code: telling an assistant what happened."""

from __future__ import annotations

from typing import Any


def notify(assistant: Any, text: str, importance: int = 5) -> None:
    """Tell an assistant of something that happened in the game.

    Args:
        assistant: an `AssistantScript`, or a character that has one.
        text: one sentence, as the character would perceive it: "A bell tolls in the harbour."
        importance: 1 to 10; from 7 it thinks about it at once, from 4 it may react by itself.
    """
    script = getattr(assistant, "assistant", None) or assistant
    script.notify(text, importance)

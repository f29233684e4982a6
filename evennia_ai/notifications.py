"""A game's own way to tell an assistant what happened."""

from __future__ import annotations

from typing import Any


def notify(assistant: Any, text: str, importance: int = 5, author: Any = "game") -> None:
    """Tell an assistant what happened in the game.

    Args:
        assistant: an `AssistantScript`, or a character that has one.
        text: one sentence, as the character would perceive it: "A bell tolls in the harbour."
        importance: 1 to 10. From 7 the assistant starts a turn at once; from 4 it may react;
            below 4 it only notes the event.
        author: the object whose words the text holds, such as a player's character. The default is
            the game itself: its text may have any tool used. Name the author if the text quotes
            what somebody wrote.
    """
    script = getattr(assistant, "assistant", None) or assistant
    script.notify(text, importance, author)

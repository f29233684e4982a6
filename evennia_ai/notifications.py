"""A game's own way to tell an assistant what happened."""

from __future__ import annotations

from typing import Any


def notify(
    assistant: Any,
    text: str,
    importance: int = 5,
    kind: str = "notice",
    actor: Any = None,
    item: Any = None,
) -> None:
    """Tell an assistant what happened in the game.

    Args:
        assistant: an `AssistantScript`, or a character that has one.
        text: one sentence, as the character would perceive it: "A bell tolls in the harbour."
        importance: 1 to 10. From 7 the assistant starts a turn at once; from 4 it may react;
            below 4 it only notes the event.
        kind: a word for such events, at most 16 characters, for `ai_perceived`: "attack".
        actor: who caused it, such as the attacker; None for nobody.
        item: the thing that it is about; None for nothing.

    The character takes the sentence for a fact: never put a player's words into it.
    """
    script = getattr(assistant, "assistant", None) or assistant
    script.notify(text, importance, kind, actor, item)

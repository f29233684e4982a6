"""A game's own way to tell an assistant what happened."""

from typing import Any


def notify(  # noqa: PLR0913  # all but two have defaults
    assistant: Any,
    text: str,
    importance: int = 5,
    kind: str = "notice",
    actor: Any = None,
    item: Any = None,
    author: Any = "game",
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
        author: the object whose words the text holds, such as a player's character. The default is
            the game itself: its text may have any tool used. Name the author if the text quotes
            what somebody wrote; the character then reads the whole text in quotes.

    The character takes the sentence for a fact: never put a player's claim into it.
    """
    script = getattr(assistant, "assistant", None) or assistant
    script.notify(text, importance, kind, actor, item, author)

"""The last guard of a window: a request never holds more talk than there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evennia_ai.messages import Message
from evennia_ai.policy.projection import is_marker

Size = Callable[[Message], int]

LEFT_OUT = " [...] "
LEAST_CHARS = 40
CAUTION = 0.9
HEAD_PART = 2 / 3


def newest_that_fit(messages: Sequence[Message], budget: int, size: Size) -> list[Message]:
    """The longest end of a view within a budget, the summary of what was compacted before it where
    there is room for it too. At least one message, shortened where it alone is too long.

    Args:
        messages: a view, perhaps with its marker first.
        budget: tokens there is room for.
        size: tokens of one message.
    """
    head = [message for message in messages[:1] if is_marker(message)]
    rest = list(messages[len(head) :])
    left = budget - sum(map(size, head))
    first = len(rest)
    while first > 0 and size(rest[first - 1]) <= left:
        first -= 1
        left -= size(rest[first])
    if first < len(rest) or not rest:
        return [*head, *rest[first:]]
    return [shorten(rest[-1], budget, size)]


def shorten(message: Message, budget: int, size: Size) -> Message:
    """A message with its middle left out, so that it fits; the input stays as it is."""
    text = message["content"]
    if size(message) <= budget:
        return message
    share = max(0, budget) / max(1, size(message)) * CAUTION
    chars = max(LEAST_CHARS, int(share * len(text)))
    head = int(chars * HEAD_PART)
    short = text[:head] + LEFT_OUT + text[len(text) - (chars - head) :]
    metadata = {**message["metadata"], "tokens": 0}
    return {**message, "content": short, "metadata": metadata}  # type: ignore[typeddict-item]

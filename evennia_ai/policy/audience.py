"""Rules for who may know what (promise P9); no model is asked to keep a secret."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evennia_ai.messages import Audience, Authors, Message, is_private


def visible(item_audience: Audience | None, prompt_audience: Audience) -> bool:
    """Return True if an item may enter a prompt for this audience: all who will hear the answer.

    An ``item_audience`` of None is public; any other must include the whole ``prompt_audience``.
    An empty prompt audience sees no private item.
    """
    if item_audience is None:
        return True
    return bool(prompt_audience) and prompt_audience <= item_audience


def audience_of(message: Message) -> Audience | None:
    """Return a message's audience for comparison, None for public room talk."""
    return frozenset(message["metadata"].get("audience", ())) if is_private(message) else None


def select_visible(messages: Iterable[Message], prompt_audience: Audience) -> list[Message]:
    """Return the messages that may enter a prompt for this audience, in order."""
    return [m for m in messages if visible(audience_of(m), prompt_audience)]


def may_be_said(listeners: Audience, prompt_audience: Audience, private: bool) -> bool:
    """Return True if listeners may hear words from this prompt; if nothing is private, all may."""
    return not private or listeners <= prompt_audience


class KnownLine(NamedTuple):
    """One line of knowledge for a prompt."""

    text: str
    private: bool = False  # for the prompt's audience only
    authors: Authors = frozenset()  # `policy.authors`; none: unknown
    source: str = ""  # id of the memory that it tells, if any
    score: float = 0.0  # how well that fits the talk; scores compare within one prompt

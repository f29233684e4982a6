"""Who may know what (promise P9). Selection in code, before ranking; never a request to a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evennia_ai.messages import Audience, Message, is_private


def visible(item_audience: Audience | None, prompt_audience: Audience) -> bool:
    """True where an item may enter a prompt whose answer ``prompt_audience`` will hear.

    ``None`` is room talk, which anybody may know. A private item needs a listener, and all of the
    listeners must have been its own: a prompt for nobody holds nothing private.
    """
    if item_audience is None:
        return True
    return bool(prompt_audience) and prompt_audience <= item_audience


def audience_of(message: Message) -> Audience | None:
    """The audience to compare with, None for room talk."""
    return frozenset(message["metadata"].get("audience", ())) if is_private(message) else None


def select_visible(
    messages: Iterable[Message], prompt_audience: Audience, discretion: str = "strict"
) -> list[Message]:
    """The messages that may enter a prompt for this audience, in their order."""
    if discretion == "trusting":
        return list(messages)
    return [m for m in messages if visible(audience_of(m), prompt_audience)]


def may_be_said(listeners: Audience, prompt_audience: Audience, private: bool) -> bool:
    """True where words made from this prompt may be heard by ``listeners``.

    A prompt that held nothing private binds nobody, whoever has come in since it was built.
    """
    return not private or listeners <= prompt_audience


class KnownLine(NamedTuple):
    """What is known, on one line.

    Attributes:
        text: the line.
        private: whether the prompt's audience alone may know of it.
        speakers: dbrefs of those whose words may be in it: a tool's lock is checked against them
            (P8).
    """

    text: str
    private: bool = False
    speakers: Audience = frozenset()


def speakers_in(records: Iterable[Mapping[str, Any]]) -> Audience:
    """Everybody whose words may be in some records."""
    return frozenset(speaker for record in records for speaker in record["speakers"])

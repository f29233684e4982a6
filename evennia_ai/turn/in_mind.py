"""What comes to mind beside the talk in view: lore, pins, and facts of talk that is out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.config import usable_window
from evennia_ai.events import Audience, Situation
from evennia_ai.messages import Message
from evennia_ai.policy.fact_sources import HEARD
from evennia_ai.policy.lore import LoreEntry, select_lore
from evennia_ai.policy.recall import Talk
from evennia_ai.policy.tokens import (
    estimate_tokens,
)
from evennia_ai.turn.prompt_contexts import (
    situation_prompt,
)

TALK_LINES = 3
# Of the window. The tail is paid for anew with every call; no provider's cache keeps it.
TAIL_PART = 0.075
LORE_PART = 0.025
LEAST_RECALL = 0.02


@dataclass(frozen=True)
class InMind:
    """What comes to mind beside the talk: static knowledge, what was pinned, and what is recalled
    of talk out of view. ``private`` where any of it is for the prompt's audience alone."""

    lore: tuple[LoreEntry, ...]
    pinned: tuple[str, ...]
    recalled: tuple[str, ...]
    private: bool


def call_to_mind(script: Any, audience: Audience, talk: Talk, situation: Situation) -> InMind:
    """Everything that the talk touches upon and this audience may hear of, within its room: what
    is recalled has as much as situation, pins and lore leave of the tail's."""
    config = script.config
    window = usable_window(config, script.profile)
    entries, labels = script.services.world.lore(script.character, audience)
    most = min(config.lore_tokens, int(LORE_PART * window))
    lore = select_lore(entries, labels, " ".join((*talk.before, *talk.asked)), most)
    pins = script.pins(audience)
    pinned = tuple(line for line, _private in pins)
    taken = estimate_tokens(situation_prompt(situation, lore, "", "", (), pinned))
    room = int(max(TAIL_PART * window - taken, LEAST_RECALL * window))
    recalled = script.conversation.current.recall.call(
        talk, audience, min(config.recall_tokens, room), config.discretion
    )
    return InMind(
        lore=tuple(lore),
        pinned=pinned,
        recalled=tuple(line for line, _private in recalled),
        private=any(private for _line, private in (*pins, *recalled)),
    )


def latest_talk(visible: Sequence[Message], unanswered: Sequence[str]) -> Talk:
    """What is being talked about: the lines without an answer, where none are told of the last
    that somebody said, and the latest before."""
    heard = [m["content"] for m in visible if m["role"] == "user" and "type" not in m["metadata"]]
    latest = heard[-TALK_LINES:]
    said = [line for line in latest if HEARD.match(line)]
    asked = list(unanswered) or said[-1:] or latest[-1:]
    return Talk(asked, [line for line in latest if line not in asked])

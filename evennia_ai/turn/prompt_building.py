"""Build a prompt: rules and persona, the conversation, and the situation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from evennia_ai.config import usable_window
from evennia_ai.messages import (
    Audience,
    InboxEvent,
    Message,
    Situation,
    WireMessage,
    heard_line,
    is_private,
    to_wire,
)
from evennia_ai.policy.context.projection import newest_that_fit, visible_items
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.conversation.persona import render_persona
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.ports import Script
from evennia_ai.turn.context_use import measure_context
from evennia_ai.turn.prompt_context_data import latest_talk, select_context_items
from evennia_ai.turn.prompt_contexts import (
    PRESSURE,
    PromptContext,
    going_on_prompt,
    new_lines_prompt,
    situation_prompt,
    system_prompt,
)

# Messages that do not fit are named at the prompt's end; this takes room, so fitting is repeated.
FITTINGS = 3
# Share of the window kept for the last part. A part within it never moves the start of the talk.
TAIL_ROOM = 1 / 8


@dataclass(frozen=True)
class Prompt:
    """A built prompt.

    Attributes:
        private: True if it holds anything that only its audience may know.
        tokens: the size of the whole request, tools included.
        remembered: dbrefs of those whose words were recalled for it.
    """

    messages: list[WireMessage]
    private: bool
    tokens: int
    situation: Situation
    lore: tuple[LoreEntry, ...]
    remembered: Audience = frozenset()


@dataclass(frozen=True)
class Fitted:
    """The messages that fit into the window, and the prompt's last part."""

    shown: Sequence[Message]
    tail: WireMessage
    overhead: int  # tokens of everything but these messages


def build_prompt(
    script: Script,
    context: PromptContext,
    audience: Audience,
    events: Sequence[InboxEvent] = (),
    tool_tokens: int = 0,
    goes_on: bool = False,
) -> Prompt:
    """Return a prompt: rules and persona, the conversation, then the situation.

    Args:
        audience: dbrefs of everybody who will hear the answer; selects what the prompt may hold.
        events: what started the turn; empty for an autonomous turn.
        tool_tokens: size of the tools' schemas.
        goes_on: whether the turn continues after tool calls; else the events have no answer yet.
    """
    discretion = script.config.discretion
    visible = visible_items(script.conversation.view(), audience, discretion)
    situation = current_situation(script, context)
    lines = [heard_line(e.heard.kind, e.heard.speaker_name, e.heard.text) for e in events]
    items = select_context_items(script, audience, latest_talk(visible, lines), situation)
    now = script.services.now().strftime("%A, %H:%M")
    rules = system_prompt(script.character_name, render_persona(script.persona))
    system: WireMessage = {"role": "system", "content": rules}

    def tail(hidden: Collection[int]) -> WireMessage:
        task = context.prompt or task_text(lines, hidden, goes_on)
        text = situation_prompt(situation, items.lore, now, task, items.lines)
        return {"role": "user", "content": text}

    fixed_tokens, is_talk = tool_tokens + count(script, system), context.tools is None
    fitted = fit_messages(script, visible, events, fixed_tokens, tail, is_talk)
    if is_talk:  # the largest; with fewer tools a full context would look empty
        script.prompt_overhead = fitted.overhead
    return Prompt(
        messages=[system, *to_wire(fitted.shown), fitted.tail],
        private=discretion == "strict" and (items.private or any(map(is_private, fitted.shown))),
        tokens=fitted.overhead + sum(map(stored_tokens, fitted.shown)),
        situation=situation,
        lore=items.lore,
        remembered=items.speakers,
    )


def current_situation(script: Script, context: PromptContext) -> Situation:
    """Return what the character perceives, with a note if the context window is filling up."""
    situation = script.services.world.situation(script.character)
    if context.tools is None and measure_context(script).ratio >= script.config.mask_threshold:
        return replace(situation, notes=(*situation.notes, PRESSURE))
    return situation


def fit_messages(
    script: Script,
    visible: Sequence[Message],
    events: Sequence[InboxEvent],
    fixed_tokens: int,
    make_tail: Callable[[Collection[int]], WireMessage],
    is_talk: bool,
) -> Fitted:
    """Return the newest messages that fit beside the rest of the request.

    ``visible`` are the messages that the audience may know, oldest first; ``fixed_tokens`` is the
    size of tools, rules and persona. ``make_tail`` makes the last part from the positions of the
    events that the messages shown do not contain. The prompts of a talk keep their start for as
    long as possible, since caches know it; other prompts show all that fits.
    """
    window = usable_window(script.config, script.profile)
    free = window - script.config.max_reply_tokens
    tail_room = int(TAIL_ROOM * window) if is_talk else 0
    hidden = positions_missing(visible, events)
    for _ in range(FITTINGS):
        tail = make_tail(hidden)
        tail_tokens = count(script, tail)
        room = free - fixed_tokens - max(tail_tokens, tail_room)
        shown = newest_that_fit(visible, room, stored_tokens, is_talk)
        missing = positions_missing(shown, events) - hidden
        if not missing:
            break
        hidden |= missing
    return Fitted(shown, tail, fixed_tokens + tail_tokens)


def task_text(lines: Sequence[str], hidden: Collection[int], goes_on: bool) -> str:
    """Return the task of a turn: to answer these lines, or to continue after tool calls."""
    if goes_on or not lines:
        return going_on_prompt(lines, hidden)
    return new_lines_prompt(lines, hidden)


def positions_missing(messages: Sequence[Message], events: Sequence[InboxEvent]) -> set[int]:
    """Return the positions of the events that none of these messages contains."""
    logged = {message["metadata"].get("event_id") for message in messages}
    return {position for position, event in enumerate(events) if event.id not in logged}


def count(script: Script, message: WireMessage) -> int:
    """Return the tokens of a wire message."""
    return count_message(message, count_text=script.count_text)

"""A prompt, from its first byte to its last: rules and persona, the talk, and what is so now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from evennia_ai.config import usable_window
from evennia_ai.messages import (
    Audience,
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
from evennia_ai.ports import InboxEvent, Script
from evennia_ai.turn.context_use import measure_context
from evennia_ai.turn.prompt_context_data import ContextItems, latest_talk, select_context_items
from evennia_ai.turn.prompt_contexts import (
    PRESSURE,
    PromptContext,
    going_on_prompt,
    new_lines_prompt,
    situation_prompt,
    system_prompt,
)

FITTINGS = 3  # what falls out of view is named at the end, and takes room there


@dataclass(frozen=True)
class Prompt:
    """A built prompt. ``private`` is True where it holds anything only its audience may know;
    ``tokens`` counts the whole request, tools included; ``situation`` and ``lore`` are what its
    last part was made of, ``remembered`` those whose words came to mind for it."""

    messages: list[WireMessage]
    private: bool
    tokens: int
    situation: Situation
    lore: tuple[LoreEntry, ...]
    remembered: Audience = frozenset()


def build_prompt(
    script: Script,
    context: PromptContext,
    audience: Audience,
    events: Sequence[InboxEvent] = (),
    tool_tokens: int = 0,
    goes_on: bool = False,
) -> Prompt:
    """Rules and persona, then the conversation as this audience may know it, then the situation.

    Args:
        script: the assistant.
        context: the situation it thinks in.
        audience: dbrefs of everybody who will hear.
        events: set the turn off; none where nobody asked.
        tool_tokens: what the tools' schemas will take of the window.
        goes_on: whether the turn goes on after its tools, else the events have no answer yet.
    """
    config = script.config
    visible = visible_items(script.conversation.view(), audience, config.discretion)
    situation = script.services.world.situation(script.character)
    if context.tools is None and measure_context(script).ratio >= config.mask_threshold:
        situation = replace(situation, notes=(*situation.notes, PRESSURE))
    lines = [heard_line(e.heard.kind, e.heard.speaker_name, e.heard.text) for e in events]
    mind = select_context_items(script, audience, latest_talk(visible, lines), situation)
    system = wire_text(
        "system", system_prompt(script.character_name, render_persona(script.persona))
    )
    count = partial(count_message, count_text=script.count_text)
    window = usable_window(config, script.profile)
    shown, hidden = visible, places_out_of(visible, events)
    for _ in range(FITTINGS):
        say_so = going_on_prompt if goes_on or not lines else new_lines_prompt
        told = context.prompt or say_so(lines, hidden)
        tail = wire_text("user", tail_text(script, situation, mind, told))
        overhead = tool_tokens + count(system) + count(tail)
        room = window - overhead - config.max_reply_tokens
        shown = newest_that_fit(visible, room, stored_tokens)
        gone = places_out_of(shown, events) - hidden
        if not gone:
            break
        hidden |= gone
    if context.tools is None:  # the largest; with fewer tools a full context would look empty
        script.prompt_overhead = overhead
    return Prompt(
        messages=[system, *to_wire(shown), tail],
        private=config.discretion == "strict" and (mind.private or any(map(is_private, shown))),
        tokens=overhead + sum(map(stored_tokens, shown)),
        situation=situation,
        lore=mind.lore,
        remembered=mind.speakers,
    )


def places_out_of(messages: Sequence[Message], events: Sequence[InboxEvent]) -> set[int]:
    """The places of the events whose words stand in none of these messages."""
    there = {message["metadata"].get("event_id") for message in messages}
    return {place for place, event in enumerate(events) if event.id not in there}


def tail_text(script: Script, situation: Situation, mind: ContextItems, task: str) -> str:
    """The prompt's last part, with the context's task or the lines that have no answer yet."""
    now = script.services.now().strftime("%A, %H:%M")
    return situation_prompt(situation, mind.lore, now, task, mind.lines)


def wire_text(role: str, content: str) -> WireMessage:
    """A message of text alone, as a provider takes it."""
    return {"role": role, "content": content}

"""Journal by rule what players said, if the model journalled none of it.

Small models rarely call a tool. Here `policy.facts.check` chooses sentences of players, and the
tools of a turn store them word for word, with speaker, message and audience.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Message, ToolCallRequest
from evennia_ai.policy.authors import of_message
from evennia_ai.policy.context.projection import part_audience, split_by_audience
from evennia_ai.policy.conversation.react import own_call_id
from evennia_ai.policy.facts.check import Fact, choose_notes, is_about_speaker, note_of
from evennia_ai.ports import Script, ToolContext, ToolResult, TurnRecord
from evennia_ai.scheduling import Steps, pause, persist
from evennia_ai.sleep.compaction.fact_check import find_facts
from evennia_ai.turn.background import calls_tools, has_model
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from evennia_ai.turn.react_loop import tool_context
from evennia_ai.turn.tool_execution import DONE, perform

MOST_NOTES = 20  # for each audience in one pass
TIME_S = 20.0  # for the tools of one audience
JOURNAL, OBSERVE = "add_journal_entry", "update_entity_observation"
RECORDING = frozenset({JOURNAL, OBSERVE, "pin_fact"})
FINISHED = "noted"
EVER = ""  # before every ISO time


def unread_messages(script: Script) -> list[Message]:
    """Return the messages in view since the last extraction began."""
    messages = script.conversation.current.messages
    if not messages:
        return []
    times = script.turns.times_of(CONTEXT_PRE_COMPACTION.name, time_of(messages[0]))
    return [m for m in messages if not times or time_of(m) >= times[-1]]


def time_of(message: Message) -> datetime:
    """Return when a message was stored."""
    return datetime.fromisoformat(message["metadata"]["at"])


def remembers_by_itself(script: Script, messages: Sequence[Message]) -> bool:
    """Return True if the character's model journalled something during these messages."""
    calls = (call for message in messages for call in message.get("tool_calls") or ())
    return (
        has_model(script)
        and calls_tools(script)
        and any(call["function"]["name"] in RECORDING for call in calls)
    )


@inlineCallbacks
def note_facts(script: Script, messages: Sequence[Message]) -> Steps[int]:
    """Journal the most important facts of messages, for each audience on its own.

    A fact that the journal already holds is not written again. Fires with the number of new
    entries; fails with TurnAborted and StoreUnavailable.
    """
    total = 0
    for key, part in split_by_audience(messages).items():
        if not remembers_by_itself(script, part):
            total += yield note_part(script, key, part)
    return total


@inlineCallbacks
def note_part(script: Script, key: str, messages: Sequence[Message]) -> Steps[int]:
    """Run `note_facts` for one audience, in a turn of its own."""
    clock, turns, confidants = script.services.clock, script.turns, part_audience(key)
    facts = yield find_facts(script, messages)
    notes = choose_notes(facts, script.journalled_since(EVER, confidants), MOST_NOTES)
    if not notes:
        return 0
    audience, private = confidants or frozenset(), confidants is not None
    begin = partial(turns.begin, (), audience, private, CONTEXT_PRE_COMPACTION.name)
    turn: TurnRecord = yield persist(clock, begin)
    said = {message["metadata"]["seq"]: message for message in messages}
    written: int = yield write_notes(script, turn, notes, said)
    detail = f"{written} facts written down by rule"
    yield persist(clock, partial(turns.finish, turn.id, FINISHED, detail))
    return written


@inlineCallbacks
def write_notes(
    script: Script, turn: TurnRecord, notes: Sequence[Fact], said: Mapping[int, Message]
) -> Steps[int]:
    """Store notes on messages, by number. Fires with how many entries were stored."""
    allowed = CONTEXT_PRE_COMPACTION.tools
    tools = tool_context(script, turn, turn.audience, turn.private, allowed)
    tools = replace(tools, deadline_at=script.services.clock.seconds() + TIME_S)
    written = 0
    for number, note in enumerate(notes, 1):
        yield pause(script.services.slices.put)
        own = replace(
            tools,
            speakers=frozenset({note.dbref}),
            authors=of_message(said[note.seq]) if note.seq in said else frozenset(),
            source_seqs=(note.seq,) if note.seq else (),
            said_at=said[note.seq]["metadata"]["at"] if note.seq in said else "",
        )
        written += yield write_note(script, turn, own, note, number)
    return written


@inlineCallbacks
def write_note(
    script: Script, turn: TurnRecord, tools: ToolContext, note: Fact, number: int
) -> Steps[bool]:
    """Store a note in the journal, and in the speaker's profile if it is about the speaker.

    Fires with True if the journal took it.
    """
    text = note_of(note)
    calls = [(JOURNAL, {"content": text})]
    if is_about_speaker(note):
        calls.append((OBSERVE, {"entity": note.speaker, "observation": text}))
    states = []
    for place, (name, arguments) in enumerate(calls):
        words = json.dumps(arguments, ensure_ascii=False)
        call = ToolCallRequest(own_call_id(turn.id, number, place), name, words)
        # Not logged: these tool calls are no part of the conversation.
        result: ToolResult = yield perform(script, turn, tools, call, False, lambda _result: ())
        states.append(result.state)
    return states[0] == DONE

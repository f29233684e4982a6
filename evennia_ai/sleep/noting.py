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
from evennia_ai.policy.audience import of_message
from evennia_ai.policy.context.projection import part_audience, split_by_audience
from evennia_ai.policy.conversation.react import own_call_id
from evennia_ai.policy.facts.check import Fact, choose_notes, is_about_speaker, note_of
from evennia_ai.ports import (
    Conversation,
    Settings,
    Slices,
    ToolContext,
    ToolResult,
    TurnRecord,
    Turns,
)
from evennia_ai.scheduling import Clock, Steps, pause, persist
from evennia_ai.sleep.compaction.journal_summary import FactCheck
from evennia_ai.turn.knowledge import Knowledge
from evennia_ai.turn.model_call import calls_tools, has_model
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from evennia_ai.turn.tool_execution import DONE, Acts

MOST_NOTES = 20  # for each audience in one pass
TIME_S = 20.0  # for the tools of one audience
JOURNAL, OBSERVE = "add_journal_entry", "update_entity_observation"
RECORDING = frozenset({JOURNAL, OBSERVE, "pin_fact"})
FINISHED = "noted"
EVER = ""  # before every ISO time


class Noting:
    """Journals by rule what players said."""

    def __init__(
        self,
        settings: Settings,
        log: Conversation,
        turns: Turns,
        knowledge: Knowledge,
        facts: FactCheck,
        acts: Acts,
        clock: Clock,
        slices: Slices,
    ) -> None:
        self._settings, self._log, self._turns, self._knowledge = settings, log, turns, knowledge
        self._facts, self._acts, self._clock, self._put = facts, acts, clock, slices.put

    def unread_messages(self) -> list[Message]:
        """Return the messages in view since the last extraction began."""
        messages = self._log.current.messages
        if not messages:
            return []
        times = self._turns.times_of(CONTEXT_PRE_COMPACTION.name, time_of(messages[0]))
        return [m for m in messages if not times or time_of(m) >= times[-1]]

    @inlineCallbacks
    def note(self, messages: Sequence[Message]) -> Steps[int]:
        """Journal the most important facts of messages, for each audience on its own.

        A fact that the journal already holds is not written again. Fires with the number of new
        entries; fails with TurnAborted and StoreUnavailable.
        """
        total = 0
        for key, part in split_by_audience(messages).items():
            if not self._remembers_by_itself(part):
                total += yield self._note_part(key, part)
        return total

    def _remembers_by_itself(self, messages: Sequence[Message]) -> bool:
        """Return True if the character's model journalled something during these messages."""
        calls = (call for message in messages for call in message.get("tool_calls") or ())
        return (
            has_model(self._settings.profile)
            and calls_tools(self._settings.profile)
            and any(call["function"]["name"] in RECORDING for call in calls)
        )

    @inlineCallbacks
    def _note_part(self, key: str, messages: Sequence[Message]) -> Steps[int]:
        """Run `note_facts` for one audience, in a turn of its own."""
        clock, turns, confidants = self._clock, self._turns, part_audience(key)
        facts = yield self._facts.find(messages)
        notes = choose_notes(facts, self._knowledge.journalled_since(EVER, confidants), MOST_NOTES)
        if not notes:
            return 0
        audience, private = confidants or frozenset(), confidants is not None
        begin = partial(turns.begin, (), audience, private, CONTEXT_PRE_COMPACTION.name)
        turn: TurnRecord = yield persist(clock, begin)
        said = {message["metadata"]["seq"]: message for message in messages}
        written: int = yield self._write_notes(turn, notes, said)
        detail = f"{written} facts written down by rule"
        yield persist(clock, partial(turns.finish, turn.id, FINISHED, detail))
        return written

    @inlineCallbacks
    def _write_notes(
        self, turn: TurnRecord, notes: Sequence[Fact], said: Mapping[int, Message]
    ) -> Steps[int]:
        """Store notes on messages, by number. Fires with how many entries were stored."""
        allowed = CONTEXT_PRE_COMPACTION.tools
        tools = self._acts.context_for(turn, turn.audience, turn.private, allowed)
        tools = replace(tools, deadline_at=self._clock.seconds() + TIME_S)
        written = 0
        for number, note in enumerate(notes, 1):
            yield pause(self._put)
            own = replace(
                tools,
                speakers=frozenset({note.dbref}),
                authors=of_message(said[note.seq]) if note.seq in said else frozenset(),
                source_seqs=(note.seq,) if note.seq else (),
                said_at=said[note.seq]["metadata"]["at"] if note.seq in said else "",
            )
            written += yield self._write_note(turn, own, note, number)
        return written

    @inlineCallbacks
    def _write_note(
        self, turn: TurnRecord, tools: ToolContext, note: Fact, number: int
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
            result: ToolResult = yield self._acts.perform(
                turn, tools, call, False, lambda _result: ()
            )
            states.append(result.state)
        return states[0] == DONE


def time_of(message: Message) -> datetime:
    """Return when a message was stored."""
    return datetime.fromisoformat(message["metadata"]["at"])

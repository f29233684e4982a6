"""Bugs to plant into the engine or its stores, each with the promise that it breaks.

They show that the checks can fail.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from evennia_ai.messages import make_message
from evennia_ai.policy.context.projection import PUBLIC, CompactionRecord, LogInView
from evennia_ai.policy.conversation import batching as inbox_rules
from evennia_ai.policy.conversation.batching import Batch
from evennia_ai.policy.tokens import count_message
from evennia_ai.ports import ToolContext
from evennia_ai.sleep import extraction
from evennia_ai.sleep.compaction import compact as compaction
from evennia_ai.sleep.compaction import summarising
from evennia_ai.turn import model_call, prompt_building, tool_call_runner, tool_executor
from evennia_ai.turn.guardrails import OutputGuardrail, text_of
from tests import memory_stores
from tests.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns
from tests.simulation.mind import Mind
from tests.simulation.restart import ReopenedTurns

real_append = MemoryConversation.append
real_begin = MemoryTurns.begin
real_compact = MemoryConversation.compact
real_finish = MemoryTurns.finish
real_refuse = tool_executor.ToolExecutor.refuse
real_metadata = tool_executor.audience_metadata
real_outcome = MemoryTurns.record_outcome
real_record = compaction.make_record
real_origin = extraction.with_origin
real_request = prompt_building.PromptBuilder.request
real_put = MemoryInbox.put


@dataclass(frozen=True)
class Plant:
    """One bug: replacements, and the promise that they break."""

    promise: str
    changes: tuple[tuple[Any, str, Any], ...]

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Keep the bug in place inside a ``with`` block."""
        with ExitStack() as stack:
            for target, name, bug in self.changes:
                stack.enter_context(patch.object(target, name, bug, create=True))
            yield


def plant(promise: str, target: Any, name: str, bug: Any) -> Plant:
    """Return a bug with one replacement."""
    return Plant(promise, ((target, name, bug),))


def drop_each_seventh(inbox: MemoryInbox, heard: Any) -> int:
    """An inbox that says it stored what it did not."""
    event_id = real_put(inbox, heard)
    if event_id % 7 == 0:
        inbox.rows.pop()
    return event_id


def forget_intent(turns: MemoryTurns, turn_id: int, call: Any, world: bool) -> int:
    """The act is done and nobody wrote that it would be."""
    return 0


def record_if_intended(turns: MemoryTurns, act_id: int, *outcome: Any) -> None:
    """The outcome of a forgotten intent has nowhere to go."""
    if act_id:
        real_outcome(turns, act_id, *outcome)


def log_again(turns: MemoryTurns, events: Any, *more: Any) -> Any:
    """A second attempt puts its words into the log once more."""
    for row in turns.inbox.rows:
        if row.event in events:
            row.logged_by = None
    return real_begin(turns, events, *more)


def name_the_first(turns: MemoryTurns, events: Any, *more: Any) -> Any:
    """A turn that stands for one event, whatever it took."""
    record = replace(real_begin(turns, events, *more), events=tuple(events[:1]))
    turns.turns[-1].record = record
    return record


def ask_about_the_first(*about: Any) -> Any:
    """What a client is told of what was heard, less all lines but one."""
    request = real_request(*about)
    return replace(request, events=request.events[:1])


def finish_the_first(turns: MemoryTurns, turn_id: int, outcome: str, detail: str = "") -> None:
    """Of several events that one turn took, the last is forgotten when it ends."""
    taken = [row for row in turns.inbox.rows if (row.turn_id, row.state) == (turn_id, "claimed")]
    real_finish(turns, turn_id, outcome, detail)
    for row in taken[1:][-1:]:
        row.state = "claimed"


def rewrite_the_log(conversation: MemoryConversation, messages: Any) -> Any:
    """An append that shortens what has become long."""
    if len(conversation.messages) > 8:
        conversation.messages[2] = {**conversation.messages[2], "content": "…"}
    return real_append(conversation, messages)


def compact_and_empty(conversation: MemoryConversation, record: Any) -> Any:
    """A compaction that throws away the words it has summed up."""
    for index in range(record.upto_seq):
        conversation.messages[index] = {**conversation.messages[index], "content": ""}
    return real_compact(conversation, record)


def view_of_everything(conversation: MemoryConversation) -> LogInView:
    """A view that begins at the beginning, whatever was compacted."""
    return LogInView(None, conversation.messages, 0, count_message)


def take_what_came_later(*about: Any) -> CompactionRecord:
    """A compaction that takes all out of view that is there when its summary is."""
    task, *_rest = about
    return replace(real_record(*about), upto_seq=task.view.messages[-1]["metadata"]["seq"])


def compact_whatever_came(compactor: Any, record: CompactionRecord, task: Any) -> CompactionRecord:
    """A compaction that takes no notice of an undo that came meanwhile."""
    return compactor._mind.log.compact(record)


def summary_for_all(*about: Any) -> CompactionRecord:
    """A compaction that keeps everybody's summaries together."""
    record = real_record(*about)
    return replace(record, summary={PUBLIC: "\n".join(record.summary.values())})


def journal_for_all(*about: Any) -> ToolContext:
    """What is written down of a private talk may be read to everybody."""
    return replace(real_origin(*about), private=False)


def close_without_reason(inbox: MemoryInbox, ids: Any, state: str, reason: str = "") -> None:
    """An end that nobody can understand later."""
    for row in inbox.rows:
        if row.event.id in ids:
            row.state, row.reason = state, ""


def everything_is_public(*about: Any) -> dict[str, Any]:
    """What was done in confidence is logged as room talk."""
    return {**real_metadata(*about), "private": False}


def one_batch_of_all(events: Any, present: Any, held_back: Any = ()) -> Batch | None:
    """Whispers and room talk go into one prompt, for all ears."""
    return Batch(tuple(events), present, False) if events and present else None


def count_as(counted: str, meant: str) -> Callable[..., str]:
    """`state_after_loss` that takes one state of events for another."""

    def state_after_loss(*about: Any, **more: Any) -> str:
        state = inbox_rules.state_after_loss(*about, **more)
        return counted if state == meant else state

    return state_after_loss


def log_the_refused(acts: Any, turn: Any, call: Any, reason: str, as_logged: Any) -> Any:
    """Words that were not spoken are in the log."""
    audience = sorted(turn.audience)
    words = make_message("assistant", text_of(call), turn_id=turn.id, audience=audience)
    logged = as_logged if as_logged is not tool_call_runner.unlogged else lambda result: [words]
    return real_refuse(acts, turn, call, reason, logged)


def do_nothing(*arguments: Any) -> None:
    """What should happen does not."""


never = property(lambda mind: False, do_nothing)

PLANTS = {
    "the inbox drops every seventh event": plant("P1", MemoryInbox, "put", drop_each_seventh),
    "a finished turn forgets one of its events": plant(
        "P1", MemoryTurns, "finish", finish_the_first
    ),
    "nobody recovers the turns of a dead process": plant(
        "P1", ReopenedTurns, "recover_open_turns", do_nothing
    ),
    "a second attempt logs its words again": plant("P1", MemoryTurns, "begin", log_again),
    "events expire without a reason": plant("P1", MemoryInbox, "close", close_without_reason),
    "a turn names one of its events only": plant("P1", MemoryTurns, "begin", name_the_first),
    "a model is told the first of several lines only": Plant(
        "P1",
        (
            (prompt_building, "shortened", lambda lines, room: list(lines[:1])),
            (prompt_building, "visible_items", lambda *about: []),
            (prompt_building.PromptBuilder, "request", ask_about_the_first),
        ),
    ),
    "intents are not stored": Plant(
        "P2",
        (
            (MemoryTurns, "intend", forget_intent),
            (MemoryTurns, "record_outcome", record_if_intended),
        ),
    ),
    "what was answered waits again after a crash": plant(
        "P2", memory_stores, "state_after_loss", count_as("waiting", "answered")
    ),
    "what may have been answered waits again after a crash": plant(
        "P2", memory_stores, "state_after_loss", count_as("waiting", "doubtful")
    ),
    "a retried turn knows nothing of earlier acts": plant(
        "P2", MemoryTurns, "_acts_since", lambda turns, turn_id: ()
    ),
    "the lease is never lost": plant("P2", MemoryTurns, "is_current", lambda turns, turn_id: True),
    "late replies are acted upon": Plant(
        "P5",
        ((model_call, "ensure_current", do_nothing), (tool_executor, "ensure_current", do_nothing)),
    ),
    "the log is rewritten": plant("P3", MemoryConversation, "append", rewrite_the_log),
    "acts are not logged": plant(
        "P3", tool_call_runner, "call_messages", lambda *about, **more: []
    ),
    "a compaction empties what it sums up": plant(
        "P3", MemoryConversation, "compact", compact_and_empty
    ),
    "a compaction does not move the view": plant(
        "P4", MemoryConversation, "current", property(view_of_everything)
    ),
    "a compaction takes more out of view than it sums up": plant(
        "P3", compaction, "make_record", take_what_came_later
    ),
    "a compaction does not notice an undo": plant(
        "P3", compaction.Compactor, "_store", compact_whatever_came
    ),
    "summaries do not reach the journal": plant(
        "P3", MemoryConversation, "to_archive", lambda log: []
    ),
    "summaries are everybody's": plant("P9", compaction, "make_record", summary_for_all),
    "what is journalled of a whisper is everybody's": plant(
        "P9", extraction, "with_origin", journal_for_all
    ),
    "a summary is made of everybody's talk together": plant(
        "P9", summarising, "split_by_audience", lambda messages: {"public": list(messages)}
    ),
    "ticks overlap": plant("P5", Mind, "ticking", never),
    "every audience sees everything": plant(
        "P9", prompt_building, "visible_items", lambda messages, *audience: list(messages)
    ),
    "what was whispered back is logged as public": plant(
        "P9", tool_executor, "audience_metadata", everything_is_public
    ),
    "whatever a model writes is spoken": plant(
        "P13", OutputGuardrail, "problem", lambda *about: ""
    ),
    "refused words are in the log": plant(
        "P13", tool_executor.ToolExecutor, "refuse", log_the_refused
    ),
    "whispers and room talk make one turn": plant(
        "P9", inbox_rules, "next_batch", one_batch_of_all
    ),
}

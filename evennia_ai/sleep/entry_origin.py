"""Give the entries of an extraction their speakers, their messages and the time of the talk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Audience, ToolCallRequest
from evennia_ai.policy.audience import visible
from evennia_ai.policy.authors import people_among
from evennia_ai.policy.context.projection import CompactionRecord, part_audience, visible_items
from evennia_ai.policy.conversation.react import read_arguments
from evennia_ai.policy.facts.origin import ShownLine, Summarised, origin_of, shown_line
from evennia_ai.policy.facts.terms import normal_words
from evennia_ai.ports import Conversation, ToolContext
from evennia_ai.scheduling import Put, Steps, spread


@dataclass(frozen=True)
class Shown:
    """What a loop shows the model: the lines heard, and the summary before them."""

    lines: Sequence[ShownLine]
    summary: Summarised


@inlineCallbacks
def read_shown(log: Conversation, put: Put, audience: Audience) -> Steps[Shown]:
    """Read in slices what a prompt for an audience shows. Fires with it."""
    view = log.current
    items = visible_items(view.items, audience)
    heard = [m for m in items if m["role"] == "user" and "type" not in m["metadata"]]
    lines: list[ShownLine] = yield spread(put, heard, shown_line)
    return Shown(lines, summarised(view.record, audience))


def summarised(record: CompactionRecord | None, audience: Audience) -> Summarised:
    """Return the parts of a summary that an audience may know, as one."""
    parts = record.summary if record else {}
    keys = [key for key in parts if visible(part_audience(key), audience)]
    speakers = record.speakers if record else {}
    return Summarised(
        frozenset(word for key in keys for word in normal_words(parts[key])),
        frozenset(dbref for key in keys for dbref in speakers.get(key, ())),
    )


def with_origin(tools: ToolContext, shown: Shown, call: ToolCallRequest) -> ToolContext:
    """Return the context of one call, with the origin of what it writes down."""
    text = " ".join(map(str, (read_arguments(call) or {}).values()))
    origin = origin_of(text, shown.lines, shown.summary)
    return replace(
        tools,
        speakers=people_among(origin.speakers),
        authors=origin.speakers,
        source_seqs=origin.seqs,
        said_at=origin.said_at,
    )

"""P3 and P4: the log is append-only, and each compaction makes progress."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from evennia_ai.messages import EXCUSE
from evennia_ai.policy.compaction.restored_context import PREFIX
from evennia_ai.policy.context.projection import PUBLIC
from tests.invariants.evidence import CompactionRow, Evidence, MessageRow, Violation


def check_order_of_log(evidence: Evidence) -> list[Violation]:
    """Check that the sequence numbers of each assistant's messages grow."""
    found = []
    last: dict[str, int] = {}
    for message in evidence.messages:
        if message.seq <= last.get(message.assistant, 0):
            words = f"message {message.seq} stands behind {last[message.assistant]}"
            found.append(Violation("P3", message.assistant, words))
        last[message.assistant] = message.seq
    return found


def check_append_only(before: Sequence[MessageRow], after: Sequence[MessageRow]) -> list[Violation]:
    """Check that every message of an earlier look is there unchanged."""
    now = {(row.assistant, row.seq): row for row in after}
    return [
        Violation("P3", row.assistant, f"message {row.seq} {row.content!r} was changed or removed")
        for row in before
        if now.get((row.assistant, row.seq)) != row
    ]


def check_records(
    before: Sequence[CompactionRow], after: Sequence[CompactionRow]
) -> list[Violation]:
    """Check that compactions of an earlier look changed in nothing but being undone."""
    now = {row.id: row for row in after}
    return [
        Violation("P3", row.assistant, f"compaction {row.id} was changed or removed")
        for row in before
        if now.get(row.id) not in (row, replace(row, undone=True))
    ]


def check_deeds_are_logged(evidence: Evidence) -> list[Violation]:
    """Check that each act that counts as done is in the conversation once, with its result."""
    found = []
    asked = Counter((m.assistant, call) for m in evidence.messages for call in m.calls)
    told = Counter((m.assistant, m.call_id) for m in evidence.messages if m.call_id)
    said = {(m.assistant, m.turn_id, m.content) for m in evidence.messages if not m.calls}
    words = {(deed.assistant, deed.call_id): deed.text for deed in evidence.deeds}
    for act in evidence.acts:
        key = (act.assistant, act.call_id)
        if act.state != "done" or (act.assistant, act.turn_id, words.get(key)) in said:
            continue
        if not act.logged and not asked[key] and not told[key]:
            continue
        if (asked[key], told[key]) != (1, 1):
            text = f"{act.name}({act.arguments}) was done and is not in the conversation once"
            found.append(Violation("P3", act.assistant, text))
    return found


def check_nothing_falls_between(evidence: Evidence) -> list[Violation]:
    """Check that every message but excuses is either summed up or in view.

    Each compaction in force begins with the next message after the one before, and states how many
    messages it takes out of view.
    """
    found = []
    seqs: defaultdict[str, list[int]] = defaultdict(list)
    for message in evidence.messages:
        if message.role != EXCUSE:
            seqs[message.assistant].append(message.seq)
    last: dict[str, int] = {}
    for row in evidence.compactions:
        if row.undone:
            continue
        passed = [
            seq for seq in seqs[row.assistant] if last.get(row.assistant, 0) < seq < row.from_seq
        ]
        if passed:
            words = f"compaction {row.id} leaves out messages {passed[0]} to {passed[-1]}"
            found.append(Violation("P3", row.assistant, words))
        gone = sum(row.from_seq <= seq <= row.upto_seq for seq in seqs[row.assistant])
        if row.count not in (None, gone):
            words = f"compaction {row.id} sums {row.count} messages up and takes {gone} out of view"
            found.append(Violation("P3", row.assistant, words))
        last[row.assistant] = row.upto_seq
    return found


def check_views(evidence: Evidence) -> list[Violation]:
    """Check that a view is the marker in force and each later message once, without excuses."""
    found = []
    in_force = {row.assistant: row for row in evidence.compactions if not row.undone}
    for view in evidence.views:
        row = in_force.get(view.assistant)
        first = row.upto_seq if row else 0
        log = (message for message in evidence.messages if message.assistant == view.assistant)
        meant = tuple(m.seq for m in log if m.seq > first and m.role != EXCUSE)
        marker = row.id if row else None
        if (view.marker, view.seqs) != (marker, meant):
            words = f"{view.marker} and {view.seqs} are in view, not {marker} and {meant}"
            found.append(Violation("P3", view.assistant, words))
    return found


def check_journal_of_summaries(evidence: Evidence) -> list[Violation]:
    """Check that the journal holds the newest summary of each talk, once, and no digest.

    An older entry with the same words counts.
    """
    found = []
    meant: dict[tuple[str, str], str] = {}
    for row in evidence.compactions:
        for key, text in {} if row.undone else row.memories.items():
            meant[row.assistant, key] = text
    texts = {(entry.assistant, entry.text) for entry in evidence.entries}
    for (assistant, key), text in meant.items():
        if (assistant, text) not in texts:
            found.append(Violation("P3", assistant, f"the journal has no summary for {key}"))
    seen = set()
    for entry in evidence.entries:
        key = PUBLIC if entry.audience is None else ",".join(sorted(entry.audience))
        place = entry.assistant, key
        if entry.id.startswith(PREFIX) and (meant.get(place) != entry.text or place in seen):
            words = f"the journal has {entry.id}, which is not the newest summary for {key}"
            found.append(Violation("P3", entry.assistant, words))
        seen |= {place} if entry.id.startswith(PREFIX) else set()
    return found


def check_compactions_progress(evidence: Evidence) -> list[Violation]:
    """Check that each compaction in force sums up at least one message after the one before."""
    found = []
    last: dict[str, int] = {}
    for row in evidence.compactions:
        if row.undone:
            continue
        if not last.get(row.assistant, 0) < row.from_seq <= row.upto_seq:
            words = f"compaction {row.id} of {row.from_seq} to {row.upto_seq} made no progress"
            found.append(Violation("P4", row.assistant, words))
        last[row.assistant] = row.upto_seq
    return found

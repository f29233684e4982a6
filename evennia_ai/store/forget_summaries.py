"""Rewriting summaries without somebody's words, by rule, from the lines that are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evennia_ai import models
from evennia_ai.messages import EXCUSE, Message
from evennia_ai.policy.amendments import amend
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.compaction.digest import COUNTED, make_digest, prefix_hash
from evennia_ai.policy.compaction.plan import SUMMARY_ROOM
from evennia_ai.policy.context.projection import part_key, split_by_audience
from evennia_ai.policy.facts.check import Fact, as_bullets, distinct, facts_in
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.conversation import MASK
from evennia_ai.store.forget_rows import Traces
from evennia_ai.store.lines import amended_at
from evennia_ai.store.rows import delete_rows, message_from_row

PAGE = 100
DIGEST = "digest"


def rewrite_summaries(traces: Traces) -> Iterator[None]:
    """Rewrite every part of a summary that may hold the words of some people; in steps.

    An assistant's compactions are rewritten oldest first, since each continues the one before. A
    compaction that does not say whose words it holds is deleted if its assistant heard them.
    """
    rows = traces.rows(models.Compaction).exclude(reason=MASK).order_by("id")
    texts: dict[int, dict[str, str]] = {}
    for id_ in list(rows.values_list("id", flat=True)):
        yield
        row = models.Compaction.objects.get(id=id_)
        if row.summary and not row.speakers and row.assistant_id in traces.assistants:
            delete_compaction(row)
            continue
        parts = [key for key in row.summary if holds_words(row, key, traces)]
        if parts:
            yield from rewrite(row, parts, traces, texts.get(row.previous_id or 0, {}))
        texts[id_] = dict(row.summary)


def holds_words(row: models.Compaction, key: str, traces: Traces) -> bool:
    """Return True if a part of a summary may hold the words of these people."""
    speakers = row.speakers.get(key, ())
    return not traces.people.isdisjoint(speakers) or traces.words.is_in(row.summary[key])


def delete_compaction(row: models.Compaction) -> None:
    """Delete a compaction; its messages come back into view."""
    with brief_transaction():
        models.Compaction.objects.filter(previous_id=row.id).update(previous=row.previous_id)
        delete_rows(models.Compaction, [row.id])


def rewrite(
    row: models.Compaction, parts: list[str], traces: Traces, before: dict[str, str]
) -> Iterator[None]:
    """Replace some parts of a summary by a digest of the lines that are left, and store it.

    ``before`` has the parts of the compaction before it. The journal's entries of this summary are
    written anew soon after, and on the budget of one of these people a model may write it better.
    """
    left, hashed = Left(parts), list[tuple[int, str, str]]()
    now, then = amended_at(row.assistant_id), amended_at(row.assistant_id, row.at)
    for page in messages_left(row, traces):
        yield
        for message in amend(page, now):
            left.add(message)
        shown = amend(page, then)
        hashed += [(m["metadata"]["seq"], m["role"], m["content"]) for m in shown]
    for key in parts:
        yield
        row.summary[key] = left.digest(key, before.get(key, ""))
        others = set(row.speakers.get(key, ())) - traces.people
        row.speakers[key] = sorted(others | left.speakers[key])
    row.prefix_hash = prefix_hash(hashed)
    row.summary_token_count = sum(map(estimate_tokens, row.summary.values()))
    row.rung, row.archived = DIGEST, False
    row.facts_found = row.facts_kept = row.facts_rescued = 0
    row.owed_by = min(traces.people) if row.undone_at is None else ""
    with brief_transaction():
        row.save()


def messages_left(row: models.Compaction, traces: Traces) -> Iterator[list[Message]]:
    """Yield the messages that a compaction evicted and that stay in the log, in pages."""
    last = row.from_seq - 1
    rows = models.Message.objects.filter(assistant_id=row.assistant_id, id__lte=row.upto_seq)
    rows = rows.exclude(role=EXCUSE).order_by("id")
    while page := list(rows.filter(id__gt=last)[:PAGE]):
        last = page[-1].id
        yield [message_from_row(one) for one in page if one.id not in traces.messages]


class Left:
    """What is left of the evicted messages, for some parts of a summary."""

    def __init__(self, parts: list[str]) -> None:
        self.messages: dict[str, list[Message]] = {key: [] for key in parts}
        self.facts: dict[str, list[Fact]] = {key: [] for key in parts}
        self.speakers: dict[str, set[str]] = {key: set() for key in parts}

    def add(self, message: Message) -> None:
        """Add one message, if it belongs to one of the parts."""
        key = part_key(audience_of(message))
        if key in self.messages:
            self.messages[key].append(message)
            self.facts[key] += facts_in(message)
            self.speakers[key].update({message["metadata"].get("speaker", "")} - {""})

    def digest(self, key: str, before: str) -> str:
        """Return one part, continued from the part of the compaction before."""
        bullets = as_bullets(distinct(self.facts[key]), SUMMARY_ROOM)
        return make_digest(self.messages[key], before, bullets, SUMMARY_ROOM)


def owed_summaries() -> list[tuple[int, int, str]]:
    """Return the summaries that a model may still rewrite: id, assistant, and who pays."""
    rows = models.Compaction.objects.exclude(owed_by="").order_by("id")
    return list(rows.values_list("id", "assistant_id", "owed_by"))


def owed_parts(id_: int) -> dict[str, tuple[list[Message], str]]:
    """Return the messages of each digest in a summary, and the text that it continues.

    Empty if the compaction is not in force, or a later one continues it.
    """
    row = models.Compaction.objects.get(id=id_)
    later = models.Compaction.objects.filter(previous_id=id_, undone_at=None)
    if row.undone_at or later.exists():
        return {}
    before = row.previous.summary if row.previous else {}
    digests = [key for key, text in row.summary.items() if text.startswith(COUNTED)]
    rows = models.Message.objects.filter(
        assistant_id=row.assistant_id, id__gte=row.from_seq, id__lte=row.upto_seq
    )
    stored = (message_from_row(one) for one in rows.exclude(role=EXCUSE).order_by("id"))
    messages = amend(stored, amended_at(row.assistant_id))
    parts = split_by_audience(messages)
    return {key: (parts[key], before.get(key, "")) for key in digests if key in parts}


def pay_summary(id_: int, parts: Mapping[str, str], rung: str) -> None:
    """Store the parts that a model rewrote, if any; raises StoreUnavailable."""
    with brief_transaction():
        for row in models.Compaction.objects.filter(id=id_):
            row.summary |= {key: text for key, text in parts.items() if key in row.summary}
            row.owed_by = ""
            if parts:
                row.rung, row.archived = rung, False
                row.summary_token_count = sum(map(estimate_tokens, row.summary.values()))
            row.save()

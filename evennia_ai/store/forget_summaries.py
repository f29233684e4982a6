"""Rewriting summaries without somebody's words, by rule, from the lines that are left."""

from collections import defaultdict
from collections.abc import Iterator

from evennia_ai import models
from evennia_ai.messages import EXCUSE, Message
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.compaction.plan import SUMMARY_ROOM
from evennia_ai.policy.compaction.summary import make_digest
from evennia_ai.policy.context.projection import part_key
from evennia_ai.policy.facts.check import Fact, as_bullets, distinct, facts_in
from evennia_ai.policy.log_lines import amend
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.conversation import MASK
from evennia_ai.store.forget_rows import Traces
from evennia_ai.store.forget_words import PAGE
from evennia_ai.store.lines import amended_at
from evennia_ai.store.rows import delete_rows, message_from_row

DIGEST = "digest"


def rewrite_summaries(traces: Traces) -> Iterator[int]:
    """Rewrite every part of a summary that may hold the words of some people; yields 0 at times.

    An assistant's compactions are rewritten oldest first, since each continues the one before. A
    compaction that does not say whose words it holds is deleted if its assistant heard them.
    """
    rows = traces.rows(models.Compaction).exclude(reason=MASK).order_by("id")
    texts: dict[int, dict[str, str]] = {}
    for id_ in list(rows.values_list("id", flat=True)):
        yield 0
        row = models.Compaction.objects.get(id=id_)
        if row.summary and not row.speakers and row.assistant_id in traces.assistants:
            delete_compaction(row)
            continue
        theirs = [key for key in row.summary if _holds_words(row, key, traces)]
        if theirs:
            yield from rewrite(row, theirs, traces, texts.get(row.previous_id or 0, {}))
        texts[id_] = dict(row.summary)


def _holds_words(row: models.Compaction, key: str, traces: Traces) -> bool:
    speakers = row.speakers.get(key, ())
    return not traces.people.isdisjoint(speakers) or traces.words.is_in(row.summary[key])


def delete_compaction(row: models.Compaction) -> None:
    """Delete a compaction; its messages come back into view."""
    with brief_transaction():
        models.Compaction.objects.filter(previous_id=row.id).update(previous=row.previous_id)
        delete_rows(models.Compaction, [row.id])


def rewrite(
    row: models.Compaction, theirs: list[str], traces: Traces, before: dict[str, str]
) -> Iterator[int]:
    """Replace some parts of a summary by a digest of the lines that are left, and store it.

    ``before`` has the parts of the compaction before it. The journal's entries of this summary are
    written anew soon after.
    """
    messages: dict[str, list[Message]] = defaultdict(list)
    facts: dict[str, list[Fact]] = defaultdict(list)
    for page in evicted(row):
        yield 0
        for message in page:
            key = part_key(audience_of(message))
            if key in theirs and message["metadata"]["seq"] not in traces.messages:
                messages[key].append(message)
                facts[key] += facts_in(message)
    for key in theirs:
        yield 0
        bullets = as_bullets(distinct(facts[key]), SUMMARY_ROOM)
        row.summary[key] = make_digest(messages[key], before.get(key, ""), bullets, SUMMARY_ROOM)
        heard = {message["metadata"].get("speaker", "") for message in messages[key]} - {""}
        row.speakers[key] = sorted(heard.union(row.speakers.get(key, ())) - traces.people)
    row.prefix_hash, row.rung, row.archived = "", DIGEST, False
    row.facts_found = row.facts_kept = row.facts_rescued = 0
    row.summary_token_count = sum(map(estimate_tokens, row.summary.values()))
    with brief_transaction():
        row.save()


def evicted(row: models.Compaction) -> Iterator[list[Message]]:
    """Yield the messages that a compaction evicted, as they are shown now, in pages."""
    rows = models.Message.objects.filter(
        assistant_id=row.assistant_id, id__gte=row.from_seq, id__lte=row.upto_seq
    )
    rows = rows.exclude(role=EXCUSE).order_by("id")
    ids, amended = list(rows.values_list("id", flat=True)), amended_at(row.assistant_id)
    for start in range(0, len(ids), PAGE):
        page = rows.filter(id__in=ids[start : start + PAGE])
        yield amend((message_from_row(one) for one in page), amended)

"""The last step of the ladder: only the last turn of the conversation, and what is pinned, stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.compaction.digest import count_line
from evennia_ai.policy.compaction.plan import Skip, plan_last_turn
from evennia_ai.policy.context.projection import Sizes, part_audience, part_sizes, split_by_audience
from evennia_ai.policy.facts.check import Fact, gather
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps, pause
from evennia_ai.sleep.compaction.fact_check import SummaryPart, check_facts, find_facts
from evennia_ai.sleep.compaction.ladder import LAST
from evennia_ai.sleep.compaction.request import CompactionTask


def tokens_after(script: Script, parts: Mapping[str, SummaryPart], upto_seq: int) -> int:
    """Return the tokens of the largest projection after a compaction, with later messages."""
    sizes = Sizes()
    count = partial(count_message, count_text=script.count_text)
    texts = {key: part.text for key, part in parts.items()}
    for key, tokens in part_sizes(texts, count).items():
        sizes.add(part_audience(key), tokens)
    for message in script.conversation.current.messages:
        if message["metadata"]["seq"] > upto_seq:
            sizes.add(audience_of(message), stored_tokens(message))
    return sizes.largest(script.config.discretion)


@inlineCallbacks
def keep_last_turn(
    script: Script, task: CompactionTask, parts: Mapping[str, SummaryPart]
) -> Steps[tuple[CompactionTask, dict[str, SummaryPart]]]:
    """Evict all but the last turn, and drop the summaries in favour of the facts that fit.

    Fires with the task, cut anew, and its parts: a count of messages each, with facts below it.
    """
    messages, cut = task.messages, task.plan.cut
    plan = plan_last_turn(messages, task.limits, stored_tokens)
    last = task if isinstance(plan, Skip) else replace(task, plan=plan)
    evicted = split_by_audience(last.evicted)
    more = split_by_audience(messages[cut : last.plan.cut])
    bare = {
        key: SummaryPart(count_line(evicted.get(key, ())), LAST) for key in {**parts, **evicted}
    }
    room = fact_room(script, bare, last)
    kept: dict[str, SummaryPart] = {}
    for key, part in bare.items():
        before = parts.get(key, part)
        found: tuple[Fact, ...] = yield find_facts(script, more.get(key, ()))
        new = gather([*before.new, *found])
        kept[key] = check_facts(part, before.facts, new, room)
        yield pause(script.services.slices.put)
    return last, kept


def fact_room(script: Script, bare: Mapping[str, SummaryPart], task: CompactionTask) -> int:
    """Return the tokens left for the facts of one part, shared by the parts one listener sees."""
    shown = Sizes()
    for key in bare:
        shown.add(part_audience(key), 1)
    left = task.limits.target_tokens - tokens_after(script, bare, task.last_seq)
    most = max(1, shown.largest(script.config.discretion))
    return max(0, min(task.limits.summary_room, left // most))

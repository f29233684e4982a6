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
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps, pause
from evennia_ai.sleep.compaction.fact_check import SummaryPart, check_facts
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
    return sizes.largest()


@inlineCallbacks
def keep_last_turn(
    script: Script, task: CompactionTask, parts: Mapping[str, SummaryPart]
) -> Steps[tuple[CompactionTask, dict[str, SummaryPart]]]:
    """Evict all but the last turn, and drop the summaries.

    Fires with the task, cut anew, and its parts: a count of messages each.
    """
    plan = plan_last_turn(task.messages, task.limits, stored_tokens)
    last = task if isinstance(plan, Skip) else replace(task, plan=plan)
    evicted = split_by_audience(last.evicted)
    kept: dict[str, SummaryPart] = {}
    for key in {**parts, **evicted}:
        messages = evicted.get(key, ())
        part = SummaryPart(count_line(messages), LAST)
        kept[key] = yield check_facts(script, part, messages, part_audience(key))
        yield pause(script.services.slices.put)
    return last, kept

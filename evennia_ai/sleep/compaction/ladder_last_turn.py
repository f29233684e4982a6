"""Whether a compaction makes room (P4), and the last rung of the ladder: nothing of the talk stays
but its last turn; what is pinned stands in every prompt in any case."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.messages import Message
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.compaction.digest import count_line
from evennia_ai.policy.compaction.plan import CompactionLimits, CompactionPlan, Skip, plan_last_turn
from evennia_ai.policy.context.projection import Sizes, part_audience, part_sizes, split_by_audience
from evennia_ai.policy.facts.check import Fact, gather
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.scheduling import pause
from evennia_ai.sleep.compaction.fact_check import Summed, check_facts, find_facts
from evennia_ai.sleep.compaction.ladder import LAST


def tokens_after(script: Any, parts: Mapping[str, Summed], upto_seq: int) -> int:
    """What the largest projection of the talk would take after a compaction up to a message, what
    arrived meanwhile with it."""
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
    script: Any,
    messages: Sequence[Message],
    plan: CompactionPlan,
    parts: Mapping[str, Summed],
    limits: CompactionLimits,
) -> Generator[Deferred[Any], Any, tuple[CompactionPlan, dict[str, Summed]]]:
    """The last rung: summaries give way, and of the facts those below them that find room.

    Args:
        script: the assistant.
        messages: those in view when the compaction began.
        plan: where they were cut.
        parts: the summaries that are too long.
        limits: see `CompactionLimits`.

    Fires with the plan and the parts that take their place.
    """
    last = plan_last_turn(messages, limits, stored_tokens)
    if isinstance(last, Skip):
        last = plan
    gone = split_by_audience(messages[: last.cut])
    more = split_by_audience(messages[plan.cut : last.cut])
    bare = {key: Summed(count_line(gone.get(key, ())), LAST) for key in {**parts, **gone}}
    room = fact_room(script, bare, messages[last.cut - 1]["metadata"]["seq"], limits)
    kept: dict[str, Summed] = {}
    for key, part in bare.items():
        before = parts.get(key, part)
        found: tuple[Fact, ...] = yield find_facts(script, more.get(key, ()))
        new = gather([*before.new, *found])
        kept[key] = check_facts(part, before.facts, new, room)
        yield pause(script.services.slices.put)
    return last, kept


def fact_room(
    script: Any, bare: Mapping[str, Summed], upto_seq: int, limits: CompactionLimits
) -> int:
    """The room that is left for the facts of one part, in tokens, by how many parts the listener
    with the most is shown."""
    shown = Sizes()
    for key in bare:
        shown.add(part_audience(key), 1)
    left = limits.target_tokens - tokens_after(script, bare, upto_seq)
    most = max(1, shown.largest(script.config.discretion))
    return max(0, min(limits.summary_room, left // most))

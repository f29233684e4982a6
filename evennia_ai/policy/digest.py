"""What stands in the place of old talk where no model sums it up: nothing is invented, little is
lost that can be counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from evennia_ai.messages import Message

ROLES = (("user", "heard"), ("assistant", "said or done"), ("tool", "results"))
FACTS = "Facts:"
COUNTED = "[Compacted "


def count_line(messages: Sequence[Message]) -> str:
    """How many messages of which kind went."""
    roles = Counter(message["role"] for message in messages)
    kinds = ", ".join(f"{roles[role]} {kind}" for role, kind in ROLES if roles[role])
    return f"{COUNTED}{len(messages)} messages: {kinds}]"


def make_digest(messages: Sequence[Message], previous: str) -> str:
    """A summary without a model: what was summed up before, and how much went now."""
    before = "\n".join(line for line in previous.splitlines() if not line.startswith(COUNTED))
    return "\n".join(filter(None, (count_line(messages), before.strip())))


def with_facts(text: str, facts: Iterable[str]) -> str:
    """A summary with facts below it, each on a line of its own."""
    lines = [f"- {fact}" for fact in facts]
    return "\n".join([text, FACTS, *lines]) if lines else text


def without_facts(text: str) -> str:
    """A summary without the facts below it."""
    return text.partition(f"\n{FACTS}\n")[0]

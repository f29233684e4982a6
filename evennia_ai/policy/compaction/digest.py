"""What stands in the place of old talk where no model sums it up: nothing is invented, little is
lost that can be counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from evennia_ai.messages import Message

ROLES = (("user", "heard"), ("assistant", "said or done"), ("tool", "results"))
FACTS = "Facts:"
COUNTED = "[Compacted "
UNDER_WAY = "The turn under way, so far:"


def count_line(messages: Sequence[Message]) -> str:
    """How many messages of which kind went; empty where none did."""
    if not messages:
        return ""
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


def prefix_hash(rows: Iterable[tuple[int, str, str]]) -> str:
    """A fingerprint of what was summed up, which tells whether the log under a summary is still the
    same. Of tools' results it holds only that they are there: in view they may be masked.

    Args:
        rows: sequence number, role and content of each message, in their order.
    """
    found = hashlib.sha256()
    for seq, role, content in rows:
        said = "" if role == "tool" else content
        found.update(f"{seq} {role} {len(said)} {said}\n".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def with_turn(text: str, turn: str) -> str:
    """A summary with that of a turn's beginning below it, under a heading of its own."""
    return "\n".join(filter(None, (text, turn and f"{UNDER_WAY}\n{turn}")))


def split_turn(text: str) -> tuple[str, str]:
    """A summary without the facts below it, and the summary of a turn's beginning that stands at
    its end; either may be empty."""
    before, mark, turn = f"\n{text}".rpartition(f"\n{UNDER_WAY}\n")
    return (before.strip(), turn) if mark else (text, "")

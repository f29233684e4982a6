"""The deterministic summary: counts and facts, made without a model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from evennia_ai.messages import Message
from evennia_ai.policy.tokens import estimate_tokens

ROLES = (("user", "heard"), ("assistant", "said or done"), ("tool", "results"))
FACTS = "Facts:"
COUNTED = "[Compacted "
UNDER_WAY = "The turn under way, so far:"


def count_line(messages: Sequence[Message]) -> str:
    """Return a line with the numbers of evicted messages by role, empty for none."""
    if not messages:
        return ""
    roles = Counter(message["role"] for message in messages)
    kinds = ", ".join(f"{roles[role]} {kind}" for role, kind in ROLES if roles[role])
    return f"{COUNTED}{len(messages)} messages: {kinds}]"


def make_digest(
    messages: Sequence[Message], previous: str, facts: Sequence[str] = (), room_tokens: int = 0
) -> str:
    """Return a summary without a model: a count line, the previous summary, and facts below it."""
    # The newest of the previous and the new facts stay, as many as the room has left.
    before, _, old = previous.partition(f"\n{FACTS}\n")
    lines = [line for line in before.splitlines() if not line.startswith(COUNTED)]
    text = "\n".join(filter(None, (count_line(messages), "\n".join(lines).strip())))
    bullets = list(dict.fromkeys([*old.splitlines(), *(f"- {fact}" for fact in facts)]))
    kept = newest_within(bullets, room_tokens - estimate_tokens(text))
    return "\n".join([text, FACTS, *kept]) if kept else text


def newest_within(lines: Sequence[str], tokens: int) -> list[str]:
    """Return the newest lines that fit a budget in tokens."""
    kept: list[str] = []
    for line in reversed(lines):
        tokens -= estimate_tokens(line) + 1
        if tokens < 0:
            break
        kept.insert(0, line)
    return kept


def prefix_hash(rows: Iterable[tuple[int, str, str]]) -> str:
    """Return a hash of (seq, role, content) of evicted messages, to tell if the log changed."""
    found = hashlib.sha256()
    for seq, role, content in rows:
        said = "" if role == "tool" else content  # since it may be masked
        found.update(f"{seq} {role} {len(said)} {said}\n".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def with_turn(text: str, turn: str) -> str:
    """Return a summary with that of a turn's beginning below it, under its own heading."""
    return "\n".join(filter(None, (text, turn and f"{UNDER_WAY}\n{turn}")))


def split_turn(text: str) -> tuple[str, str]:
    """Split the summary of a turn's beginning off a summary; both may be empty."""
    before, mark, turn = f"\n{text}".rpartition(f"\n{UNDER_WAY}\n")
    return (before.strip(), turn) if mark else (text, "")

"""What a life finds in view when it begins, beside what the one before had when it was killed."""

from __future__ import annotations

from typing import Any

from tests.crash.child_rows import Facts
from tests.invariants import CompactionRow, Evidence, MessageRow, ViewRow, Violation, check_views


def check_start(
    facts: Facts, life: int, messages: list[MessageRow], compactions: list[CompactionRow]
) -> list[Violation]:
    """What a model would be shown after a start follows from the rows that were left; and where no
    operation was half done when the process died, it is to the last word what it was then, facts
    out of view and all that can be called to mind among it.

    Args:
        facts: of the whole game so far.
        life: that which has just been lived.
        messages: the logs as the life before left them.
        compactions: likewise.
    """
    broken = []
    lost = {fact["assistant"]: fact for fact in facts["view lost"] if fact["life"] == life - 1}
    for fact in (fact for fact in facts["view found"] if fact["life"] == life):
        view = ViewRow(fact["assistant"], fact["marker"], tuple(fact["seqs"]))
        evidence = Evidence(messages=messages, compactions=compactions, views=[view])
        broken += check_views(evidence)
        broken += differences(fact["assistant"], lost.get(fact["assistant"]), fact)
    return broken


def differences(assistant: str, lost: Any, found: Any) -> list[Violation]:
    """Where a view is not what it was; nothing where that is not known."""
    if lost is None:
        return []
    return [
        Violation("P3", assistant, f"{name} of its view was {lost[name]!r} and is {found[name]!r}")
        for name in found
        if name != "life" and lost[name] != found[name]
    ]

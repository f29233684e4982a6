"""Compare what is in view at a start with what was in view at the kill."""

from typing import Any

from tests.crash.child_rows import Facts
from tests.invariants import CompactionRow, Evidence, MessageRow, ViewRow, Violation, check_views


def check_start(
    facts: Facts, life: int, messages: list[MessageRow], compactions: list[CompactionRow]
) -> list[Violation]:
    """Check that the view after a start follows from the stored rows.

    If no operation was half done at the kill, the view must also equal the one before, with its
    summaries.

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
    """Return where a view differs; nothing if the earlier view is unknown."""
    if lost is None:
        return []
    return [
        Violation("P3", assistant, f"{name} of its view was {lost[name]!r} and is {found[name]!r}")
        for name in found
        if name != "life" and lost[name] != found[name]
    ]

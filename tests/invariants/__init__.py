"""The promises of the design as checks over plain rows.

Each check takes the `Evidence` of a game at rest, in which nobody waits and nothing is under way.
It returns one `Violation` for each broken promise; an empty list means that the promise was kept.
The simulation and the crash campaigns fill in the same rows, each with what it can see.
"""

from collections.abc import Callable

from tests.invariants.acts import (
    check_intents,
    check_lease,
    check_nothing_twice,
    check_one_answer,
    check_unknown_stays_undone,
)
from tests.invariants.confidence import check_confidence, check_confidence_of_memory
from tests.invariants.evidence import (
    ActRow,
    Audience,
    CompactionRow,
    Deed,
    EntryRow,
    EventRow,
    Evidence,
    MessageRow,
    Put,
    RequestRow,
    TurnRow,
    ViewRow,
    Violation,
)
from tests.invariants.history import (
    check_append_only,
    check_compactions_progress,
    check_deeds_are_logged,
    check_journal_of_summaries,
    check_nothing_falls_between,
    check_order_of_log,
    check_records,
    check_views,
)
from tests.invariants.speech import check_logged_once, check_named_by_turns, check_nothing_is_lost
from tests.invariants.turns import (
    check_nothing_after_the_end,
    check_one_thought_at_a_time,
    check_one_turn_at_a_time,
)
from tests.invariants.words import check_refused_words, check_words_only

__all__ = [
    "ActRow",
    "Audience",
    "CompactionRow",
    "Deed",
    "EntryRow",
    "EventRow",
    "Evidence",
    "MessageRow",
    "Put",
    "RequestRow",
    "TurnRow",
    "ViewRow",
    "Violation",
    "check_append_only",
    "check_records",
    "check_views",
    "violations",
]

Check = Callable[[Evidence], list[Violation]]

CHECKS: tuple[Check, ...] = (
    check_nothing_is_lost,
    check_logged_once,
    check_named_by_turns,
    check_intents,
    check_nothing_twice,
    check_one_answer,
    check_unknown_stays_undone,
    check_lease,
    check_order_of_log,
    check_deeds_are_logged,
    check_nothing_falls_between,
    check_views,
    check_journal_of_summaries,
    check_compactions_progress,
    check_one_turn_at_a_time,
    check_one_thought_at_a_time,
    check_nothing_after_the_end,
    check_confidence,
    check_confidence_of_memory,
    check_words_only,
    check_refused_words,
)


def violations(evidence: Evidence) -> list[Violation]:
    """Return everything that breaks a promise."""
    return [violation for check in CHECKS for violation in check(evidence)]

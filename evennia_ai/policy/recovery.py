"""What becomes of the events of a turn that came to no end of its own."""

from __future__ import annotations

from collections.abc import Iterable

SPEECH = frozenset({"say", "whisper"})
WAITING, DOUBTFUL, ANSWERED = "waiting", "doubtful", "answered"


def state_after_loss(acts: Iterable[tuple[str, str]], was_doubtful: bool = False) -> str:
    """The state of a lost turn's events, from its acts as (name, state).

    Words that were certainly said answered them; words that may have been said leave them
    doubtful, to be closed by an excuse; otherwise they wait for a new turn. What was doubtful
    before (``was_doubtful``) stays so: its excuse alone was lost.
    """
    speech = {state for name, state in acts if name in SPEECH}
    if "done" in speech:
        return ANSWERED
    return DOUBTFUL if was_doubtful or "intended" in speech else WAITING

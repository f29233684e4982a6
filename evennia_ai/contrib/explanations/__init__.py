"""Why a character said a line: ``aiwhy``, and the prompts on the staff pages."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from evennia_ai.contrib.explanations import why
from evennia_ai.contrib.explanations.aiwhy import CmdAIWhy
from evennia_ai.extension import Extension


class ExplanationsExtension(Extension):
    """Rebuilds prompts from the log, and finds the source of each sentence that was said."""

    name = "explanations"

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIWhy,)

    def explain_turn(self, turn_id: int, own_name: str) -> Sequence[why.Explanation]:
        """Return why each line of a turn was said; ``own_name`` is the character's."""
        return why.explain_turn(turn_id, [own_name])

    def explain_compaction(
        self, assistant_id: int, compaction_id: int, at: datetime, own_name: str
    ) -> Sequence[why.Explanation]:
        """Return what the summary of a compaction was made of, by model call."""
        calls = why.calls_of_compaction(assistant_id, compaction_id, at)
        return [why.explain_call(call, [own_name]) for call in calls]


EXTENSION = ExplanationsExtension

"""What an assistant calls to mind of talk that is out of view: the facts nearest to what is said.

Selection by audience comes first, ranking after it (P9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evennia_ai.events import Audience
from evennia_ai.policy.audience import visible
from evennia_ai.policy.facts import Fact, bullet_of
from evennia_ai.policy.relevance import content_words, score_documents
from evennia_ai.policy.tokens import estimate_tokens


class Recall:
    """Facts that can be called to mind, made ready once for many questions.

    ``parts`` are facts by whom they are for, None for everybody.
    """

    def __init__(self, parts: Mapping[Audience | None, Sequence[Fact]]) -> None:
        self._items: dict[tuple[Audience | None, str], list[str]] = {}
        for audience, facts in parts.items():
            for fact in facts:
                bullet = bullet_of(fact)
                words = content_words(" ".join((bullet, *fact.terms)))
                self._items.setdefault((audience, bullet), words)

    def call(
        self, talk: str, audience: Audience, budget_tokens: int, discretion: str = "strict"
    ) -> list[tuple[str, bool]]:
        """The facts nearest to the talk that this audience may know, nearest first.

        Args:
            talk: what is being said.
            audience: who will hear the answer.
            budget_tokens: the room for them.
            discretion: ``trusting`` lets everybody know everything.

        Returns:
            Each fact as a line, with True where only this audience may know of it.
        """
        allowed = [
            (line, heard_by is not None, words)
            for (heard_by, line), words in self._items.items()
            if discretion == "trusting" or visible(heard_by, audience)
        ]
        scores = score_documents(talk, [words for _, _, words in allowed])
        ranked = sorted(
            (number for number, score in enumerate(scores) if score > 0),
            key=lambda number: -scores[number],
        )
        chosen: list[tuple[str, bool]] = []
        for number in ranked:
            line, private, _words = allowed[number]
            cost = estimate_tokens(line)
            if cost <= budget_tokens:
                budget_tokens -= cost
                chosen.append((line, private))
        return chosen

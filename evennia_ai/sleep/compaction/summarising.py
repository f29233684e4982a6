"""Summarise what a compaction evicts: one part for each audience.

A part is made of its audience's messages and its own earlier part. If the cut goes through a turn,
the evicted beginning of that turn gets a summary of its own below the rest, which is updated until
the turn ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Message
from evennia_ai.policy.authors import of_messages, of_parts
from evennia_ai.policy.compaction.digest import make_digest, split_turn, with_turn
from evennia_ai.policy.compaction.summary import is_shorter_than_its_summary, transcript_lines
from evennia_ai.policy.context.projection import part_audience, split_by_audience
from evennia_ai.policy.facts.check import Fact, as_bullets
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import Identity, Settings, Slices
from evennia_ai.scheduling import Clock, Steps, pause
from evennia_ai.sleep.compaction.fact_check import FactCheck, SummaryPart
from evennia_ai.sleep.compaction.ladder import DIGEST, SUMMARY, Material, SummaryLadder, worst_of
from evennia_ai.sleep.compaction.request import (
    MANUAL,
    OVERFLOW,
    STRIKES,
    CompactionRequest,
    CompactionTask,
)
from evennia_ai.turn.llm_interaction import SummaryTerms

ASKED_AGAIN_EVERY = 4
TURN_PART = 0.25  # of a part's limit, for the beginning of a turn


@dataclass(frozen=True)
class Evicted:
    """Messages that leave one audience's view: whole turns, and the beginning of one that stays."""

    older: Sequence[Message] = ()
    begun: Sequence[Message] = ()

    @property
    def messages(self) -> list[Message]:
        """Return all of them."""
        return [*self.older, *self.begun]


class PartSummaries:
    """Summarises what a compaction evicts, once for each audience.

    ``strikes`` are the compactions in a row that had no summary.
    """

    def __init__(
        self,
        who: Identity,
        settings: Settings,
        ladder: SummaryLadder,
        facts: FactCheck,
        clock: Clock,
        slices: Slices,
    ) -> None:
        self._who, self._settings, self._ladder, self._facts = who, settings, ladder, facts
        self._clock, self._put = clock, slices.put

    @inlineCallbacks
    def summarise(self, task: CompactionTask, strikes: int) -> Steps[dict[str, SummaryPart] | None]:
        """Summarise the evicted messages, once for each audience, on from its earlier part.

        Fires with the parts; a part without new messages is unchanged. Fires with None if a part
        could not be summarised and may be tried again later.
        """
        request, earlier, room = task.request, task.view.record, task.limits.summary_room
        texts = earlier.summary if earlier else {}
        parts = {key: SummaryPart(text, SUMMARY) for key, text in texts.items()}
        deadline_at, speakers = self._deadline_of(request), earlier.speakers if earlier else {}
        for key, evicted in split_task(task).items():
            authors = of_messages(evicted.messages) | of_parts(speakers, texts.keys() & {key})
            terms = SummaryTerms(
                room, deadline_at=deadline_at, audience=part_audience(key), authors=authors
            )
            part: SummaryPart | None = yield self._sum_up(
                request, evicted, texts.get(key, ""), terms, strikes
            )
            if part is None:
                return None
            yield pause(self._put)
            parts[key] = yield self._facts.check(part, evicted.messages, part_audience(key))
            yield pause(self._put)
        return parts

    def _deadline_of(self, request: CompactionRequest) -> float | None:
        """Return the clock's second to stop asking at: after one turn's time if urgent, else
        None."""
        if not request.is_urgent:
            return None
        return self._clock.seconds() + self._settings.config.turn_deadline

    @inlineCallbacks
    def _sum_up(
        self,
        request: CompactionRequest,
        evicted: Evicted,
        earlier: str,
        terms: SummaryTerms,
        strikes: int,
    ) -> Steps[SummaryPart | None]:
        """Summarise one audience's part. Fires with None to be tried again later."""
        before, turn = split_turn(earlier)
        turn_room = int(TURN_PART * terms.room)
        text, rungs = before, []
        if evicted.older:
            material = Material(
                evicted.older, "\n".join(filter(None, (before, turn))), request.focus
            )
            own = replace(terms, room=terms.room - turn_room if evicted.begun else terms.room)
            text, rung = yield self._segment(request, material, own, strikes)
            rungs, turn = [rung], ""
        if evicted.begun:
            material = Material(evicted.begun, turn, request.focus)
            turn, rung = yield self._segment(
                request, material, replace(terms, room=turn_room), strikes
            )
            rungs.append(rung)
        if not all(rungs):
            return None
        return SummaryPart(with_turn(text, turn), worst_of(rungs))

    @inlineCallbacks
    def _segment(
        self, request: CompactionRequest, material: Material, terms: SummaryTerms, strikes: int
    ) -> Steps[tuple[str, str]]:
        """Summarise one stretch; a stretch shorter than any summary is kept word for word.

        Fires with the summary and its ladder step, both empty if no summary came and it may be
        tried again later.
        """
        tokens = estimate_tokens(material.previous) + sum(map(stored_tokens, material.messages))
        if is_shorter_than_its_summary(tokens):
            lines = transcript_lines(material.messages, self._who.name)
            return "\n".join(filter(None, (material.previous, *lines))), SUMMARY
        if may_ask(request, strikes):
            text, rung = yield self._ladder.climb(material, terms)
            if text:
                return text, rung
        if not request.is_urgent and strikes < STRIKES:
            return "", ""
        facts: tuple[Fact, ...] = yield self._facts.find(material.messages)
        bullets = as_bullets(facts, terms.room)
        return make_digest(material.messages, material.previous, bullets, terms.room), DIGEST


def split_task(task: CompactionTask) -> dict[str, Evicted]:
    """Return the evicted messages by audience, the public part first."""
    messages, plan = task.messages, task.plan
    turn_at = plan.turn_start if plan.splits_turn else plan.cut
    older = split_by_audience(messages[:turn_at])
    begun = split_by_audience(messages[turn_at : plan.cut])
    evicted = {key: Evicted(older.get(key, ()), begun.get(key, ())) for key in {**older, **begun}}
    return {key: found for key, found in evicted.items() if found.older or found.begun}


def may_ask(request: CompactionRequest, strikes: int) -> bool:
    """Return True if a model may be asked for a summary.

    An overflow asks none. After `STRIKES` failures in a row only every `ASKED_AGAIN_EVERY`-th
    compaction asks. An admin's request always does.
    """
    if request.reason == OVERFLOW:
        return False
    return request.reason == MANUAL or strikes < STRIKES or strikes % ASKED_AGAIN_EVERY == 0

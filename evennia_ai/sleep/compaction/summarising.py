"""What stands in the place of old talk: a summary, and the facts below it, apart for each audience.

Every part is made of its audience's messages and of its own earlier part. The beginning of a turn
that the cut goes through is summed up by itself, below the rest, and brought up to date for as long
as that turn lasts.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.messages import Message
from evennia_ai.policy.compaction.digest import (
    make_digest,
    split_turn,
    with_turn,
    without_facts,
)
from evennia_ai.policy.compaction.plan import CompactionPlan
from evennia_ai.policy.compaction.summary import is_shorter_than_its_summary, transcript_lines
from evennia_ai.policy.context.projection import CompactionRecord, part_audience, split_by_audience
from evennia_ai.policy.facts.check import Fact
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.scheduling import pause
from evennia_ai.sleep.compaction.fact_check import (
    Summed,
    ask_for_missing,
    check_facts,
    fact_room,
    find_facts,
    is_worth_asking,
)
from evennia_ai.sleep.compaction.ladder import DIGEST, SUMMARY, Material, climb_ladder, worst_of
from evennia_ai.sleep.compaction.request import MANUAL, OVERFLOW, STRIKES, URGENT, CompactionRequest
from evennia_ai.turn.llm_interaction import SummaryTerms

ASKED_AGAIN_EVERY = 4
TURN_PART = 0.25  # of a part's room, for the beginning of a turn


@dataclass(frozen=True)
class Going:
    """What goes for one audience: whole turns, and the beginning of one that goes on."""

    older: Sequence[Message] = ()
    begun: Sequence[Message] = ()

    @property
    def messages(self) -> list[Message]:
        """All of it."""
        return [*self.older, *self.begun]


@inlineCallbacks
def summarise(
    script: Any,
    order: CompactionRequest,
    messages: Sequence[Message],
    plan: CompactionPlan,
    earlier: CompactionRecord | None,
    room: int,
) -> Generator[Deferred[Any], Any, dict[str, Summed] | None]:
    """Sum up what goes, apart for each audience, each on from its own earlier part.

    Args:
        script: the assistant.
        order: why and how.
        messages: those in view.
        plan: where they are cut.
        earlier: the compaction in force.
        room: tokens that one part may take, its facts included.

    Fires with the parts, those without anything new as they were; None where a part could not be
    summed up and there is time to try again later.
    """
    texts = earlier.summary if earlier else {}
    known = earlier.facts if earlier else {}
    parts = {key: Summed(text, SUMMARY, known.get(key, ())) for key, text in texts.items()}
    terms = SummaryTerms(room, deadline_at=deadline_of(script, order))
    for key, going in apart(messages, plan).items():
        part: Summed | None = yield sum_up(script, order, going, texts.get(key, ""), terms)
        if part is None:
            return None
        new: tuple[Fact, ...] = yield find_facts(script, going.messages)
        yield pause(script.services.slices.put)
        if part.rung != DIGEST and order.reason not in URGENT and is_worth_asking(script):
            part = yield ask_for_missing(
                script, part, new, going.messages, part_audience(key), terms
            )
        parts[key] = check_facts(part, known.get(key, ()), new, fact_room(part, room))
        yield pause(script.services.slices.put)
    return parts


def deadline_of(script: Any, order: CompactionRequest) -> float | None:
    """Until when models may be asked, in the clock's seconds: where somebody may wait for an
    answer, for the time of one turn and no longer."""
    if order.reason not in URGENT:
        return None
    return float(script.services.clock.seconds() + script.config.turn_deadline)


def apart(messages: Sequence[Message], plan: CompactionPlan) -> dict[str, Going]:
    """What goes, by whom it is for; the public part first."""
    turn_at = plan.turn_start if plan.splits_turn else plan.cut
    older = split_by_audience(messages[:turn_at])
    begun = split_by_audience(messages[turn_at : plan.cut])
    going = {key: Going(older.get(key, ()), begun.get(key, ())) for key in {**older, **begun}}
    return {key: found for key, found in going.items() if found.older or found.begun}


@inlineCallbacks
def sum_up(
    script: Any, order: CompactionRequest, going: Going, earlier: str, terms: SummaryTerms
) -> Generator[Deferred[Any], Any, Summed | None]:
    """One audience's part, without the facts below it. Fires with it; None where no summary came
    and there is time to try again later."""
    before, turn = split_turn(without_facts(earlier))
    turn_room = int(TURN_PART * terms.room)
    text, rungs = before, []
    if going.older:
        material = Material(going.older, "\n".join(filter(None, (before, turn))), order.focus)
        own = replace(terms, room=terms.room - turn_room if going.begun else terms.room)
        text, rung = yield segment(script, order, material, own)
        rungs, turn = [rung], ""
    if going.begun:
        material = Material(going.begun, turn, order.focus)
        turn, rung = yield segment(script, order, material, replace(terms, room=turn_room))
        rungs.append(rung)
    if not all(rungs):
        return None
    return Summed(with_turn(text, turn), worst_of(rungs))


@inlineCallbacks
def segment(
    script: Any, order: CompactionRequest, material: Material, terms: SummaryTerms
) -> Generator[Deferred[Any], Any, tuple[str, str]]:
    """Sum up one stretch. What is shorter than any summary stays word for word. Fires with the
    summary and its rung, both empty where none came and there is time to try again later."""
    tokens = estimate_tokens(material.previous) + sum(map(stored_tokens, material.messages))
    if is_shorter_than_its_summary(tokens):
        lines = transcript_lines(material.messages, script.character_name)
        return "\n".join(filter(None, (material.previous, *lines))), SUMMARY
    if may_ask(order, script.compaction_strikes):
        text, rung = yield climb_ladder(script, material, terms)
        if text:
            return text, rung
    if order.reason not in URGENT and script.compaction_strikes < STRIKES:
        return "", ""
    return make_digest(material.messages, material.previous), DIGEST


def may_ask(order: CompactionRequest, strikes: int) -> bool:
    """True where a model is asked for a summary: not in an overflow, and after failing twice in a
    row only now and again, until one comes of it. An admin's word always counts."""
    if order.reason == OVERFLOW:
        return False
    return order.reason == MANUAL or strikes < STRIKES or strikes % ASKED_AGAIN_EVERY == 0

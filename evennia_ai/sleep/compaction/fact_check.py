"""Check that a summary keeps the facts of the messages it replaces.

Missing facts are asked for once; those still missing are written below the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import ProviderError
from evennia_ai.messages import Audience, Message
from evennia_ai.policy.compaction.digest import with_facts
from evennia_ai.policy.compaction.summary import repair_request, words_for
from evennia_ai.policy.facts.check import (
    Fact,
    as_bullets,
    facts_in,
    gather,
    holds_more,
    keep_facts,
    missing_facts,
    names_in,
    settle,
)
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps, pause, spread
from evennia_ai.sleep.compaction.ladder import log_problem
from evennia_ai.turn.llm_interaction import SummaryCall, SummaryTerms, ask_for_summary

LEAST_FACT_ROOM = 100
MOST_FACTS = 1_000
REPAIR = "repair"
REPAIR_PART = 0.3  # of a part's limit, for the facts that are asked for


@dataclass(frozen=True)
class SummaryPart:
    """The part of a summary for one audience."""

    text: str  # with facts below it; empty if every ladder step failed
    rung: str  # the ladder step it came from
    facts: tuple[Fact, ...] = ()  # all that are outside the context window for this audience
    new: tuple[Fact, ...] = ()  # those of them that this compaction evicts
    kept: int = 0  # how many of the new facts the summary itself holds
    rescued: int = 0  # how many of them were written below it


@inlineCallbacks
def find_facts(script: Script, messages: Sequence[Message]) -> Steps[tuple[Fact, ...]]:
    """Find facts in slices: 2,000 messages take 0.25 s (measured). Fires with them."""
    name = script.character_name
    known = names_in(messages, (name,))
    found: list[list[Fact]] = yield spread(
        script.services.slices.put, messages, lambda message: facts_in(message, known, name)
    )
    yield pause(script.services.slices.put)
    return gather([fact for facts in found for fact in facts])


def fact_room(part: SummaryPart, limit: int) -> int:
    """Return the tokens for facts below a summary: the rest of its limit, or a small minimum."""
    return max(min(LEAST_FACT_ROOM, limit // 4), limit - estimate_tokens(part.text))


def check_facts(
    part: SummaryPart, known: Sequence[Fact], new: Sequence[Fact], budget_tokens: int
) -> SummaryPart:
    """Return a part with the facts below it that it lacks, the most important first.

    ``known`` facts were outside the context window before; ``new`` ones are evicted now. Facts that
    do not fit into the budget can still be recalled (`policy.facts.recall`).
    """
    facts = keep_facts(settle((*known, *new)), MOST_FACTS)
    lost = missing_facts(new, [part.text])
    text = with_facts(part.text, as_bullets(missing_facts(facts, [part.text]), budget_tokens))
    rescued = len(lost) - len(missing_facts(lost, [text]))
    kept = len(new) - len(lost)
    return replace(part, text=text, facts=facts, new=tuple(new), kept=kept, rescued=rescued)


@inlineCallbacks
def ask_for_missing(
    script: Script,
    part: SummaryPart,
    facts: Sequence[Fact],
    messages: Sequence[Message],
    audience: Audience | None,
    terms: SummaryTerms,
) -> Steps[SummaryPart]:
    """Ask a model once to add the evicted messages' facts that summary, journal and pins lack.

    Fires with the part; its text changes only if the new one holds more facts, lost none, and is
    short enough.
    """
    elsewhere = "\n".join(noted_elsewhere(script, messages, audience))
    lost = missing_facts(facts, [part.text, elsewhere])
    bullets = as_bullets(lost, int(REPAIR_PART * terms.room))
    if not bullets:
        return part
    name, words = script.character_name, max(1, len(part.text.split()))
    most = words_for(terms.room, estimate_tokens(part.text) / words)
    tokens = estimate_tokens(part.text) + sum(map(stored_tokens, messages))
    request = repair_request(name, part.text, bullets, most)
    call = SummaryCall(request, (part.text, *bullets), tokens)
    try:
        text: str | None = yield ask_for_summary(script, call, terms)
    except ProviderError as error:
        log_problem(script, REPAIR, error)
        return part
    yield pause(script.services.slices.put)
    return replace(part, text=text) if text and holds_more(text, part.text, facts) else part


def noted_elsewhere(
    script: Script, messages: Sequence[Message], audience: Audience | None
) -> list[str]:
    """Return the pins, and entries journalled since these messages, that an audience may know."""
    pins = [line.text for line in script.pins(audience)]
    since = str(messages[0]["metadata"].get("at", ""))
    return [*pins, *script.journalled_since(since, audience)]

"""Whether a summary still holds what was said. Nobody else checks this: what is missing is asked
for once, and what is missing then is written below it, word for word."""

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
from evennia_ai.sleep.compaction.ladder import tell
from evennia_ai.turn.llm_interaction import (
    SummaryCall,
    SummaryTerms,
    ask_for_summary,
    effective_profile,
)

LEAST_FACT_ROOM = 100
MOST_FACTS = 1_000
REPAIR = "repair"
REPAIR_PART = 0.3  # of a part's room, for the facts that are asked for


@dataclass(frozen=True)
class Summed:
    """One part of a summary, and the rung of the ladder it came from; no text where all failed.

    ``facts`` are all that are out of view now for this part's audience; ``new`` those of them that
    this compaction took out of view, ``kept`` how many of these the summary holds by itself, and
    ``rescued`` how many were written below it.
    """

    text: str
    rung: str
    facts: tuple[Fact, ...] = ()
    new: tuple[Fact, ...] = ()
    kept: int = 0
    rescued: int = 0


@inlineCallbacks
def find_facts(script: Script, messages: Sequence[Message]) -> Steps[tuple[Fact, ...]]:
    """The facts in messages, found without holding the reactor: 2,000 messages take a quarter of a
    second (measured). Fires with them."""
    name = script.character_name
    known = names_in(messages, (name,))
    found: list[list[Fact]] = yield spread(
        script.services.slices.put, messages, lambda message: facts_in(message, known, name)
    )
    yield pause(script.services.slices.put)
    return gather([fact for facts in found for fact in facts])


def fact_room(part: Summed, room: int) -> int:
    """Tokens for the facts below a summary: what it leaves of its room, and a little in any
    case."""
    return max(min(LEAST_FACT_ROOM, room // 4), room - estimate_tokens(part.text))


def check_facts(
    part: Summed, known: Sequence[Fact], new: Sequence[Fact], budget_tokens: int
) -> Summed:
    """A part with the facts below it that it does not hold by itself, the weightiest first.

    A summary that drops everything costs nothing but room: what does not find room below it can
    still be called to mind (`policy.facts.recall`).

    Args:
        part: a new summary.
        known: facts that were out of view before.
        new: facts in what goes now.
        budget_tokens: the room for those that are missing.
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
    part: Summed,
    facts: Sequence[Fact],
    messages: Sequence[Message],
    audience: Audience | None,
    terms: SummaryTerms,
) -> Steps[Summed]:
    """Have facts put into a summary that are in neither it nor journal nor pins, in one call.

    Args:
        script: the assistant.
        part: a summary that a model wrote.
        facts: those in what goes.
        messages: what goes.
        audience: who may know the part, None for everybody.
        terms: the room for it, whom to ask and until when.

    Fires with the part, its text another one only where that holds more of the facts, lost none,
    and is short enough.
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
        tell(script, REPAIR, error)
        return part
    yield pause(script.services.slices.put)
    return replace(part, text=text) if text and holds_more(text, part.text, facts) else part


def noted_elsewhere(
    script: Script, messages: Sequence[Message], audience: Audience | None
) -> list[str]:
    """What this audience may know of what was pinned, and of what was written into the journal
    since the oldest of these messages."""
    pins = [line.text for line in script.pins(audience)]
    since = str(messages[0]["metadata"].get("at", ""))
    return [*pins, *script.journalled_since(since, audience)]


def is_worth_asking(script: Script) -> bool:
    """True where a language model sums up: the offline brain has given what it can."""
    return effective_profile(script).client != "offline"

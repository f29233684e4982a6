"""What stands in the place of old talk: a ladder of summaries, and the facts below each.

Every part is for one audience, made of its messages and of its own earlier part.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.errors import ContextOverflow, ProviderError, ProviderMisconfigured
from evennia_ai.messages import Message
from evennia_ai.policy.digest import make_digest, with_facts, without_facts
from evennia_ai.policy.facts import (
    Fact,
    as_bullets,
    facts_in,
    gather,
    keep_facts,
    missing_facts,
    names_in,
    settle,
)
from evennia_ai.policy.projection import View, split_by_audience
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.sleep.order import MANUAL, OVERFLOW, STRIKES, URGENT, Order
from evennia_ai.sleep.spread import pause, spread
from evennia_ai.turn.llm_interaction import generate_context_summary

log = Logger()

SUMMARY, CLEARED, CHUNKS, DIGEST = "summary", "cleared", "chunks", "digest"
ASKED_AGAIN_EVERY = 4
LEAST_FACT_ROOM = 200
MOST_FACTS = 1_000


@dataclass(frozen=True)
class Summed:
    """One part of a summary, and the rung of the ladder it came from; no text where all failed.

    ``facts`` are all that are out of view now for this part's audience; ``found`` how many of them
    this compaction took out of view, ``kept`` how many of these the summary holds by itself, and
    ``rescued`` how many were written below it.
    """

    text: str
    rung: str
    facts: tuple[Fact, ...] = ()
    found: int = 0
    kept: int = 0
    rescued: int = 0


@inlineCallbacks
def summarise(
    script: Any, order: Order, view: View, going: Sequence[Message], room: int
) -> Generator[Deferred[Any], Any, dict[str, Summed] | None]:
    """Sum up what goes, apart for each audience, each on from its own earlier part.

    Args:
        script: the assistant.
        order: why and how.
        view: what is in view now.
        going: the messages that go.
        room: tokens that one part may take, its facts included.

    Fires with the parts, those without anything new as they were; None where a part could not be
    summed up and there is time to try again later.
    """
    earlier = dict(view.record.summary) if view.record else {}
    known = dict(view.record.facts) if view.record else {}
    parts = {key: Summed(text, SUMMARY, known.get(key, ())) for key, text in earlier.items()}
    for key, messages in split_by_audience(going).items():
        previous = without_facts(earlier.get(key, ""))
        part = Summed("", "")
        if may_ask(order, script.compaction_strikes):
            part = yield climb_ladder(script, messages, previous, order.focus, room)
        if not part.text:
            if order.reason not in URGENT and script.compaction_strikes < STRIKES:
                return None
            part = Summed(make_digest(messages, previous), DIGEST)
        new: tuple[Fact, ...] = yield find_facts(script, messages)
        yield pause(script.services.slices.put)
        parts[key] = check_facts(part, known.get(key, ()), new, fact_room(part, room))
        yield pause(script.services.slices.put)
    return parts


def may_ask(order: Order, strikes: int) -> bool:
    """True where a model is asked for a summary: not in an overflow, and after failing twice in a
    row only now and again, until one comes of it. An admin's word always counts."""
    if order.reason == OVERFLOW:
        return False
    return order.reason == MANUAL or strikes < STRIKES or strikes % ASKED_AGAIN_EVERY == 0


@inlineCallbacks
def find_facts(
    script: Any, messages: Sequence[Message]
) -> Generator[Deferred[Any], Any, tuple[Fact, ...]]:
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
    return max(min(LEAST_FACT_ROOM, room // 2), room - estimate_tokens(part.text))


def check_facts(
    part: Summed, known: Sequence[Fact], new: Sequence[Fact], budget_tokens: int
) -> Summed:
    """A part with the facts below it that it does not hold by itself, the weightiest first.

    Nobody else checks this, and a summary that drops everything costs nothing but room: what does
    not find room below it can still be called to mind (`policy.recall`).

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
    return replace(part, text=text, facts=facts, found=len(new), kept=kept, rescued=rescued)


@inlineCallbacks
def climb_ladder(
    script: Any, messages: Sequence[Message], previous: str, focus: str | None, room: int
) -> Generator[Deferred[Any], Any, Summed]:
    """Ask for a summary, and where that fails in a way that less or another model may mend, ask
    again so. Fires with the part, without text where nothing came of it."""
    for rung in (SUMMARY, CLEARED, CHUNKS):
        try:
            text = yield ask_by_rung(script, rung, messages, previous, focus, room)
        except ProviderMisconfigured as error:
            tell(script, rung, str(error))
            break
        except ContextOverflow as error:
            tell(script, rung, str(error))
            continue
        except ProviderError as error:
            tell(script, rung, str(error))
            break
        if text:
            script.compaction_strikes = 0
            return Summed(text, rung)
    return Summed("", "")


def tell(script: Any, rung: str, problem: str) -> None:
    """One line for the log: a rung of the ladder broke."""
    log.warn(
        "{name}: no summary ({rung}): {problem}",
        name=script.character_name,
        rung=rung,
        problem=problem,
    )


@inlineCallbacks
def ask_by_rung(
    script: Any,
    rung: str,
    messages: Sequence[Message],
    previous: str,
    focus: str | None,
    room: int,
) -> Generator[Deferred[Any], Any, str]:
    """One rung of the ladder. Fires with the summary, empty where there is none."""
    if rung != CHUNKS:
        text = yield generate_context_summary(
            script, messages, focus, previous=previous, with_results=rung == SUMMARY, room=room
        )
        return text or ""
    for chunk in in_chunks(messages, usable_window(script.config, script.profile) // 3):
        text = yield generate_context_summary(
            script, chunk, focus, previous=previous, with_results=False, room=room
        )
        if not text:
            return ""
        previous = text
    return previous


def in_chunks(messages: Sequence[Message], size: int) -> list[list[Message]]:
    """Messages in runs of about ``size`` tokens, each at least one message."""
    chunks: list[list[Message]] = [[]]
    left = size
    for message in messages:
        tokens = stored_tokens(message)
        if chunks[-1] and tokens > left:
            chunks.append([])
            left = size
        chunks[-1].append(message)
        left -= tokens
    return chunks

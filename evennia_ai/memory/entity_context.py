"""Asleep, what was noticed of others becomes what is taken to be so of them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import BadRecord, ProviderError
from evennia_ai.policy.consolidation.attribute_synthesis import (
    Synthesis,
    read_synthesis,
    synthesis_request,
    synthesise_plainly,
)
from evennia_ai.policy.consolidation.entity_consolidation import Group, group_observations
from evennia_ai.scheduling import pause, persist
from evennia_ai.turn.background_call import ask_in_background, has_model
from evennia_ai.turn.prompt_contexts import CONTEXT_SLEEP_CONSOLIDATE

log = Logger()

REPLY_TOKENS = 800
AT_ONCE = 40  # observations in one call
CALLS_A_PASS = 20
READ_A_PASS = 1_000  # observations, without a model


@dataclass
class Tally:
    """What a pass came to so far."""

    observations: int = 0
    attributes: int = 0
    refused: int = 0
    calls: int = 0


@inlineCallbacks
def run_entity_consolidation_batch(
    script: Any, character: Any
) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Make attributes of the observations that none were made of yet.

    Each entity's observations of one audience go by themselves (P9), oldest first; with a model in
    one call, without one by plain patterns. Attributes and marks are one transaction, so that a
    pass may end anywhere and the next goes on from there.

    Args:
        script: the assistant.
        character: its character, with ``ai_profiles``.

    Fires with ``success``, ``entities``, ``observations``, ``attributes`` (new values), ``calls``,
    ``refused`` (lines of the model's that did not count), ``left`` (observations for the next
    pass), and ``error`` where a model failed; or with ``skipped`` True and ``reason``. Fails with
    TurnAborted and StoreUnavailable.
    """
    profiles, put = getattr(character, "ai_profiles", None), script.services.slices.put
    if profiles is None:
        return {"skipped": True, "reason": "no profiles"}
    yield profiles.load(put)
    asks = has_model(script)
    new = profiles.new_observations(READ_A_PASS)
    groups = group_observations(new, AT_ONCE)[: CALLS_A_PASS if asks else None]
    if not groups:
        return {"skipped": True, "reason": "no new observations"}
    tally, error = Tally(), ""
    for group in groups:
        yield pause(put)
        try:
            yield consolidate_group(script, profiles, group, tally, asks=asks)
        except ProviderError as failure:
            log.warn("{name}: {error}", name=script.character_name, error=failure)
            error = str(failure)
            break
    return {
        "success": not error,
        "entities": len({group.entity for group in groups}),
        "observations": tally.observations,
        "attributes": tally.attributes,
        "calls": tally.calls,
        "refused": tally.refused,
        "left": profiles.count_new(),
        **({"error": error} if error else {}),
    }


@inlineCallbacks
def consolidate_group(
    script: Any, profiles: Any, group: Group, tally: Tally, *, asks: bool
) -> Generator[Deferred[Any], Any, None]:
    """One group, from its observations to stored attributes. Fires when it is stored; fails with
    `ProviderError`, and then nothing of it has changed."""
    observations = [item for item in map(profiles.get, group.ids) if item]
    entity = script.services.world.name_of(script.character, group.entity)
    made = Synthesis()
    if asks:
        tally.calls += 1
        made = yield ask_for_attributes(script, profiles, group, observations, entity)
        tally.refused += made.refused
    inferred = bool(made.findings)
    if not asks or (made.refused and not made.findings):
        found = synthesise_plainly(observations, [entity])
        made = Synthesis(found.findings, made.sentiment)

    def write() -> int:
        try:
            new: int = profiles.consolidate(
                group.ids, made.findings, inferred=inferred, sentiment=made.sentiment
            )
        except BadRecord as error:
            log.warn("{name}: {error}", name=script.character_name, error=error)
            return int(profiles.consolidate(group.ids, ()))
        return new

    tally.attributes += yield persist(script.services.clock, write)
    tally.observations += len(observations)


@inlineCallbacks
def ask_for_attributes(
    script: Any, profiles: Any, group: Group, observations: list[Any], entity: str
) -> Generator[Deferred[Any], Any, Synthesis]:
    """Ask a model. It is shown what those who may know of these observations may know, and no
    more; how somebody feels is asked of what everybody saw alone, since it shows to all. Fires
    with what counts of the answer; fails with `ProviderError`."""
    known = profiles.attributes(group.entity, group.audience)
    public = group.audience is None
    name = script.character_name
    wire = synthesis_request(name, entity or "somebody", observations, known, with_sentiment=public)
    reply: str = yield ask_in_background(script, CONTEXT_SLEEP_CONSOLIDATE.name, wire, REPLY_TOKENS)
    return read_synthesis(reply, {item["id"] for item in observations}, with_sentiment=public)

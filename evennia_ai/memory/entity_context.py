"""Consolidate observations of others into attributes of their entity profiles."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.entity_consolidation import (
    ObservationGroup,
    Synthesis,
    group_observations,
    read_synthesis,
    synthesis_request,
)
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import EntityProfiles, MindContext
from evennia_ai.ports.background import NO_MODEL, BackgroundReply, BatchResult, skip
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.turn.model_call import BackgroundWork
from evennia_ai.turn.prompt_contexts import CONTEXT_SLEEP_CONSOLIDATE

log = Logger()

REPLY_TOKENS = 800
AT_ONCE = 40  # observations in one call
CALLS_A_PASS = 20
READ_A_PASS = 1_000  # observations
FIGURES = ("observations", "attributes", "refused")


@dataclass(frozen=True, eq=False)
class EntityConsolidation:
    """Makes attributes of observations."""

    _mind: MindContext
    _background: BackgroundWork

    @inlineCallbacks
    def consolidate(self) -> Coroutine[dict[str, Any]]:
        """Make attributes of the observations that were not consolidated yet.

        Observations of one entity with one audience go together (P9), oldest first, in one model
        call. Attributes and marks are one transaction, so that a pass may end anywhere and the next
        one continues there. Without a model the observations stay as they are.

        Its figures are ``entities``, ``observations``, ``attributes`` (new values), ``calls``,
        ``refused`` (lines of replies that did not count) and ``left`` (observations for the next
        pass); see `sleep.SleepPassRunner`.
        """
        if not self._mind.profile.has_model:
            return skip(NO_MODEL)
        profiles = self._mind.character.ai_profiles
        yield profiles.load(self._mind.slices.put)
        new = profiles.new_observations(READ_A_PASS)
        groups = group_observations(new, AT_ONCE)[:CALLS_A_PASS]
        if not groups:
            return skip("no new observations")
        work = partial(self._consolidate_group, profiles)
        results: BatchResult[Counter[str]] = yield self._background.ask_each(groups, work)
        total = sum(results.results, Counter[str]())
        return results.report(
            entities=len({group.entity for group in groups}),
            **{name: total[name] for name in FIGURES},
            calls=results.calls,
            left=profiles.count_new(),
            cut_off=total["cut_off"],
        )

    @inlineCallbacks
    def _consolidate_group(
        self, profiles: EntityProfiles, group: ObservationGroup
    ) -> Coroutine[Counter[str]]:
        """Store a group's attributes; a ProviderError changes nothing. Fires with the `FIGURES`."""
        observations = [item for item in map(profiles.get, group.ids) if item]
        entity = self._mind.world.name_of(self._mind.character, group.entity)
        made, is_cut = yield self._ask(profiles, group, observations, entity)
        work = partial(self._store_attributes, profiles, group, made)
        attributes: int = yield retry_write(self._mind.clock, work)
        return Counter(
            observations=len(observations),
            attributes=attributes,
            refused=made.refused,
            cut_off=int(is_cut),
        )

    def _store_attributes(
        self, profiles: EntityProfiles, group: ObservationGroup, made: Synthesis
    ) -> int:
        """Store attributes and mark their observations; return how many values are new.

        Attributes that cannot be stored are logged and dropped.
        """
        try:
            return profiles.consolidate(group.ids, made.findings, sentiment=made.sentiment)
        except BadRecord as error:
            message = "{name}: attributes of {entity} dropped: {error}"
            log.warn(message, name=self._mind.name, entity=group.entity, error=error)
            return profiles.consolidate(group.ids, ())

    @inlineCallbacks
    def _ask(
        self,
        profiles: EntityProfiles,
        group: ObservationGroup,
        observations: Sequence[Record],
        entity: str,
    ) -> Coroutine[tuple[Synthesis, bool]]:
        """Ask a model for attributes, and True if its reply reached the token limit.

        It sees only what the group's audience may know, and is asked for a sentiment only about
        public observations, since everybody can see that. Fails with `ProviderError`.
        """
        known = profiles.attributes(group.entity, group.audience)
        public = group.audience is None
        name = self._mind.name
        wire = synthesis_request(
            name, entity or "somebody", observations, known, with_sentiment=public
        )
        purpose, ids = CONTEXT_SLEEP_CONSOLIDATE.name, {item["id"] for item in observations}
        read = [*observations, *known]
        reply: BackgroundReply = yield self._background.ask(purpose, wire, REPLY_TOKENS, read)
        return read_synthesis(reply.text, ids, with_sentiment=public), reply.is_cut


def run_entity_consolidation_batch(script: Any, character: Any) -> Deferred[dict[str, Any]]:
    """Consolidate observations; fires and fails as `EntityConsolidation.consolidate`.

    ``script`` is an `AssistantScript`, ``character`` its character.
    """
    result: Deferred[dict[str, Any]] = script.mind.entities.consolidate()
    return result

"""Reflect on what was journalled lately: a few insights, each citing its entries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.consolidation import reflection
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Identity, Journal, Services, Settings
from evennia_ai.scheduling import Coroutine, retry_write, yield_to_reactor
from evennia_ai.turn.model_call import NO_MODEL, BackgroundCalls, BackgroundReply, BatchResult, skip
from evennia_ai.turn.prompt_contexts import CONTEXT_REFLECTION

LOOKED_AT = 500  # of the newest entries
CALLS_A_PASS = 6
REPLY_TOKENS = 700
FIGURES = ("insights", "thought_over", "refused")


def store_insights(
    journal: Journal, insights: Sequence[reflection.Insight], looked_at: datetime
) -> int:
    """Store the insights whose entries all still exist with one audience; return how many."""
    new = []
    for insight in insights:
        cited = [entry for entry in map(journal.get, insight.because) if entry]
        audiences = {tuple(entry["audience"] or ("*",)) for entry in cited}
        if len(cited) == len(insight.because) and len(audiences) == 1:
            new.append(reflection.insight_entry(insight, cited, looked_at.isoformat()))
    return journal.add_all(new)


@dataclass(frozen=True, eq=False)
class Reflection:
    """Draws insights from what was journalled lately."""

    _who: Identity
    _settings: Settings
    _background: BackgroundCalls
    _services: Services

    @inlineCallbacks
    def reflect(self) -> Coroutine[dict[str, Any]]:
        """Draw insights from the entries since the last reflection, if they are important enough.

        Each audience is a call of its own (P9): an insight is as private as the entries it follows
        from. The insights of one audience are one transaction and bear the time of this reflection,
        so that a pass may end anywhere and no entry is read twice. Only entries without any insight
        are read again by the next process.

        Its figures are ``insights`` (new entries), ``thought_over`` (entries read), ``refused``
        (lines of the reply that did not count) and ``calls``.
        """
        threshold = self._settings.config.reflection_threshold
        if not threshold:
            return skip("reflection disabled")
        if not self._background.has_model:
            return skip(NO_MODEL)
        journal, put = self._who.character.journal, self._services.slices.put
        yield journal.load(put)
        yield yield_to_reactor(put)
        looked_at = self._services.now()
        entries = journal.newest(LOOKED_AT, everything=True)
        groups_found = reflection.unreflected(entries, journal.reflected_upto)
        if reflection.weight(groups_found) < threshold:
            return skip(f"{reflection.weight(groups_found)} of {threshold} since the last time")
        groups = reflection.select_groups(groups_found)
        work = partial(self._reflect_on, journal, looked_at)
        results: BatchResult[Counter[str]] = yield self._background.ask_each(
            groups[:CALLS_A_PASS], work
        )
        if not results.error and len(groups) <= CALLS_A_PASS:
            journal.reflected_upto = looked_at.isoformat()
        total = sum(results.results, Counter[str]())
        figures = {name: total[name] for name in FIGURES}
        return results.report(**figures, calls=results.calls, cut_off=total["cut_off"])

    @inlineCallbacks
    def _reflect_on(
        self, journal: Journal, looked_at: datetime, entries: Sequence[Record]
    ) -> Coroutine[Counter[str]]:
        """Reflect on one audience's entries. Fires with figures; fails with `ProviderError`."""
        sources = {entry["source_entity"] for entry in entries} - {""}
        names = {
            dbref: self._services.world.name_of(self._who.character, dbref)
            for dbref in sorted(sources)
        }
        context = CONTEXT_REFLECTION
        wire = reflection.reflection_request(context.prompt, self._who.name, entries, names)
        reply: BackgroundReply = yield self._background.ask(
            context.name, wire, REPLY_TOKENS, entries
        )
        read = reflection.read_insights(reply.text, entries)
        write = partial(store_insights, journal, read.insights, looked_at)
        insights: int = yield retry_write(self._services.clock, write)
        return Counter(
            insights=insights,
            thought_over=len(entries),
            refused=read.refused,
            cut_off=int(reply.is_cut),
        )

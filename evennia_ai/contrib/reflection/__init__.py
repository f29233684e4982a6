"""Reflect in sleep on what was journalled lately: a few insights, each citing its entries."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds
from evennia_ai.contrib.reflection import insights
from evennia_ai.extension import Extension, SleepContext, SleepStep
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Journal
from evennia_ai.ports.background import NO_MODEL, BackgroundReply, BatchResult, skip
from evennia_ai.scheduling import Coroutine, retry_write, yield_to_reactor
from evennia_ai.turn.prompt_contexts import CONTEXT_REFLECTION

LOOKED_AT = 500  # of the newest entries
CALLS_A_PASS = 6
REPLY_TOKENS = 700
FIGURES = ("insights", "thought_over", "refused")


@dataclass(frozen=True)
class ReflectionSettings:
    """The settings of an assistant that reflects."""

    reflection_threshold: int = setting(
        150,
        "Total importance of new entries that starts a reflection in sleep. 0 disables it.",
        Bounds(0, 100_000),
    )


class ReflectionExtension(Extension):
    """Draws insights from what an assistant journalled lately."""

    name = "reflection"
    settings = ReflectionSettings

    def __init__(self) -> None:
        # ISO time up to which every audience of a journal was read, whatever came of it.
        self._read_upto: WeakKeyDictionary[Journal, str] = WeakKeyDictionary()

    def sleep_steps(self) -> Iterable[SleepStep]:
        sentence = "{insights} insights from {thought_over} entries"
        return [SleepStep("reflection", "What follows from it", self.reflect, sentence)]

    @inlineCallbacks
    def reflect(self, mind: SleepContext) -> Coroutine[dict[str, Any]]:
        """Draw insights from the entries since the last reflection, if they are important enough.

        Each audience is a call of its own (P9): an insight is as private as the entries it follows
        from. The insights of one audience are one transaction and bear the time of this reflection,
        so that a pass may end anywhere and no entry is read twice. Only entries without any insight
        are read again by the next process.

        Its figures are ``insights`` (new entries), ``thought_over`` (entries read), ``refused``
        (lines of the reply that did not count) and ``calls``.
        """
        threshold = mind.config.part(ReflectionSettings).reflection_threshold
        if not threshold:
            return skip("reflection disabled")
        if not mind.profile.has_model:
            return skip(NO_MODEL)
        journal, put = mind.character.journal, mind.slices.put
        yield journal.load(put)
        yield yield_to_reactor(put)
        looked_at = mind.now()
        entries = journal.newest(LOOKED_AT, everything=True)
        by_audience = insights.unreflected(entries, self._read_upto.get(journal, ""))
        weight = insights.weight(by_audience)
        if weight < threshold:
            return skip(f"{weight} of {threshold} since the last time")
        groups = insights.select_groups(by_audience)
        work = partial(reflect_on, mind, looked_at)
        results: BatchResult[Counter[str]] = yield mind.background.ask_each(
            groups[:CALLS_A_PASS], work
        )
        if not results.error and len(groups) <= CALLS_A_PASS:
            self._read_upto[journal] = looked_at.isoformat()
        total = sum(results.results, Counter[str]())
        figures = {name: total[name] for name in FIGURES}
        return results.report(**figures, calls=results.calls, cut_off=total["cut_off"])


@inlineCallbacks
def reflect_on(
    mind: SleepContext, looked_at: datetime, entries: Sequence[Record]
) -> Coroutine[Counter[str]]:
    """Reflect on one audience's entries. Fires with figures; fails with `ProviderError`."""
    sources = sorted({entry["source_entity"] for entry in entries} - {""})
    names = {dbref: mind.world.name_of(mind.character, dbref) for dbref in sources}
    context = CONTEXT_REFLECTION
    wire = insights.reflection_request(
        context.prompt, mind.name, entries, names, mind.world_clock.day
    )
    reply: BackgroundReply = yield mind.background.ask(context.name, wire, REPLY_TOKENS, entries)
    read = insights.read_insights(reply.text, entries)
    write = partial(store_insights, mind.character.journal, read.insights, looked_at)
    count: int = yield retry_write(mind.clock, write)
    return Counter(
        insights=count, thought_over=len(entries), refused=read.refused, cut_off=int(reply.is_cut)
    )


def store_insights(
    journal: Journal, conclusions: Sequence[insights.Insight], looked_at: datetime
) -> int:
    """Store the insights whose entries all still exist with one audience; return how many."""
    new = []
    for insight in conclusions:
        cited = [entry for entry in map(journal.get, insight.because) if entry]
        audiences = {tuple(entry["audience"] or ("*",)) for entry in cited}
        if len(cited) == len(insight.because) and len(audiences) == 1:
            new.append(insights.insight_entry(insight, cited, looked_at.isoformat()))
    return journal.add_all(new)


EXTENSION = ReflectionExtension

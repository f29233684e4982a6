"""Asleep, what was lived through lately is thought over: a few insights, each citing what it was
made of."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.policy.consolidation.reflection import (
    Insight,
    Read,
    goal_fields,
    insight_entry,
    read_insights,
    reflection_request,
    select_groups,
    unreflected,
    weight,
)
from evennia_ai.policy.consolidation.rule_reflection import reflect_plainly
from evennia_ai.policy.records.goal import MOST_OPEN, find_goal
from evennia_ai.policy.records.provenance import Record
from evennia_ai.scheduling import pause, persist
from evennia_ai.turn.background_call import ask_in_background, has_model
from evennia_ai.turn.prompt_contexts import CONTEXT_REFLECTION

log = Logger()

LOOKED_AT = 500  # of the newest entries
CALLS_A_PASS = 6
REPLY_TOKENS = 700


@inlineCallbacks
def reflect(script: Any, character: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Draw a few insights from what was journalled since the last time, where that weighs enough.

    One call for each audience (P9): what follows from confidences is as confidential as they are.
    An audience's insights are one transaction and bear the time at which its entries were looked
    at, so that a pass may end anywhere, and no entry is thought over twice; only of what nothing
    followed from, the next process asks once more.

    Args:
        script: the assistant.
        character: its character, with ``journal``.

    Fires with ``success``, ``insights`` (new entries), ``goals`` (new ones), ``thought_over``
    (entries looked at), ``refused`` (lines of the model's that did not count), ``calls``, and
    ``error`` where a model failed; or with ``skipped`` True and ``reason``. Fails with TurnAborted
    and StoreUnavailable.
    """
    threshold = script.config.reflection_threshold
    if not threshold:
        return {"skipped": True, "reason": "reflection disabled"}
    journal, put = character.journal, script.services.slices.put
    yield journal.load(put)
    yield pause(put)
    looked_at = script.services.now()
    entries = journal.newest(LOOKED_AT, discretion="trusting")
    found = unreflected(entries, journal.reflected_upto)
    if weight(found) < threshold:
        return {"skipped": True, "reason": f"{weight(found)} of {threshold} since the last time"}
    groups = select_groups(found)
    tally = {"insights": 0, "goals": 0, "thought_over": 0, "refused": 0, "calls": 0}
    for entries in groups[:CALLS_A_PASS]:
        yield pause(put)
        try:
            yield reflect_on(script, journal, entries, looked_at, tally)
        except ProviderError as error:
            log.warn("{name}: no reflection: {error}", name=script.character_name, error=error)
            return {"success": False, **tally, "error": str(error)}
    if len(groups) <= CALLS_A_PASS:
        journal.reflected_upto = looked_at.isoformat()
    return {"success": True, **tally}


@inlineCallbacks
def reflect_on(
    script: Any, journal: Any, entries: Sequence[Record], looked_at: datetime, tally: dict[str, int]
) -> Generator[Deferred[Any], Any, None]:
    """Think some entries of one audience over. Fires when it is stored; fails with
    `ProviderError`, and then nothing has changed."""
    world, character = script.services.world, script.character
    sources = {entry["source_entity"] for entry in entries} - {""}
    names = {dbref: world.name_of(character, dbref) for dbref in sorted(sources)}
    asks = has_model(script)
    read = Read(reflect_plainly(entries, names))
    if asks:
        tally["calls"] += 1
        context = CONTEXT_REFLECTION
        wire = reflection_request(context.prompt, script.character_name, entries, names)
        reply: str = yield ask_in_background(script, context.name, wire, REPLY_TOKENS)
        read = read_insights(reply, entries)
    write = partial(store_insights, journal, read.insights, looked_at, by_model=asks)
    stored: int = yield persist(script.services.clock, write)
    tally["insights"] += stored
    if read.goal:
        yield character.ai_goals.load(script.services.slices.put)
        aim = partial(store_goal, journal, character.ai_goals, read.goal)
        tally["goals"] += yield persist(script.services.clock, aim)
    tally["thought_over"] += len(entries)
    tally["refused"] += read.refused


def store_insights(
    journal: Any, insights: Sequence[Insight], looked_at: datetime, *, by_model: bool
) -> int:
    """Write insights down whose entries are all still there, for the same ears: somebody may have
    been forgotten meanwhile. Returns how many are new. Raises StoreUnavailable."""
    new = []
    for insight in insights:
        cited = still_there(journal, insight)
        if cited:
            new.append(insight_entry(insight, cited, looked_at.isoformat(), by_model=by_model))
    return int(journal.add_all(new))


def store_goal(journal: Any, goals: Any, goal: Insight) -> int:
    """Set what it should be after, where its entries are all still there and those who may know of
    it do not know of too many goals already. Returns how many are new. Raises StoreUnavailable."""
    cited = still_there(journal, goal)
    if not cited:
        return 0
    fields = goal_fields(cited)
    ears = None if fields["audience"] is None else frozenset(fields["audience"])
    before = goals.open(ears)
    if len(before) >= MOST_OPEN or find_goal(goal.content, before):
        return 0
    goals.add(goal.content, **fields)
    return 1


def still_there(journal: Any, insight: Insight) -> list[Record]:
    """The entries that something follows from, as they are now; none where one of them is gone, or
    is for other ears by now."""
    cited = [entry for entry in map(journal.get, insight.because) if entry]
    ears = {tuple(entry["audience"] or ("*",)) for entry in cited}
    return cited if len(cited) == len(insight.because) and len(ears) == 1 else []

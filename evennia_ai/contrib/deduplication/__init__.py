"""Merge in sleep the journal entries that say the same in other words, as a model judges."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import setting
from evennia_ai.contrib.deduplication import pairs
from evennia_ai.contrib.deduplication.pairs import Pair
from evennia_ai.extension import Extension, SleepContext, SleepStep
from evennia_ai.policy.records.forgetting import cited_by
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Journal
from evennia_ai.ports.background import NO_MODEL, BackgroundReply, BatchResult, skip
from evennia_ai.scheduling import Coroutine, yield_to_reactor

PURPOSE = "deduplication"
LOOKED_AT = 300  # of the newest entries
PAIRS_A_CALL, CALLS_A_PASS = 10, 4
EMBEDDED_AT_ONCE = 40  # texts: half a second of the embedder's thread
REPLY_TOKENS = 300
FIGURES = ("merged", "compared")


@dataclass(frozen=True)
class DeduplicationSettings:
    """The settings of an assistant that merges entries."""

    merge_entries: bool = setting(
        False, "Merge in sleep the journal entries that say the same, as a large model judges."
    )


class DeduplicationExtension(Extension):
    """Merges the journal entries of one source that say the same in other words."""

    name = "deduplication"
    settings = DeduplicationSettings

    def sleep_steps(self) -> Iterable[SleepStep]:
        sentence = "{merged} of {compared} pairs of entries merged"
        return [SleepStep(PURPOSE, "What it noted twice", self.merge, sentence)]

    @inlineCallbacks
    def merge(self, mind: SleepContext) -> Coroutine[dict[str, Any]]:
        """Merge entries of one source and audience that say the same.

        The newest wording stays, with the sources of both and a link to the older entry, which
        goes into the archive: ``aimemory/restore`` brings it back, and a restored entry is merged
        no more. Of a pair that says different things the newer entry bears a mark, so that it is
        not asked about again. Each call is for one audience (P9).

        Its figures are ``compared`` (judged pairs), ``merged`` and ``calls``.
        """
        if not mind.config.part(DeduplicationSettings).merge_entries:
            return skip("merging of entries disabled")
        if not mind.profile.calls_tools:
            return skip(NO_MODEL)
        batches: list[list[Pair]] = yield self._find_pairs(mind)
        if not batches:
            return skip("no two entries are near each other")
        results: BatchResult[Counter[str]] = yield mind.background.ask_each(
            batches[:CALLS_A_PASS], partial(judge, mind)
        )
        total = sum(results.results, Counter[str]())
        figures = {name: total[name] for name in FIGURES}
        return results.report(**figures, calls=results.calls, cut_off=total["cut_off"])

    @inlineCallbacks
    def _find_pairs(self, mind: SleepContext) -> Coroutine[list[list[Pair]]]:
        """Find pairs to ask about, the nearest first. Fires with them, a list for each call."""
        journal, profiles, put = mind.character.journal, mind.character.ai_profiles, mind.slices.put
        yield journal.load(put)
        yield profiles.load(put)
        entries = journal.newest(LOOKED_AT, everything=True)
        cited = profiles.live_sources().union(*map(cited_by, entries))
        nearness, batches = mind.services.nearness, list[tuple[float, list[Pair]]]()
        for group in pairs.grouped(entries, cited):
            texts = [entry["content"] for entry in group]
            for start in range(0, len(texts), EMBEDDED_AT_ONCE):
                yield nearness.prepare(mind.services, texts[start : start + EMBEDDED_AT_ONCE])
                yield yield_to_reactor(put)
            near = sorted(pairs.candidates(group, nearness.cosines), key=lambda item: -item[0])
            for start in range(0, len(near), PAIRS_A_CALL):
                part = near[start : start + PAIRS_A_CALL]
                batches.append((part[0][0], [pair for _nearness, pair in part]))
        return [batch for _nearness, batch in sorted(batches, key=lambda item: -item[0])]


@inlineCallbacks
def judge(mind: SleepContext, batch: Sequence[Pair]) -> Coroutine[Counter[str]]:
    """Ask about pairs, and store what comes of it. Fires with figures; fails with ProviderError."""
    wire = pairs.judgement_request(mind.name, batch)
    read = [entry for pair in batch for entry in pair]
    reply: BackgroundReply = yield mind.background.ask(PURPOSE, wire, REPLY_TOKENS, read)
    judged = pairs.read_judgement(reply.text, len(batch))
    verdicts = [(batch[place], is_same) for place, is_same in judged.items()]
    write = partial(store_verdicts, mind.character.journal)
    count: int = yield mind.background.write_in_pieces(verdicts, 1, write)
    return Counter(merged=count, compared=len(judged), cut_off=int(reply.is_cut))


def store_verdicts(journal: Journal, verdicts: Iterable[tuple[Pair, bool]]) -> int:
    """Merge pairs or mark them as different, if both still say what was read; return how many."""
    merged = 0
    for shown, is_same in verdicts:
        pair = Pair(*(journal.get(entry["id"]) or {} for entry in shown))
        if not all(map(says_as_before, pair, shown)):
            continue
        if is_same:
            journal.update(pair.newer["id"], **pairs.merged_fields(pair))
            merged += journal.archive.put_away(journal, pair.older["id"])
        else:
            links = [*pair.newer["links"], f"{pairs.APART}{pair.older['id']}"]
            journal.update(pair.newer["id"], links=links)
    return merged


def says_as_before(entry: Record, shown: Record) -> bool:
    """Return True if an entry still has the words, the audience and the care that it had."""
    return all(entry.get(name) == shown[name] for name in ("content", "audience", "pinned"))


EXTENSION = DeduplicationExtension

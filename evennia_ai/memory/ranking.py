"""Rank memories by a weighted sum of features.

The first pass scores all memories in the view by words, by approximate meaning and by their
neighbours. The second pass scores the best few hundred by all features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.columns import PUBLIC, Columns
from evennia_ai.memory.lexical import Lexicon, View
from evennia_ai.memory.rarity import Rarity
from evennia_ai.memory.vectors import Floats, Rows, Vectors
from evennia_ai.policy.retrieval.time_expressions import DAY_S, Span
from evennia_ai.policy.retrieval.weights import Wanted, Weights

CANDIDATES = 512  # rows in the second pass
ALL_UP_TO = 1_024  # with no more rows than this there is no first pass
AROUND_S = 31 * DAY_S
BESIDE_S = DAY_S
RECENCY_DAYS = 365.0
TYPICAL_IMPORTANCE = 5.0
# The more people talk, the less often a name in a question is the speaker's (measured).
SPEAKERS_POWER = 1 / 3


class Asked(NamedTuple):
    """A query: its words and features, its vector and its time in unix seconds."""

    wanted: Wanted
    vector: Floats | None
    now: float | None


class Ranked(NamedTuple):
    """Rows, best first, with their scores."""

    rows: Rows
    scores: Floats


class MemoryData(NamedTuple):
    """The memories with all their features."""

    columns: Columns
    lexicon: Lexicon
    vectors: Vectors
    rarity: Rarity
    sources_of: Callable[[int], list[int]]


def rank(memories: MemoryData, view: View, asked: Asked, weights: Weights, least: int) -> Ranked:
    """Return the best rows in the view: at least ``least``, best first."""
    if asked.wanted.names:
        share = memories.columns.speakers_in(view) ** -SPEAKERS_POWER
        weights = replace(weights, speaker=weights.speaker * share)
    places, score = _candidates(memories, view, asked, weights, max(CANDIDATES, 2 * least))
    rows = view.rows[places]
    scores = score + _features(memories.columns, rows, asked, weights)
    scores += np.float32(weights.rarity) * memories.rarity.of(rows)
    scores += weights.sources * _source_gains(memories, view, places, score)
    scores += np.abs(scores) * _gates(memories.columns, rows, asked, weights)
    order = np.lexsort((rows, -scores))
    return Ranked(rows[order], scores[order])


def _candidates(
    memories: MemoryData, view: View, asked: Asked, weights: Weights, most: int
) -> tuple[Rows, Floats]:
    """Return the view's best places and their scores by words, meaning and neighbours."""
    vectors, meaning = memories.vectors, np.float32(weights.meaning)
    (by_words,) = memories.lexicon.scores([asked.wanted.words], view, memories.columns["words"])
    by_words *= np.float32(weights.words)
    mean = vectors.mean(view.rows)
    places = np.arange(len(view.rows))
    if len(places) <= max(most, ALL_UP_TO):
        score = vectors.full(view.rows, asked.vector, mean) * meaning + by_words
        return places, _add_neighbours(score, view, weights) + _session_gains(score, view, weights)
    score = vectors.roughly(len(view.mask), asked.vector, mean)[view.rows] * meaning + by_words
    session = _session_gains(score, view, weights)
    roughly = _add_neighbours(score, view, weights) + session
    best = _best(roughly, most, memories, view, asked, weights)
    beside = np.zeros(len(places), dtype=np.bool_)
    reach = len(weights.before)
    beside[np.clip(best[:, None] + np.arange(-reach, reach + 1), 0, len(places) - 1)] = True
    full = vectors.full(view.rows[beside], asked.vector, mean)
    score[beside] = full * meaning + by_words[beside]
    return best, (_add_neighbours(score, view, weights) + session)[best]


def _best(
    score: Floats, most: int, memories: MemoryData, view: View, asked: Asked, weights: Weights
) -> Rows:
    """Return the places of the best rows in view order, counting the speaker too."""
    speakers = memories.columns.speakers_named(asked.wanted.names)
    if speakers:
        said = memories.columns.said_by(speakers, view.rows)
        score = score + np.float32(weights.speaker) * said.astype(np.float32)
    border = np.partition(score, len(score) - most)[len(score) - most]
    above = np.flatnonzero(score > border)
    level = np.flatnonzero(score == border)[: most - len(above)]
    return np.sort(np.concatenate([above, level]))


def _add_neighbours(score: Floats, view: View, weights: Weights) -> Floats:
    """Return the score of each memory; a line adds shares of its neighbours' scores."""
    total = score.copy()
    alone, lines = score[: view.lines], total[: view.lines]
    for distance, (before, after) in enumerate(zip(weights.before, weights.after, strict=True), 1):
        lines[distance:] += np.float32(before) * alone[:-distance]
        lines[:-distance] += np.float32(after) * alone[distance:]
    return total


def _session_gains(score: Floats, view: View, weights: Weights) -> Floats:
    """Return what each memory in the view gains from the best one of its session."""
    best = np.maximum.reduceat(score, view.sessions) * np.float32(weights.session)
    gained: Floats = np.repeat(best, np.diff(view.sessions, append=len(score)))
    return gained


def _features(columns: Columns, rows: Rows, asked: Asked, weights: Weights) -> Floats:
    """Return the sum of the other features of each row, such as speaker and time."""
    wanted = asked.wanted
    features: Floats = np.float32(weights.length) * columns["length"][rows]
    features += weights.question * columns["question"][rows]
    features += weights.confided * (columns["group"][rows] != PUBLIC)
    if wanted.names:
        features += weights.speaker * columns.said_by(columns.speakers_named(wanted.names), rows)
    if wanted.time:
        features += weights.time * columns["time"][rows]
    if wanted.number:
        features += weights.number * columns["number"][rows]
    if wanted.spans:
        at = columns["at"][rows]
        short = [span for span in wanted.spans if span.is_short]
        long = [span for span in wanted.spans if not span.is_short]
        around = _any_in(at, short, AROUND_S) | _any_in(at, long, 0.0)
        features += weights.around * around + weights.within * _any_in(at, short, BESIDE_S)
    return features


def _any_in(
    at: npt.NDArray[np.float64], spans: Sequence[Span], margin_s: float
) -> npt.NDArray[np.bool_]:
    """Return a mask of the times that are in a span or within the margin around it."""
    found = np.zeros(len(at), dtype=np.bool_)
    for span in spans:
        found |= (at >= span.start - margin_s) & (at < span.end + margin_s)
    return found


def _source_gains(memories: MemoryData, view: View, places: Rows, score: Floats) -> Floats:
    """Return what each memory gains from its sources, and from those made from it."""
    gains = np.zeros(len(places), dtype=np.float32)
    sourced = np.flatnonzero(memories.columns["sourced"][view.rows[places]])
    if not len(sourced):
        return gains
    place_of = {int(row): place for place, row in enumerate(view.rows[places])}
    for place in sourced.tolist():
        for row in memories.sources_of(int(view.rows[places[place]])):
            source = place_of.get(row)
            if source is not None:
                gains[source] = max(gains[source], score[place])
                gains[place] = max(gains[place], score[source])
    return gains


def _gates(columns: Columns, rows: Rows, asked: Asked, weights: Weights) -> Floats:
    """Return the share by which recency and importance change a score: at most 0.1."""
    gate: Floats = np.clip(columns["importance"][rows] / TYPICAL_IMPORTANCE - 1, -1, 1)
    gate *= np.float32(weights.importance)
    if asked.now is not None and math.isfinite(asked.now):
        days = np.maximum(asked.now - columns["at"][rows], 0) / DAY_S
        fresh = 2 * np.exp(-days / RECENCY_DAYS) - 1
        gate += weights.recency * np.nan_to_num(fresh, nan=0.0)
    return gate

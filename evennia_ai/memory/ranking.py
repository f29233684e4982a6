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

CANDIDATES = 384  # rows in the second pass, more if vectors have few signs to compare
SIGNS = 256
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
    """Return the ``least`` best rows in the view, best first."""
    if asked.wanted.names:
        share = memories.columns.speakers_in(view) ** -SPEAKERS_POWER
        weights = replace(weights, speaker=weights.speaker * share)
    most = CANDIDATES * max(1, SIGNS // (memories.vectors.dimensions or SIGNS))
    places, score = _candidates(memories, view, asked, weights, max(most, 2 * least))
    rows = view.rows.take(places)
    scores = score + _features(memories.columns, rows, asked, weights)
    scores += np.float32(weights.rarity) * memories.rarity.of(rows)
    scores += weights.sources * _source_gains(memories, view, places, score)
    scores += np.abs(scores) * _gates(memories.columns, rows, asked, weights)
    best = np.argsort(-scores, kind="stable")[:least]
    return Ranked(rows.take(best), scores.take(best))


def _candidates(
    memories: MemoryData, view: View, asked: Asked, weights: Weights, most: int
) -> tuple[Rows, Floats]:
    """Return the view's best places and their scores by words, meaning and neighbours."""
    vectors, meaning = memories.vectors, np.float32(weights.meaning)
    (by_words,) = memories.lexicon.scores([asked.wanted.words], view, memories.columns["words"])
    by_words *= np.float32(weights.words)
    places = np.arange(len(view.rows))
    if len(places) <= max(most, ALL_UP_TO):
        score = vectors.full(view.rows, asked.vector) * meaning + by_words
        return places, _add_neighbours(score, view, weights) + _session_gains(score, view, weights)
    mean = vectors.mean(view.rows)
    score = vectors.roughly(len(view.mask), asked.vector, mean).take(view.rows)
    score = score * meaning + by_words
    session = _session_gains(score, view, weights)
    roughly = _add_neighbours(score, view, weights) + session
    if asked.wanted.names:
        speakers = memories.columns.speakers_named(asked.wanted.names)
        roughly += np.float32(weights.speaker) * memories.columns.said_by(speakers, view.rows)
    best = _highest(roughly, most)
    reach = len(weights.before)
    beside = np.unique(best[:, None] + np.arange(-reach, reach + 1))
    beside = beside[(beside >= 0) & (beside < len(places))]
    full = vectors.full(view.rows.take(beside), asked.vector, mean)
    score[beside] = full * meaning + by_words.take(beside)
    return best, (_add_neighbours(score, view, weights) + session).take(best)


def _highest(score: Floats, most: int) -> Rows:
    """Return the places of the highest scores in order of place, of equal ones the first."""
    border = np.partition(score, len(score) - most)[len(score) - most]
    above = np.flatnonzero(score > border)
    level = np.flatnonzero(score == border)[: most - len(above)]
    return np.sort(np.concatenate([above, level]))


def _add_neighbours(score: Floats, view: View, weights: Weights) -> Floats:
    """Return the score of each memory; a line adds shares of its neighbours' scores."""
    if not view.lines:
        return score
    shares = np.array([*reversed(weights.after), 1, *weights.before], dtype=np.float32)
    reach = len(weights.after)
    with_neighbours = np.convolve(score[: view.lines], shares)[reach : reach + view.lines]
    return np.concatenate([with_neighbours, score[view.lines :]])


def _session_gains(score: Floats, view: View, weights: Weights) -> Floats:
    """Return what each memory in the view gains from the best one of its session."""
    best = np.maximum.reduceat(score, view.sessions) * np.float32(weights.session)
    return np.repeat(best, view.sizes)


def _features(columns: Columns, rows: Rows, asked: Asked, weights: Weights) -> Floats:
    """Return the sum of the other features of each row, such as speaker and time."""
    wanted = asked.wanted
    features: Floats = np.float32(weights.length) * columns["length"].take(rows)
    features += weights.question * columns["question"].take(rows)
    features += weights.confided * (columns["group"].take(rows) != PUBLIC)
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
    sourced = np.flatnonzero(memories.columns["sourced"].take(view.rows.take(places)))
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
    gate: Floats = np.clip(columns["importance"].take(rows) / TYPICAL_IMPORTANCE - 1, -1, 1)
    gate *= np.float32(weights.importance)
    if asked.now is not None and math.isfinite(asked.now):
        days = np.maximum(asked.now - columns["at"].take(rows), 0) / DAY_S
        fresh = 2 * np.exp(days / -RECENCY_DAYS) - 1
        fresh[np.isnan(fresh)] = 0.0  # the time is unknown
        gate += weights.recency * fresh
    return gate

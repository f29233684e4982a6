"""Rank memories by a weighted sum of features.

The first pass scores all memories in the view by words, by approximate meaning and by their
neighbours. The second pass scores the best few hundred by all features.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.columns import PUBLIC, Columns
from evennia_ai.memory.lexical import AudienceRows, Lexicon
from evennia_ai.memory.vectors import Floats, Rows, Vectors
from evennia_ai.policy.retrieval.exchange import DAY_S, Span
from evennia_ai.policy.retrieval.relevance import QuerySigns, RelevanceWeights

CANDIDATES = 384  # rows in the second pass, more if vectors have few signs to compare
SIGNS = 256
ALL_UP_TO = 1_024  # with no more rows than this there is no first pass
AROUND_S = 31 * DAY_S
BESIDE_S = DAY_S
RECENCY_DAYS = 365.0
TYPICAL_IMPORTANCE = 5.0
# What chance gives a memory (measured on public dialogues and made-up talks of a game).
CHANCE_SHARE, CHANCE_PRIOR = 0.9, 20
CHANCE_SCORE, CHANCE_SCORE_OF_WORDS = 2.0, -1.0  # the latter without vectors
COMPARED = 256  # rows whose scores tell what chance gives
# The more people talk, the less often a name in a question is the speaker's (measured).
SPEAKERS_POWER = 1 / 3


class RankingQuery(NamedTuple):
    """A query: its features, its vector, its time in unix seconds, and the stems that may answer
    it without being in it."""

    wanted: QuerySigns
    vector: Floats | None
    now: float | None
    answers: Collection[str] = ()


class Ranked(NamedTuple):
    """Rows, best first, with their scores, and by how much each fits better than chance."""

    rows: Rows
    scores: Floats
    fits: Floats


class Candidates(NamedTuple):
    """The best places of a view, their scores with and without company, and some for comparison."""

    places: Rows
    scores: Floats
    alone: Floats
    compared: Rows
    compared_scores: Floats


class MemoryData(NamedTuple):
    """The memories with all their features."""

    columns: Columns
    lexicon: Lexicon
    vectors: Vectors
    sources_of: Callable[[int], list[int]]


def rank(
    memories: MemoryData,
    view: AudienceRows,
    query: RankingQuery,
    weights: RelevanceWeights,
    least: int,
) -> Ranked:
    if query.wanted.names:
        share = memories.columns.speakers_in(view) ** -SPEAKERS_POWER
        weights = replace(weights, speaker=weights.speaker * share)
    most = CANDIDATES * max(1, SIGNS // (memories.vectors.dimensions or SIGNS))
    candidates = _candidates(memories, view, query, weights, max(most, 2 * least))
    rows = view.rows.take(candidates.places)
    scores = candidates.scores + _features(memories.columns, rows, query, weights)
    scores += weights.sources * _source_gains(memories, view, candidates.places, candidates.scores)
    scores += np.abs(scores) * _gates(memories.columns, rows, query, weights)
    best = np.argsort(-scores, kind="stable")[:least]
    chance = scores
    if len(candidates.places) < len(view.rows):
        others = view.rows.take(candidates.compared)
        chance = candidates.compared_scores + _features(memories.columns, others, query, weights)
    fits = (
        scores.take(best)
        + candidates.alone.take(best)
        - _chance_of(chance, query.vector is not None)
    )
    return Ranked(rows.take(best), scores.take(best), fits)


def _chance_of(scores: Floats, by_meaning: bool) -> float:
    """Return the score that one memory in ten reaches: what a strange question finds as well.

    With few memories it is near what a note has that has little to do with the question.
    """
    place = int(CHANCE_SHARE * (len(scores) - 1))
    reached = float(np.partition(scores, place)[place])
    usual = CHANCE_SCORE if by_meaning else CHANCE_SCORE_OF_WORDS
    return (len(scores) * reached + CHANCE_PRIOR * usual) / (len(scores) + CHANCE_PRIOR)


def _candidates(
    memories: MemoryData,
    view: AudienceRows,
    query: RankingQuery,
    weights: RelevanceWeights,
    most: int,
) -> Candidates:
    """Return the view's best places and their scores by words, meaning and neighbours."""
    vectors, meaning = memories.vectors, np.float32(weights.meaning)
    words = [query.wanted.words, query.answers]
    by_words, answered = memories.lexicon.scores(words, view, memories.columns["words"])
    by_words *= np.float32(weights.words)
    answered *= np.float32(weights.told) / (answered.max(initial=0.0) or np.float32(1))
    answered = np.maximum(answered - by_words, 0)  # of what holds the asked words, these count
    places = np.arange(len(view.rows))
    if len(places) <= max(most, ALL_UP_TO):
        score = vectors.full(view.rows, query.vector) * meaning + by_words
        session = _session_gains(score, view, weights)
        whole = _add_neighbours(score, view, weights) + session + answered
        return Candidates(places, whole, score, places, whole)
    mean = vectors.mean(view.rows)
    score = vectors.roughly(len(view.mask), query.vector, mean).take(view.rows)
    score = score * meaning + by_words
    session = _session_gains(score, view, weights)
    roughly = _add_neighbours(score, view, weights) + session + answered
    compared = places[:: len(places) // COMPARED]
    compared_scores = roughly.take(compared)
    if query.wanted.names:
        speakers = memories.columns.speakers_named(query.wanted.names)
        roughly += np.float32(weights.speaker) * memories.columns.said_by(speakers, view.rows)
    best = _highest(roughly, most)
    reach = len(weights.before)
    beside = np.unique(best[:, None] + np.arange(-reach, reach + 1))
    beside = beside[(beside >= 0) & (beside < len(places))]
    full = vectors.full(view.rows.take(beside), query.vector, mean)
    score[beside] = full * meaning + by_words.take(beside)
    whole = (_add_neighbours(score, view, weights) + session + answered).take(best)
    return Candidates(best, whole, score.take(best), compared, compared_scores)


def _highest(score: Floats, most: int) -> Rows:
    """Return the places of the highest scores in order of place, of equal ones the first."""
    border = np.partition(score, len(score) - most)[len(score) - most]
    above = np.flatnonzero(score > border)
    level = np.flatnonzero(score == border)[: most - len(above)]
    return np.sort(np.concatenate([above, level]))


def _add_neighbours(score: Floats, view: AudienceRows, weights: RelevanceWeights) -> Floats:
    if not view.lines:
        return score
    shares = np.array([*reversed(weights.after), 1, *weights.before], dtype=np.float32)
    reach = len(weights.after)
    with_neighbours = np.convolve(score[: view.lines], shares)[reach : reach + view.lines]
    return np.concatenate([with_neighbours, score[view.lines :]])


def _session_gains(score: Floats, view: AudienceRows, weights: RelevanceWeights) -> Floats:
    best = np.maximum.reduceat(score, view.sessions) * np.float32(weights.session)
    return np.repeat(best, view.sizes)


def _features(
    columns: Columns, rows: Rows, query: RankingQuery, weights: RelevanceWeights
) -> Floats:
    """Return the sum of the other features of each row, such as speaker and time."""
    wanted = query.wanted
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
    mask = np.zeros(len(at), dtype=np.bool_)
    for span in spans:
        mask |= (at >= span.start - margin_s) & (at < span.end + margin_s)
    return mask


def _source_gains(memories: MemoryData, view: AudienceRows, places: Rows, score: Floats) -> Floats:
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


def _gates(columns: Columns, rows: Rows, query: RankingQuery, weights: RelevanceWeights) -> Floats:
    """Return the share by which recency and importance change a score: at most 0.1."""
    gate: Floats = np.clip(columns["importance"].take(rows) / TYPICAL_IMPORTANCE - 1, -1, 1)
    gate *= np.float32(weights.importance)
    if query.now is not None and math.isfinite(query.now):
        days = np.maximum(query.now - columns["at"].take(rows), 0) / DAY_S
        fresh = 2 * np.exp(days / -RECENCY_DAYS) - 1
        fresh[np.isnan(fresh)] = 0.0  # the time is unknown
        gate += weights.recency * fresh
    return gate

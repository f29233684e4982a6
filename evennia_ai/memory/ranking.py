"""Rank memories by a weighted sum of features.

The first pass scores all memories in the view by words, by approximate meaning and by their
neighbours. The second pass scores the best few hundred by all features.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.columns import ALONE, NOBODY, PUBLIC, Columns
from evennia_ai.memory.lexical import AudienceRows, Lexicon
from evennia_ai.memory.vectors import Floats, Rows, Vectors
from evennia_ai.policy.retrieval.relevance import QuerySigns, RelevanceWeights
from evennia_ai.policy.retrieval.time_expressions import DAY_S, Span

CANDIDATES = 384  # rows in the second pass, more if vectors have few signs to compare
SIGNS = 256
ALL_UP_TO = 1_024  # with no more rows than this there is no first pass
AROUND_S = 31 * DAY_S
BESIDE_S = DAY_S
TYPICAL_IMPORTANCE = 5.0
CHANCE_SHARE = 0.97  # of the rows have a lower score than what chance brings up
TINY = np.float32(1e-6)
CHANGING = 8  # of the best lines may be changed by later ones of their speakers
PAIRED = 2  # of them fully share what they have above chance, others by their nearness
BY_WORDS = 0.07  # by how much more than chance a line must fit where words alone rank
NAMED: np.float32 = np.float32(0.1)  # what a line fits better if a query names its speaker
CROWD, NEAREST = 96, 3  # of the best rows; the rows that each of them is compared with


class RankingQuery(NamedTuple):
    """A query: its features, and its vector."""

    wanted: QuerySigns
    vector: Floats | None


class Ranked(NamedTuple):
    """Rows, best first, with their scores, cosines with the query, and cosines with each other.

    Where words alone rank, more than 1 stands for the cosine of what fits, and 0 for others; for
    the cosine of a row that waits for its vector, its score stands.
    """

    rows: Rows
    scores: Floats
    fits: Floats
    alike: Floats


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
    """Return at least ``least`` rows of a view, if there are as many, best first."""
    most = CANDIDATES * max(1, SIGNS // (memories.vectors.dimensions or SIGNS))
    places, scores, chance = _candidates(memories, view, query, weights, max(most, 2 * least))
    rows = view.rows.take(places)
    important = memories.columns["importance"].take(rows) / np.float32(TYPICAL_IMPORTANCE) - 1
    scores += np.abs(scores) * np.float32(weights.importance) * np.clip(important, -1, 1)
    scores += weights.sources * _source_gains(memories, view, places, scores)
    scores += _features(memories.columns, rows, query.wanted, weights)
    best = np.argsort(-scores, kind="stable")[: max(least, CROWD)]
    rows, scores = rows.take(best), scores.take(best)
    alike = memories.vectors.alike(rows)
    scores -= np.float32(weights.crowd) * _crowds(alike)
    above = scores - np.float32(chance)
    if weights.later:
        above = _with_later(memories.columns, rows, alike, above, np.float32(weights.later))
    best = np.argsort(-above, kind="stable")[:least]
    rows, above = rows.take(best), above.take(best)
    fits = np.where(above >= BY_WORDS, 1 + above, np.float32(0))
    if query.vector is not None:
        by_words = np.where(above >= BY_WORDS, above + np.float32(chance), np.float32(0))
        fits = np.where(memories.vectors.has(rows), _fits(memories, rows, query), by_words)
    # A line and what changes it fit equally well.
    fits = np.where(above[:, None] == above, fits, np.float32(-1)).max(axis=1, initial=-1)
    return Ranked(rows, above + np.float32(chance), fits, alike[np.ix_(best, best)])


def _fits(memories: MemoryData, rows: Rows, query: RankingQuery) -> Floats:
    """Return the rows' cosines with a query, more if it names their speaker."""
    no_mean = np.zeros(memories.vectors.dimensions, dtype=np.float32)
    named = memories.columns.speakers_named(query.wanted.names)
    cosines = memories.vectors.full(rows, query.vector, no_mean)
    return cosines + NAMED * memories.columns.said_by(named, rows).astype(np.float32)


def _crowds(alike: Floats) -> Floats:
    """Return how near each row is to the nearest others, by their cosines.

    What is said again and again tells nothing of anybody. Less for the nearness to others makes up
    for it, as for the hubs of any space (Conneau et al., "Word translation without parallel data",
    2018, equation 4).
    """
    if len(alike) <= NEAREST:
        return np.zeros(len(alike), dtype=np.float32)
    others: Floats = alike - 2 * np.eye(len(alike), dtype=np.float32)
    nearest: Floats = np.partition(others, -NEAREST, axis=1)[:, -NEAREST:].mean(axis=1)
    return nearest


def _with_later(
    columns: Columns, rows: Rows, alike: Floats, fits: Floats, share: np.float32
) -> Floats:
    """Return what rows have above chance, raised for a line that seems to change a good one.

    What changes a fact may share little with the question, but it speaks of what the old line
    speaks of: of the later lines of its speaker it is the nearest to the old one, and of the
    earlier lines the old one is the nearest to it; what fits the question counts with a ``share``.
    ``alike`` are the rows' cosines.
    """
    raised = fits.copy()
    speakers, places = (columns[name].take(rows) for name in ("speaker", "place"))
    has_vector = alike.diagonal() > 0
    means = alike.mean(axis=0)
    near: Floats = alike - means - means[:, None] + means.mean()  # as seen from the mean of all
    lengths = np.sqrt(np.maximum(near.diagonal(), TINY))
    is_later = (speakers[:, None] == speakers) & (places[:, None] < places) & has_vector
    is_later &= (has_vector & (places != ALONE) & (speakers != NOBODY))[:, None]
    near /= lengths * lengths[:, None]
    nearest = np.where(is_later, near + share * fits, -np.inf).argmax(axis=1)
    changed = np.where(is_later, near + share * fits[:, None], -np.inf).argmax(axis=0)
    for place, old in enumerate(np.argsort(-fits, kind="stable")[:CHANGING].tolist()):
        new = nearest[old]
        if is_later[old, new] and near[old, new] > 0 and changed[new] == old:
            less = 0.0 if place < PAIRED else max(0.0, 1 - 2 * near[old, new])
            raised[new] = max(raised[new], fits[old] - less * (fits[old] - fits[new]))
    return raised


def _candidates(
    memories: MemoryData,
    view: AudienceRows,
    query: RankingQuery,
    weights: RelevanceWeights,
    most: int,
) -> tuple[Rows, Floats, float]:
    """Return the view's best places, their scores by words, meaning and neighbours, and the score
    of what chance brings up."""
    vectors, meaning = memories.vectors, np.float32(weights.meaning)
    by_words = memories.lexicon.scores(query.wanted.words, view, memories.columns["words"])
    # Without meaning, words have its weight, too; so they have for what waits for its vector.
    by_words *= np.where(
        vectors.has(view.rows) & (query.vector is not None),
        np.float32(weights.words),
        np.float32(weights.words) + meaning,
    )
    places = np.arange(len(view.rows))
    if len(places) <= max(most, ALL_UP_TO):
        score = vectors.full(view.rows, query.vector) * meaning + by_words
        chance = _chance_of(score)
        return places, _with_neighbours(score, chance, view, weights), chance
    mean = vectors.mean(view.rows)
    score = vectors.roughly(len(view.mask), query.vector, mean).take(view.rows)
    score = score * meaning + by_words
    chance = _chance_of(score)
    roughly = _with_neighbours(score, chance, view, weights)
    roughly += _speaker_gains(memories.columns, view.rows, query.wanted, weights)
    best = _highest(roughly, most)
    beside = np.unique(best[:, None] + np.arange(-1, 2))
    beside = beside[(beside >= 0) & (beside < len(places))]
    full = vectors.full(view.rows.take(beside), query.vector, mean)
    score[beside] = full * meaning + by_words.take(beside)
    return best, _with_neighbours(score, chance, view, weights).take(best), chance


def _chance_of(score: Floats) -> float:
    place = int(CHANCE_SHARE * (len(score) - 1))
    return float(np.partition(score, place)[place])


def _highest(score: Floats, most: int) -> Rows:
    """Return the places of the highest scores in order of place, of equal ones the first."""
    border = np.partition(score, len(score) - most)[len(score) - most]
    above = np.flatnonzero(score > border)
    level = np.flatnonzero(score == border)[: most - len(above)]
    return np.sort(np.concatenate([above, level]))


def _with_neighbours(
    score: Floats, chance: float, view: AudienceRows, weights: RelevanceWeights
) -> Floats:
    """Return scores with shares of what the lines beside have above chance.

    An answer follows its question. What chance gives a neighbour says nothing of a line.
    """
    above = np.maximum(score[: view.lines] - np.float32(chance), 0)
    near = score.copy()
    near[1 : view.lines] += np.float32(weights.before) * above[:-1]
    near[: len(above[1:])] += np.float32(weights.after) * above[1:]
    return near


def _speaker_gains(
    columns: Columns, rows: Rows, wanted: QuerySigns, weights: RelevanceWeights
) -> Floats:
    """Return what lines of the people gain whom a query names, or else those of who asks."""
    weight = np.float32(weights.speaker if wanted.names else weights.asker)
    speakers = columns.speakers_named(wanted.names or wanted.askers)
    gains: Floats = weight * columns.said_by(speakers, rows)
    return gains


def _features(
    columns: Columns, rows: Rows, wanted: QuerySigns, weights: RelevanceWeights
) -> Floats:
    """Return the sum of the other features of each row, such as speaker and time."""
    features = _speaker_gains(columns, rows, wanted, weights)
    lengths = np.log1p(columns["words"].take(rows), dtype=np.float32)
    features += np.float32(weights.length) * lengths
    features += np.float32(weights.confided) * (columns["group"].take(rows) != PUBLIC)
    if wanted.spans:
        at = wanted.on_clock(columns["at"][rows])
        short = [span for span in wanted.spans if span.is_short]
        long = [span for span in wanted.spans if not span.is_short]
        around = _any_in(at, short, AROUND_S) | _any_in(at, long, 0.0)
        features += np.float32(weights.around) * around
        features += np.float32(weights.within) * _any_in(at, short, BESIDE_S)
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

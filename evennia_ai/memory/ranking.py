"""How near memories are to what is wanted: the signs of each, weighed and summed.

First all memories in view are looked at by words and, coarsely, by meaning, together with what
stands before and after them; then the best few hundred by everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.columns import Columns
from evennia_ai.memory.lexical import Lexicon, View
from evennia_ai.memory.vectors import Floats, Rows, Vectors
from evennia_ai.policy.retrieval.time_expressions import DAY_S, Span
from evennia_ai.policy.retrieval.weights import Wanted, Weights

LOOKED_AT = 512  # of more memories than ALL_UP_TO, so many are weighed by everything
ALL_UP_TO = 1_024
AROUND_S = 31 * DAY_S
BESIDE_S = DAY_S
SESSION_GAP_S = 1_800.0
RECENCY_DAYS = 365.0
TYPICAL_IMPORTANCE = 5.0


class Asked(NamedTuple):
    """One question: what it wants, its vector, and when it is asked."""

    wanted: Wanted
    vector: Floats | None
    now: float | None


class Ranked(NamedTuple):
    """Rows, best first, with their scores."""

    rows: Rows
    scores: Floats


class Candidates(NamedTuple):
    """Everything that is known of the memories."""

    columns: Columns
    lexicon: Lexicon
    vectors: Vectors
    sources_of: Callable[[int], list[int]]


def rank(shelf: Candidates, view: View, asked: Asked, weights: Weights, least: int) -> Ranked:
    """The best rows in view, at least ``least`` of them where there are as many."""
    places, near = _candidates(shelf, view, asked, weights, max(LOOKED_AT, 2 * least))
    rows = view.rows[places]
    scores = near + _signs(shelf.columns, rows, asked, weights)
    scores += weights.sources * _lifts(shelf, view, places, near)
    scores += np.abs(scores) * _gates(shelf.columns, rows, asked, weights)
    order = np.lexsort((rows, -scores))
    return Ranked(rows[order], scores[order])


def _candidates(
    shelf: Candidates, view: View, asked: Asked, weights: Weights, most: int
) -> tuple[Rows, Floats]:
    """The places in view of what may be the best, and how near each is with what is beside it."""
    size = len(view.mask)
    by_words = shelf.lexicon.scores(asked.wanted.words, view, shelf.columns["words"])
    by_words *= np.float32(weights.words)
    places = np.arange(len(view.rows))
    if len(places) <= max(most, ALL_UP_TO):
        near = by_words + np.float32(weights.meaning) * shelf.vectors.full(view.rows, asked.vector)
        return places, _with_neighbours(near, weights) + _of_session(near, shelf, view, weights)
    near = shelf.vectors.roughly(size, asked.vector)[view.rows] * np.float32(weights.meaning)
    near += by_words
    of_session = _of_session(near, shelf, view, weights)
    roughly = _with_neighbours(near, weights) + of_session
    best = _best(roughly, most, shelf, view, asked, weights)
    beside = np.zeros(len(places), dtype=np.bool_)
    reach = len(weights.before)
    beside[np.clip(best[:, None] + np.arange(-reach, reach + 1), 0, len(places) - 1)] = True
    full = shelf.vectors.full(view.rows[beside], asked.vector) * np.float32(weights.meaning)
    near[beside] = by_words[beside] + full
    return best, (_with_neighbours(near, weights) + of_session)[best]


def _best(
    near: Floats, most: int, shelf: Candidates, view: View, asked: Asked, weights: Weights
) -> Rows:
    """The places of the nearest, the speaker already counted, in their order."""
    speakers = shelf.columns.speakers_named(asked.wanted.names)
    if speakers:
        said = shelf.columns.said_by(speakers, view.rows)
        near = near + np.float32(weights.speaker) * said.astype(np.float32)
    border = np.partition(near, len(near) - most)[len(near) - most]
    above = np.flatnonzero(near > border)
    level = np.flatnonzero(near == border)[: most - len(above)]
    return np.sort(np.concatenate([above, level]))


def _with_neighbours(near: Floats, weights: Weights) -> Floats:
    """How near each memory in view is, with those before and after it."""
    total = near.copy()
    for distance, (before, after) in enumerate(zip(weights.before, weights.after, strict=True), 1):
        total[distance:] += np.float32(before) * near[:-distance]
        total[:-distance] += np.float32(after) * near[distance:]
    return total


def _of_session(near: Floats, shelf: Candidates, view: View, weights: Weights) -> Floats:
    """What each memory in view gains from the nearest that was said in one go with it."""
    at = shelf.columns["at"][view.rows]
    begins = np.ones(len(at), dtype=np.bool_)
    # A time that is not known is near to no other: such a memory is a session by itself.
    begins[1:] = ~(np.abs(at[1:] - at[:-1]) <= SESSION_GAP_S)
    starts = np.flatnonzero(begins)
    best = np.maximum.reduceat(near, starts) * np.float32(weights.session)
    gained: Floats = best[np.cumsum(begins) - 1]
    return gained


def _signs(columns: Columns, rows: Rows, asked: Asked, weights: Weights) -> Floats:
    """What speaks for each row beside its nearness."""
    wanted = asked.wanted
    signs: Floats = np.float32(weights.length) * columns["length"][rows]
    signs += weights.question * columns["question"][rows]
    if wanted.names:
        signs += weights.speaker * columns.said_by(columns.speakers_named(wanted.names), rows)
    if wanted.time:
        signs += weights.time * columns["time"][rows]
    if wanted.number:
        signs += weights.number * columns["number"][rows]
    if wanted.spans:
        at = columns["at"][rows]
        short = [span for span in wanted.spans if span.is_short]
        long = [span for span in wanted.spans if not span.is_short]
        around = _any_in(at, short, AROUND_S) | _any_in(at, long, 0.0)
        signs += weights.around * around + weights.within * _any_in(at, short, BESIDE_S)
    return signs


def _any_in(
    at: npt.NDArray[np.float64], spans: Sequence[Span], margin_s: float
) -> npt.NDArray[np.bool_]:
    """Which of these times are in one of the spans, or no farther from it than the margin."""
    found = np.zeros(len(at), dtype=np.bool_)
    for span in spans:
        found |= (at >= span.start - margin_s) & (at < span.end + margin_s)
    return found


def _lifts(shelf: Candidates, view: View, places: Rows, near: Floats) -> Floats:
    """What each gains from the memories it comes from, and from those that come from it."""
    lifts = np.zeros(len(places), dtype=np.float32)
    sourced = np.flatnonzero(shelf.columns["sourced"][view.rows[places]])
    if not len(sourced):
        return lifts
    place_of = {int(row): place for place, row in enumerate(view.rows[places])}
    for place in sourced.tolist():
        for row in shelf.sources_of(int(view.rows[places[place]])):
            source = place_of.get(row)
            if source is not None:
                lifts[source] = max(lifts[source], near[place])
                lifts[place] = max(lifts[place], near[source])
    return lifts


def _gates(columns: Columns, rows: Rows, asked: Asked, weights: Weights) -> Floats:
    """By what share recency and importance raise or lower a score: a tenth at the most."""
    gate: Floats = np.clip(columns["importance"][rows] / TYPICAL_IMPORTANCE - 1, -1, 1)
    gate *= np.float32(weights.importance)
    if asked.now is not None and math.isfinite(asked.now):
        days = np.maximum(asked.now - columns["at"][rows], 0) / DAY_S
        fresh = 2 * np.exp(-days / RECENCY_DAYS) - 1
        gate += weights.recency * np.nan_to_num(fresh, nan=0.0)
    return gate

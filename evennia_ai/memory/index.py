"""Memories, and which of them fit what was said: the ranking behind everything that comes to mind.

A memory is found by its meaning (an embedding), by its words (BM25), by what stands before and
after it (an answer follows its question), by who said it and when, and by facts that were drawn
from it. Who may know of a memory is asked before anything is ranked: what is hidden takes no part,
neither in how rare a word is nor as a neighbour, so that a search comes out the same without it.

An index holds nothing that cannot be rebuilt, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.columns import Columns
from evennia_ai.memory.lexical import Lexicon, View
from evennia_ai.memory.ranking import Asked, Candidates, Ranked, rank
from evennia_ai.memory.vectors import Floats, Vectors, unit
from evennia_ai.policy.retrieval.weights import LONGEST_TEXT, Weights, describe, understand
from evennia_ai.ports import Embedder, RemoteEmbedder

SPARE = 4  # results weighed against each other for each one wanted
ALIKE = 0.97  # cosine; what is nearer says the same again
STEP = 50  # texts embedded at a stretch: about 3 ms with the default embedder
FEWEST_GONE = 256


class MemoryIndex:
    """Memories by their ids, searched by what fits. Not for use in several threads."""

    def __init__(
        self, embedder: Embedder | RemoteEmbedder | None = None, weights: Weights | None = None
    ) -> None:
        """An empty index.

        Args:
            embedder: turns texts into vectors. One that cannot do so at once (it has no ``embed``),
                or None, leaves it to the caller to hand vectors in; without any, words decide.
            weights: how much each sign counts.
        """
        self._embedder = embedder
        self.weights = weights or Weights()
        self._row_of: dict[str, int] = {}
        self._ids: list[str] = []
        self._texts: list[bytes] = []
        self._sources: dict[int, tuple[str, ...]] = {}
        self._columns = Columns()
        self._lexicon = Lexicon()
        self._vectors = Vectors()

    def __len__(self) -> int:
        """How many memories there are."""
        return len(self._row_of)

    def __contains__(self, id: object) -> bool:
        """True for the id of a memory that is here."""
        return id in self._row_of

    def add(  # noqa: PLR0913  # each says one thing of a memory, and all but two have a default
        self,
        id: str,
        text: str,
        speaker: str | None = None,
        at: float | None = None,
        importance: float = 5,
        audience: Iterable[str] | None = None,
        sources: Iterable[str] = (),
        *,
        vector: Any = None,
    ) -> None:
        """Take a memory in; one of the same id is replaced and keeps its place among the others.

        Args:
            id: names it in results.
            text: what it says; the first 4,000 characters are ranked by.
            speaker: the display name of who said it.
            at: when, in unix seconds.
            importance: from 1 to 10.
            audience: who may know of it (dbrefs); None is everybody.
            sources: ids of the memories it was drawn from, whether they are here or not.
            vector: its embedding, where the embedder cannot be asked at once.

        Raises:
            ValueError: where the vector does not fit those of the others.
        """
        offered, sources = describe(text), tuple(sources)
        row = self._row_for(id, self._embed(text) if vector is None else unit(vector))
        self._texts[row] = as_stored(text)
        self._lexicon.add(row, offered.words)
        self._columns.put(row, offered, speaker, None if audience is None else frozenset(audience))
        self._columns.put_weight(row, at, importance, bool(sources))
        if sources:
            self._sources[row] = sources

    def remove(self, id: str) -> bool:
        """Forget a memory; False where there was none of this id."""
        row = self._row_of.pop(id, None)
        if row is None:
            return False
        self._take_out(row)
        self._ids[row], self._texts[row] = "", b""
        if self._columns.size - len(self) > max(FEWEST_GONE, len(self)):
            self._close_ranks()
        return True

    def search(
        self,
        query: str,
        k: int,
        audience: Iterable[str] | None = None,
        now: float | None = None,
        *,
        everything: bool = False,
        vector: Any = None,
    ) -> list[tuple[str, float]]:
        """The memories that fit best.

        Args:
            query: a question, or whatever was said.
            k: how many are wanted.
            audience: who will hear what comes of it (dbrefs); only memories all of them may know
                take part. None: only what everybody may know.
            now: when it is asked, in unix seconds, for recency and words like "yesterday".
            everything: True lets every memory take part, whoever may know of it.
            vector: the query's embedding, where the embedder cannot be asked at once.

        Returns:
            At most ``k`` pairs of id and score, best first. A score means something only beside
            others of the same search.
        """
        view = self._columns.view(None if audience is None else frozenset(audience), everything)
        if k <= 0 or not len(view.rows):
            return []
        wanted = understand(query, lambda word: self._columns.is_name(word, view), now)
        meant = self._embed(wanted.text) if vector is None else unit(vector)
        shelf = Candidates(self._columns, self._lexicon, self._vectors, self._sources_of)
        ranked = rank(shelf, view, Asked(wanted, meant, now), self.weights, SPARE * k)
        return self._varied(ranked, view, k, now)

    def reembed(self, embedder: Embedder | RemoteEmbedder | None) -> Iterator[None]:
        """Change the embedder, in steps of a few milliseconds each; run it to its end.

        Until then, and where the new embedder cannot be asked at once, words alone decide.
        """
        self._embedder = embedder
        self._vectors = Vectors()
        done = 0
        while done < self._columns.size:
            for row in range(done, min(done + STEP, self._columns.size)):
                if self._columns.is_there(row):
                    self._vectors.put(row, self._embed(as_given(self._texts[row])))
            done += STEP
            yield

    # --- within ----------------------------------------------------------------------------------

    def _row_for(self, id: str, vector: Floats | None) -> int:
        """The row of an id, empty but for its vector; raises ValueError for one that is unfit."""
        row = self._row_of.get(id, self._columns.size)
        self._vectors.put(row, vector)
        if id in self._row_of:
            self._take_out(row)
            self._vectors.put(row, vector)
            return row
        self._row_of[id] = self._columns.new_row()
        self._ids.append(id)
        self._texts.append(b"")
        return row

    def _take_out(self, row: int) -> None:
        self._lexicon.remove(row, describe(as_given(self._texts[row])).words)
        self._sources.pop(row, None)
        self._vectors.put(row, None)
        self._columns.drop(row)

    def _close_ranks(self) -> None:
        """Give back the room of memories that are gone: a millisecond for a thousand of them."""
        rows = np.array(sorted(self._row_of.values()), dtype=np.int64)
        self._lexicon.keep(rows, self._columns.size)
        self._vectors.keep(rows)
        self._columns.keep(rows)
        self._ids = [self._ids[row] for row in rows.tolist()]
        self._texts = [self._texts[row] for row in rows.tolist()]
        self._row_of = dict(zip(self._ids, range(len(rows)), strict=True))
        places = {row: place for place, row in enumerate(rows.tolist())}
        self._sources = {places[row]: sources for row, sources in self._sources.items()}

    def _embed(self, text: str) -> Floats | None:
        if not answers_at_once(self._embedder):
            return None
        return unit(self._embedder.embed([readable(text)])[0])

    def _sources_of(self, row: int) -> list[int]:
        found = (self._row_of.get(source) for source in self._sources.get(row, ()))
        return [source for source in found if source is not None]

    def _varied(
        self, ranked: Ranked, view: View, k: int, now: float | None
    ) -> list[tuple[str, float]]:
        """The best, with those at the end that say nothing new beside the better ones. Where there
        is a now, the newest stands for all that say the same: it may be another number by now."""
        rows = ranked.rows[: SPARE * k]
        alike = self._vectors.alike(rows) > ALIKE
        chosen: list[int] = []
        again: list[int] = []
        for place, row in enumerate(rows.tolist()):
            # A fact stands in what it was drawn from.
            told = any(view.mask[source] for source in self._sources_of(row))
            (again if told or alike[place, chosen].any() else chosen).append(place)
            if len(chosen) == k:
                break
        best = (chosen + again)[:k]
        scores = np.minimum.accumulate(ranked.scores[best]).tolist()
        if now is not None:
            best = with_newest_of_alike(best, alike, self._columns["at"][rows])
        return [
            (self._ids[row], score) for row, score in zip(rows[best].tolist(), scores, strict=True)
        ]


def with_newest_of_alike(
    best: Sequence[int], alike: npt.NDArray[np.bool_], at: npt.NDArray[np.float64]
) -> list[int]:
    """Places, each with the newest of those alike to it in its stead, but none twice."""
    chosen = list(best)
    for number, place in enumerate(best):
        newer = np.flatnonzero(alike[place] & (at > at[place])).tolist()
        free = [n for n in newer if n not in chosen[:number]]
        if place != chosen[number] or not free:
            continue
        newest = max(free, key=lambda n: float(at[n]))
        if newest in chosen:
            chosen[chosen.index(newest)] = place
        chosen[number] = newest
    return chosen


def answers_at_once(embedder: Embedder | RemoteEmbedder | None) -> TypeGuard[Embedder]:
    """True for an embedder that need not be waited for."""
    return hasattr(embedder, "embed")


def readable(text: str) -> str:
    """As much of a text as is ranked by, without what no encoding knows."""
    return as_given(as_stored(text[:LONGEST_TEXT]))


def as_stored(text: str) -> bytes:
    """A text in as few bytes as may be."""
    return text.encode("utf-8", "replace")


def as_given(stored: bytes) -> str:
    """The text again."""
    return stored.decode("utf-8")

"""Memories, and which of them fit what was said: the ranking behind everything that comes to mind.

A memory is found by its meaning (an embedding), by its words (BM25), by what stands before and
after it (an answer follows its question), by who said it and when, and by facts that were drawn
from it. Who may know of a memory is asked before anything is ranked: what is hidden takes no part,
neither in how rare a word is nor as a neighbour, so that a search comes out the same without it.

An index holds nothing that cannot be rebuilt, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from evennia_ai.memory.columns import Columns
from evennia_ai.memory.lexical import Floats, Lexicon, Rows, View
from evennia_ai.memory.ranking import Asked, Ranked, Shelf, rank
from evennia_ai.memory.vectors import Vectors, unit
from evennia_ai.policy.retrieval import LONGEST_TEXT, Weights, describe, understand
from evennia_ai.ports import Audience, Embedder, RemoteEmbedder

SPARE = 4  # results weighed against each other for each one wanted
ALIKE = 0.97  # cosine; what is nearer says the same again
STEP = 50  # texts embedded at a stretch: about 3 ms with the default embedder
FEWEST_GONE = 256


class Kept(NamedTuple):
    """A memory as it was given."""

    id: str
    text: str
    speaker: str | None
    at: float | None
    importance: float
    audience: Audience | None
    sources: tuple[str, ...]


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
        self._weights = weights or Weights()
        self._clear()

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
        kept = Kept(
            id,
            text,
            speaker,
            at,
            importance,
            None if audience is None else frozenset(audience),
            tuple(sources),
        )
        self._put(kept, self._embed(text) if vector is None else unit(vector))

    def remove(self, id: str) -> bool:
        """Forget a memory; False where there was none of this id."""
        row = self._row_of.pop(id, None)
        if row is None:
            return False
        self._take_out(row)
        self._kept[row] = None
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
        shelf = Shelf(self._columns, self._lexicon, self._vectors, self._sources_of)
        ranked = rank(shelf, view, Asked(wanted, meant, now), self._weights, SPARE * k)
        return self._varied(ranked, view, k)

    def reembed(self, embedder: Embedder | RemoteEmbedder | None) -> Iterator[None]:
        """Change the embedder, in steps of a few milliseconds each; run it to its end.

        Until then, and where the new embedder cannot be asked at once, words alone decide.
        """
        self._embedder = embedder
        self._vectors = Vectors()
        done = 0
        while done < self._columns.size:
            for row in range(done, min(done + STEP, self._columns.size)):
                kept = self._kept[row]
                if kept is not None:
                    self._vectors.put(row, self._embed(kept.text))
            done += STEP
            yield

    # --- within ----------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._row_of: dict[str, int] = {}
        self._kept: list[Kept | None] = []
        self._columns = Columns()
        self._lexicon = Lexicon()
        self._vectors = Vectors()

    def _put(self, kept: Kept, vector: Floats | None) -> None:
        row = self._row_of.get(kept.id, self._columns.size)
        self._vectors.put(row, vector)  # first, since it may be refused
        if kept.id in self._row_of:
            self._take_out(row)
            self._vectors.put(row, vector)
        else:
            self._columns.new_row()
            self._kept.append(None)
            self._row_of[kept.id] = row
        offered = describe(kept.text)
        self._kept[row] = kept
        self._lexicon.add(row, offered.words)
        self._columns.put(row, offered, kept.speaker, kept.audience)
        self._columns.put_weight(row, kept.at, kept.importance, bool(kept.sources))

    def _take_out(self, row: int) -> None:
        kept = self._kept[row]
        if kept is not None:
            self._lexicon.remove(row, describe(kept.text).words)
        self._vectors.put(row, None)
        self._columns.drop(row)

    def _close_ranks(self) -> None:
        """Give back the room of memories that are gone."""
        left = [(kept, self._vectors.get(row)) for row, kept in enumerate(self._kept) if kept]
        self._clear()
        for kept, vector in left:
            self._put(kept, vector)

    def _embed(self, text: str) -> Floats | None:
        embed = getattr(self._embedder, "embed", None)
        if embed is None:
            return None
        return unit(embed([readable(text)])[0])

    def _sources_of(self, row: int) -> list[int]:
        kept = self._kept[row]
        found = (self._row_of.get(source) for source in kept.sources) if kept else ()
        return [source for source in found if source is not None]

    def _varied(self, ranked: Ranked, view: View, k: int) -> list[tuple[str, float]]:
        """The best, with those at the end that say nothing new beside the better ones."""
        rows = ranked.rows[: SPARE * k]
        chosen: list[int] = []
        again: list[int] = []
        for place, row in enumerate(rows.tolist()):
            taken = rows[chosen]
            (again if self._says_again(row, taken, view) else chosen).append(place)
            if len(chosen) == k:
                break
        best = (chosen + again)[:k]
        scores = np.minimum.accumulate(ranked.scores[best]).tolist()
        return [
            (self._id(row), score) for row, score in zip(rows[best].tolist(), scores, strict=True)
        ]

    def _says_again(self, row: int, taken: Rows, view: View) -> bool:
        """True for what stands in others: a fact in its sources, or nearly the same words."""
        if any(view.mask[source] for source in self._sources_of(row)):
            return True
        return bool((self._vectors.full(taken, self._vectors.get(row)) > ALIKE).any())

    def _id(self, row: int) -> str:
        kept = self._kept[row]
        return kept.id if kept else ""


def readable(text: str) -> str:
    """As much of a text as is ranked by, without what no encoding knows."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")

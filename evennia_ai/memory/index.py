"""A search index over memories, the basis of every recall.

A memory is found by its meaning (an embedding), by its words (BM25), by its neighbours (an answer
follows its question), by its speaker and time, and by the facts that were drawn from it. The
audience is checked before anything is ranked: a hidden memory changes neither the rarity of a word
nor the score of a neighbour, so the result is the same as without it.

An index can always be rebuilt, and it writes nothing.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from evennia_ai.memory import vectors
from evennia_ai.memory.columns import ALONE, Columns
from evennia_ai.memory.lexical import AudienceRows, Lexicon, number_of
from evennia_ai.memory.ranking import MemoryData, Ranked, RankingQuery, rank
from evennia_ai.policy.retrieval.relevance import (
    LONGEST_TEXT,
    NO_CONTEXT,
    QueryContext,
    RelevanceWeights,
    understand,
    unix_time,
)
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.ports import Embedder, RemoteEmbedder

FOLLOWING = 5  # what the character answers in between counts
SHORT = 10  # words that carry meaning; a longer line says enough alone
SAME_TALK_S = 900.0
SPARE = 3  # results that are compared with each other for each one wanted
ALIKE = 0.97  # cosine above which two memories say the same
FEWEST_GONE = 256  # removed rows before their memory is given back
ROW_BYTES = 200  # of a memory beside its words and vector (measured)


class Hit(NamedTuple):
    """A memory that was found.

    Scores compare within one search. ``fit`` compares between searches: the cosine of the memory
    and the query, where words alone rank above 1 or 0.
    """

    id: str
    score: float
    fit: float


class MemoryIndex:
    """A search index that ranks memories for a query; for one thread only.

    Without an embedder, or with a remote one (it has no ``embed``), the caller passes vectors in; a
    memory without a vector is ranked by words.
    """

    def __init__(
        self,
        embedder: Embedder | RemoteEmbedder | None = None,
        weights: RelevanceWeights | None = None,
    ) -> None:
        self._embedder = embedder
        self.weights = weights or RelevanceWeights()
        self.on_clock: Callable[[Any], Any] = unix_time  # the clock of "yesterday"
        self._row_of: dict[str, int] = {}
        self._ids: list[str] = []
        self._sources: dict[int, tuple[str, ...]] = {}
        self._columns = Columns()
        self._lexicon = Lexicon()
        self._vectors = vectors.Vectors()
        self._last_asked: tuple[str | None, vectors.Floats | None] = None, None

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def nbytes(self) -> int:
        parts = (self._lexicon, self._vectors)
        return len(self) * ROW_BYTES + sum(part.nbytes for part in parts)

    def add(  # one argument a property; all but two have defaults
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
        place: int | None = None,
    ) -> None:
        """Add a memory; it replaces one with the same id.

        Args:
            id: its name in results.
            text: its words; only the first 4,000 characters are ranked.
            speaker: the display name of its speaker.
            at: its time in unix seconds.
            importance: 1 to 10.
            audience: dbrefs of those who may know it; None is everybody.
            sources: ids of the memories it was drawn from, in the index or not.
            vector: its embedding, or the bytes that `vectors.pack` made of it, if the embedder is
                remote or the embedding is known; ValueError if it does not fit.
            place: its place in the talk, 0 or more; its neighbours have the nearest places. None is
                the place after the last one, or that of the memory it replaces. `ALONE`, and None
                for a memory with sources, is a memory without neighbours.
        """
        words = find_words(text[:LONGEST_TEXT])
        sources = tuple(sources)
        place = ALONE if place is None and sources else place
        embedding = self._embed("embed", text) if vector is None else vector
        row = self._row_for(id, None if embedding is None else vectors.to_bytes(embedding), place)
        self._lexicon.add(row, map(number_of, words))
        hearers = None if audience is None else frozenset(audience)
        weight = {"importance": importance, "at": np.nan if at is None else at}
        sourced = bool(sources)
        self._columns.put(row, speaker, hearers, words=len(words), sourced=sourced, **weight)
        if sources:
            self._sources[row] = sources

    def set_vector(self, id: str, vector: Any) -> None:
        """Set the embedding of a memory that has none; ValueError if it does not fit."""
        self._vectors.put(self._row_of[id], vectors.to_bytes(vector))

    def __contains__(self, id: str) -> bool:
        return id in self._row_of

    def remove(self, id: str) -> bool:
        """Remove a memory; return False if there is none with this id."""
        row = self._row_of.pop(id, None)
        if row is None:
            return False
        self._take_out(row)
        return True

    def find(  # all but two have defaults
        self,
        query: str,
        k: int,
        audience: Iterable[str] | None = None,
        now: float | None = None,
        *,
        everything: bool = False,
        vector: Any = None,
        upto: int | None = None,
        context: QueryContext = NO_CONTEXT,
        among: Iterable[str] | None = None,
    ) -> list[Hit]:
        """Return at most ``k`` memories, best first, and what follows the first ones.

        Args:
            audience: dbrefs of those who will hear the result; only memories that all of them may
                know are searched. None searches public memories only.
            now: the time of the query in unix seconds, for recency and words like "yesterday".
            everything: True searches all memories, whatever their audience.
            vector: the query's embedding, if the embedder is remote.
            upto: the place of the last line that is searched; None searches all lines.
            context: the talk in which it is asked.
            among: the ids of notes that alone are searched; None searches all memories.
        """
        view = self._view(audience, upto, everything)
        if among is not None:
            rows = self._rows_of([name for name in among if name in self])
            view = self._columns.view_of(rows[view.mask[rows]])
        if k <= 0 or not len(view.rows):
            return []
        hits = self._best(self._rank(query, view, now, vector, SPARE * k, context), view, k)
        first = (self._with_following(hit, view) for hit in hits[: context.company])
        return [*chain.from_iterable(first), *hits[context.company :]]

    def embedded_text(
        self,
        query: str,
        audience: Iterable[str] | None = None,
        upto: int | None = None,
        everything: bool = False,
    ) -> str:
        """Return the part of a query to embed: without the names of those who speak in a view.

        With the names, 2 to 3 % fewer facts that strangers ask for are in a prompt.
        """
        view = self._view(audience, upto, everything)
        return understand(query, lambda word: self._columns.is_name(word, view)).text

    def nearness(self, query: str, ids: Sequence[str], vector: Any = None) -> vectors.Floats:
        """Return how near each of some notes is to a query by meaning.

        Other memories change nothing. ``vector`` is the query's embedding, if the embedder is
        remote; without it no note is near.
        """
        rows = self._rows_of(ids)
        meaning = self._meaning(query) if vector is None else vectors.unit(vector)
        origin = np.zeros(self._vectors.dimensions, dtype=np.float32)
        return self._vectors.full(rows, meaning, origin)

    def shared_words(self, query: str, ids: Sequence[str]) -> vectors.Floats:
        """Return the share of a query's words that each of some notes has, by their rarity."""
        view = self._columns.view_of(self._rows_of(ids))
        words = understand(query, lambda word: self._columns.is_name(word, view)).words
        return self._lexicon.scores(words, view, self._columns["words"])

    def between(self, ids: Sequence[str], others: Sequence[str]) -> vectors.Floats:
        """Return the cosines of some notes (rows) with others (columns); 0 without a vector."""
        return self._vectors.between(self._rows_of(ids), self._rows_of(others))

    def _rows_of(self, ids: Sequence[str]) -> vectors.Rows:
        return np.array([self._row_of[name] for name in ids], dtype=np.int64)

    def _with_following(self, hit: Hit, view: AudienceRows) -> list[Hit]:
        """Return a hit and, if it is a short line, the lines that follow it in its talk."""
        row, columns = self._row_of[hit.id], self._columns
        place, at = columns["place"], columns["at"]
        if place[row] == ALONE or columns["words"][row] > SHORT:
            return [hit]
        lines = view.rows[: view.lines]
        first = bisect_left(lines, place[row], key=place.__getitem__) + 1
        following = lines[first : first + FOLLOWING].tolist()
        near = [line for line in following if not abs(at[line] - at[row]) > SAME_TALK_S]
        return [hit, *(Hit(self._ids[line], hit.score, 0.0) for line in near)]

    def _view(
        self, audience: Iterable[str] | None, upto: int | None, everything: bool = False
    ) -> AudienceRows:
        hearers = None if audience is None else frozenset(audience)
        return self._columns.view(hearers, everything, upto)

    def _rank(
        self,
        query: str,
        view: AudienceRows,
        now: float | None,
        vector: Any,
        least: int,
        context: QueryContext,
    ) -> Ranked:
        """Return at least ``least`` rows of a view, if there are as many, best first."""
        wanted = understand(
            query, lambda word: self._columns.is_name(word, view), now, context, self.on_clock
        )
        meaning = self._meaning(wanted.text) if vector is None else vectors.unit(vector)
        memories = MemoryData(self._columns, self._lexicon, self._vectors, self._sources_of)
        return rank(memories, view, RankingQuery(wanted, meaning), self.weights, least)

    def _row_for(self, id: str, vector: vectors.Bytes | None, place: int | None) -> int:
        """Return the row for an id with only its vector and place set; raises as `add` does."""
        self._vectors.check(vector)
        replaced = self._row_of.pop(id, None)
        if replaced is not None:
            place = int(self._columns["place"][replaced]) if place is None else place
            self._take_out(replaced)
        row = self._row_of[id] = self._columns.new_row()
        self._ids.append(id)
        self._vectors.put(row, vector)
        self._columns.put_place(row, self._columns.last_place + 1 if place is None else place)
        return row

    def _take_out(self, row: int) -> None:
        """Drop a row that no id names any more; its words stay until rows are renumbered."""
        self._ids[row] = ""
        self._sources.pop(row, None)
        self._columns.drop(row)
        if self._columns.size - len(self) > max(FEWEST_GONE, len(self)):
            self._compact_rows()

    def _compact_rows(self) -> None:
        """Renumber the rows to free the memory of removed ones: 1 ms for a thousand rows."""
        rows = np.array(sorted(self._row_of.values()), dtype=np.int64)
        self._lexicon.keep(rows, self._columns.size)
        self._vectors.keep(rows)
        self._columns.keep(rows)
        self._ids = [self._ids[row] for row in rows.tolist()]
        self._row_of = dict(zip(self._ids, range(len(rows)), strict=True))
        places = {row: place for place, row in enumerate(rows.tolist())}
        self._sources = {places[row]: sources for row, sources in self._sources.items()}

    def _meaning(self, query: str) -> vectors.Floats | None:
        """Return the embedding of a query; it is often searched in older lines just before."""
        if self._last_asked[0] != query:
            self._last_asked = query, self._embed("embed_query", query)
        return self._last_asked[1]

    def _embed(self, name: str, text: str) -> vectors.Floats | None:
        if not vectors.answers_at_once(self._embedder):
            return None
        embed = getattr(self._embedder, name, self._embedder.embed)
        return vectors.unit(embed([vectors.readable(text)])[0])

    def _sources_of(self, row: int) -> list[int]:
        sources = self._sources.get(row, ())
        return [self._row_of[source] for source in sources if source in self._row_of]

    def _best(self, ranked: Ranked, view: AudienceRows, k: int) -> list[Hit]:
        """Return the best ``k`` results, those that only repeat a better one last.

        Of what is said in the same words, the newest stands in the place of the best.
        """
        rows = ranked.rows
        alike = ranked.alike > ALIKE
        repeating = (alike.sum(axis=0) > 1).tolist()  # each is like itself
        at = self._columns["at"]
        chosen: list[int] = []
        again: list[int] = []
        for place, row in enumerate(rows.tolist()):
            # A memory is a repetition if its source is in the view.
            same = np.flatnonzero(alike[chosen, place]).tolist() if repeating[place] else []
            if row in self._sources and any(view.mask[self._sources_of(row)]):
                again.append(place)
            elif same:
                older = at[rows[chosen[same[0]]]] < at[row]
                again.append(chosen[same[0]] if older else place)
                chosen[same[0]] = place if older else chosen[same[0]]
            elif len(chosen) < k:
                chosen.append(place)
        best = (chosen + again)[:k]
        names = [self._ids[row] for row in rows[best].tolist()]
        scores = np.minimum.accumulate(ranked.scores[best]).tolist()
        return [*map(Hit, names, scores, ranked.fits[best].tolist())]

"""A search index over memories, the basis of every recall.

A memory is found by its meaning (an embedding), by its words (BM25), by its neighbours (an answer
follows its question), by its speaker and time, and by the facts that were drawn from it. The
audience is checked before anything is ranked: a hidden memory changes neither the rarity of a word
nor the score of a neighbour, so the result is the same as without it.

An index can always be rebuilt, and it writes nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evennia_ai.memory import question_types, vectors
from evennia_ai.memory.columns import ALONE, Columns
from evennia_ai.memory.lexical import AudienceRows, Lexicon, numbered
from evennia_ai.memory.ranking import MemoryData, Ranked, RankingQuery, rank
from evennia_ai.policy.retrieval.exchange import AFTER, BEFORE, companions
from evennia_ai.policy.retrieval.relevance import RelevanceWeights, understand
from evennia_ai.ports import Embedder, RemoteEmbedder

WIDE = 2  # lines with more of what follows
SPARE = 4  # results that are compared with each other for each one wanted
ALIKE = 0.97  # cosine above which two memories say the same
FEWEST_GONE = 256  # removed rows before their memory is given back
ROW_BYTES = 200  # of a memory beside its words and vector (measured)


class Hit(NamedTuple):
    """A memory that was found.

    Scores compare within one search. ``fit`` compares between searches: by how much the memory fits
    better than the memories that chance brings up do.
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
        offered = numbered(text)
        sources = tuple(sources)
        place = ALONE if place is None and sources else place
        meant = self._embed("embed", text) if vector is None else vector
        row = self._row_for(id, None if meant is None else vectors.to_bytes(meant), place)
        self._lexicon.add(row, offered.words)
        self._columns.put(row, offered, speaker, None if audience is None else frozenset(audience))
        self._columns.put_weight(row, at, importance, bool(sources))
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

    def search(
        self,
        query: str,
        k: int,
        audience: Iterable[str] | None = None,
        now: float | None = None,
        **more: Any,
    ) -> list[tuple[str, float]]:
        """Return at most ``k`` pairs of id and score, best first; see `find`.

        Scores are only comparable within one search.
        """
        return [(hit.id, hit.score) for hit in self.find(query, k, audience, now, **more)]

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
    ) -> list[Hit]:
        """Return at most ``k`` memories, best first.

        Args:
            audience: dbrefs of those who will hear the result; only memories that all of them may
                know are searched. None searches public memories only.
            now: the time of the query in unix seconds, for recency and words like "yesterday".
            everything: True searches all memories, whatever their audience.
            vector: the query's embedding, if the embedder is remote.
            upto: the place of the last line that is searched; None searches all lines.
        """
        view = self._view(audience, upto, everything)
        if k <= 0 or not len(view.rows):
            return []
        return self._best(self._rank(query, view, now, vector, SPARE * k), view, k)

    def closeness(
        self, query: str, ids: Sequence[str], vector: Any = None, answers: Collection[str] = ()
    ) -> tuple[vectors.Floats, vectors.Floats, vectors.Floats]:
        """Return how near each of some notes is to a query.

        That is by meaning, by words from 0 to 1, and by the stems ``answers``, which the query need
        not hold. Other memories change nothing. ``vector`` is the query's embedding, if the
        embedder is remote; without it no note is near by meaning.
        """
        rows = [self._row_of[name] for name in ids]
        view = self._columns.view_of(np.array(rows, dtype=np.int64))
        ranking_query = self._asked(query, view, None, vector)
        words = [ranking_query.wanted.words, answers]
        by_words, by_answers = self._lexicon.scores(words, view, self._columns["words"])
        return self._vectors.full(view.rows, ranking_query.vector), by_words, by_answers

    def companions(
        self, ids: Iterable[str], audience: Iterable[str] | None = None, upto: int | None = None
    ) -> dict[str, list[str]]:
        """Return for each line the ids of the lines that belong to it, in order of place.

        `policy.retrieval.exchange` says which, with more for the first two ids. Only lines that the
        audience may know count, up to a place, as for `search`. Notes and unknown ids are left out.
        """
        view = self._view(audience, upto)
        lines = view.rows[: view.lines]
        related = {}
        for number, name in enumerate(ids):
            row = self._line(name, view)
            if row is None:
                continue
            at = self._columns.number_in(lines, row)
            near = lines[max(0, at - BEFORE) : at + AFTER + 1]
            chosen = companions(self._columns.said(near), min(at, BEFORE), number < WIDE)
            related[name] = [self._ids[near[place]] for place in chosen]
        return related

    def later(
        self,
        words: Mapping[str, Collection[str]],
        k: int,
        audience: Iterable[str] | None = None,
        upto: int | None = None,
    ) -> dict[str, list[str]]:
        """Return for each line at most ``k`` later ones of its speaker that share words with it.

        ``words`` are the lines' content words by id. The result is by id, too, and each list begins
        with the best; the rest as for `companions`.
        """
        view = self._view(audience, upto)
        rows = {name: row for name in words if (row := self._line(name, view)) is not None}
        lines = view.rows[: view.lines]
        queries = [words[name] for name in rows]
        scores = self._lexicon.scores(queries, view, self._columns["words"])
        speakers = self._columns["speaker"][lines]
        corrections = {}
        for (name, row), score in zip(rows.items(), scores, strict=True):
            fits = score[: view.lines] * (speakers == self._columns["speaker"][row])
            fits[: self._columns.number_in(lines, row) + 1] = 0
            some = np.flatnonzero(fits)
            best = some[np.argsort(-fits[some], kind="stable")[:k]]
            corrections[name] = [self._ids[line] for line in lines[best].tolist()]
        return corrections

    def _view(
        self, audience: Iterable[str] | None, upto: int | None, everything: bool = False
    ) -> AudienceRows:
        hearers = None if audience is None else frozenset(audience)
        return self._columns.view(hearers, everything, upto)

    def _line(self, id: str, view: AudienceRows) -> int | None:
        """Return the row of a line in a view, None for a note, a hidden line or an unknown id."""
        row = self._row_of.get(id)
        is_line = row is not None and view.mask[row] and self._columns["place"][row] != ALONE
        return row if is_line else None

    def _asked(
        self, query: str, view: AudienceRows, now: float | None, vector: Any
    ) -> RankingQuery:
        wanted = understand(query, lambda word: self._columns.is_name(word, view), now)
        meaning = self._meaning(wanted.text) if vector is None else vectors.unit(vector)
        return RankingQuery(
            wanted,
            meaning,
            now,
            question_types.answers_to(question_types.asked_by(query, question_types.TOLD)),
        )

    def _rank(
        self, query: str, view: AudienceRows, now: float | None, vector: Any, least: int
    ) -> Ranked:
        """Return at least ``least`` rows of a view, if there are as many, best first."""
        ranking_query = self._asked(query, view, now, vector)
        parts = (self._columns, self._lexicon, self._vectors)
        return rank(MemoryData(*parts, self._sources_of), view, ranking_query, self.weights, least)

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
        """Return the best ``k`` results, those that only repeat a better one last."""
        rows = ranked.rows[: SPARE * k]
        alike = self._vectors.alike(rows) > ALIKE
        repeating = (alike.sum(axis=0) > 1).tolist()  # each is like itself
        chosen: list[int] = []
        again: list[int] = []
        for place, row in enumerate(rows.tolist()):
            # A memory is a repetition if its source is in the view.
            is_repeated = row in self._sources and any(view.mask[self._sources_of(row)])
            is_repeated = is_repeated or (repeating[place] and bool(alike[chosen, place].any()))
            (again if is_repeated else chosen).append(place)
            if len(chosen) == k:
                break
        best = (chosen + again)[:k]
        names = [self._ids[row] for row in rows[best].tolist()]
        scores = np.minimum.accumulate(ranked.scores[best]).tolist()
        return [*map(Hit, names, scores, ranked.fits[best].tolist())]

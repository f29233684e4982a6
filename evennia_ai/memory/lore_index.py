"""How well pieces of lore fit a line, by the words and the meaning that recall ranks memories by.

One index serves all assistants. It holds each text once, whoever may know it; a ranking takes the
known pieces only, and the others change nothing in it (P9).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from twisted.internet.defer import inlineCallbacks

from evennia_ai.memory.columns import ALONE
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.remote_vectors import RemoteVectors
from evennia_ai.memory.vectors import Floats, answers_at_once
from evennia_ai.policy.conversation.persona_and_lore import Fit, LoreEntry
from evennia_ai.policy.texts import read_examples, sentences
from evennia_ai.ports import Embedder, RemoteEmbedder, Services
from evennia_ai.scheduling import Coroutine, yield_to_reactor

AT_ONCE = 20  # texts taken in without a pause: 8 ms at most (measured)
MOST_UNPREPARED = 100  # texts taken in by a ranking that nobody prepared
MOST_TEXTS = 20_000  # in memory, unless one assistant knows more: 14 MB
MOST_KNOWN = 64  # sets of known pieces whose chances are kept
# What a line is compared with, in place of lists of words: a line asks for lore if it is more like
# the first than like the second. With them, 94 of 100 strangers' questions are kept where one in
# seven of their other lines is; by the nearness of the pieces alone, 73 where one in five is.
# A piece's nearness to small talk is also what chance gives, with any embedder.
QUESTIONS, SMALL_TALK = read_examples(Path(__file__).with_suffix(".toml")).values()
EXAMPLES = [*QUESTIONS, *SMALL_TALK]
WORDS, ASKS = 0.1, 1.0  # weights beside meaning: of shared words, and of what a line asks
PARTS = 0.35  # weight of a piece's best sentence or key beside the whole piece
NEAREST = 4  # examples of a kind that a line is compared with


class ChanceScore(NamedTuple):
    """How near pieces are to lines that ask for nothing: each one's mean, and the deviation."""

    mean: Floats
    deviation: float


class LoreIndex:
    """The `LoreRanking` port; ``embedder`` is called at the first use."""

    def __init__(self, embedder: Callable[[], Embedder | RemoteEmbedder | None]) -> None:
        self._embedder = embedder
        self._index: MemoryIndex | None = None
        self._remote: RemoteVectors | None = None
        self._texts: dict[str, None] = {}
        self._chances: dict[tuple[str, ...], ChanceScore] = {}

    @inlineCallbacks
    def prepare(
        self, services: Services, entries: Sequence[LoreEntry], lines: Sequence[str]
    ) -> Coroutine[None]:
        """Take in new texts in slices, and fetch the vectors of lines; never fails.

        Without an endpoint's vectors words alone rank.
        """
        texts = [text for entry in entries for text in texts_of(entry)]
        while self._take_in(texts, AT_ONCE):
            yield yield_to_reactor(services.slices.put)
        self._drop_unused(texts)
        if self._remote is not None and texts:
            yield self._remote.prepare(services, lines)

    def fits(self, entries: Sequence[LoreEntry], line: str) -> dict[LoreEntry, Fit]:
        """Return how well each piece fits a line; a piece that is not taken in yet is left out."""
        self._take_in([text for entry in entries for text in texts_of(entry)], MOST_UNPREPARED)
        known = [item for item in entries if self._texts.keys() >= {*texts_of(item)}]
        if self._index is None or not known or not line.strip():
            return {}
        texts = tuple(text for entry in known for text in texts_of(entry))
        vector = self._remote.query_vectors.get(line) if self._remote is not None else None
        parts = self._index.nearness(line, texts, vector)
        near = meaning = nearness(parts[None], known)[0]
        words = self._index.shared_words(line, [entry.searched for entry in known])
        if near.any():
            chance = self._chance_of(self._index, known, texts)
            examples = self._index.nearness(line, EXAMPLES, vector)
            asks = _nearest(examples[: len(QUESTIONS)]) - _nearest(examples[len(QUESTIONS) :])
            deviation = np.float32(chance.deviation or 1.0)
            meaning = (near - chance.mean + np.float32(ASKS * asks)) / deviation
        scores = near + np.float32(WORDS) * words
        fits = map(Fit, *(column.tolist() for column in (scores, words, meaning)))
        return dict(zip(known, fits, strict=True))

    def _take_in(self, texts: Iterable[str], most: int) -> bool:
        """Take in new texts; return True if more are left."""
        new = [*islice((text for text in dict.fromkeys(texts) if text not in self._texts), most)]
        if new and self._index is None:
            self._index = self._make_index()
            new = [*EXAMPLES, *new]
        for text in new:
            self._texts[text] = None
            self._put(text)
        return len(new) >= most

    def _make_index(self) -> MemoryIndex:
        embedder = self._embedder()
        if embedder is not None and not answers_at_once(embedder):
            far: Any = embedder
            self._remote = RemoteVectors(far, lambda names: {n: n for n in names}, self._take)
        return MemoryIndex(embedder)

    def _put(self, text: str, vector: Any = None) -> None:
        if self._index is not None:
            self._index.add(text, text, vector=vector, place=ALONE)
        if self._remote is not None:
            self._remote.note(text, vector is None)

    def _take(self, vectors: Mapping[str, Any]) -> None:
        self._chances.clear()
        for text in self._texts.keys() & vectors.keys():
            self._put(text, vectors[text])

    def _drop_unused(self, texts: Sequence[str]) -> None:
        if len(self._texts) <= max(MOST_TEXTS, len(texts)) or self._index is None:
            return
        for text in self._texts.keys() - {*texts, *EXAMPLES}:
            del self._texts[text]
            self._index.remove(text)
            if self._remote is not None:
                self._remote.note(text, False)

    def _chance_of(
        self, index: MemoryIndex, known: Sequence[LoreEntry], texts: tuple[str, ...]
    ) -> ChanceScore:
        if texts not in self._chances:
            near = nearness(index.between(SMALL_TALK, texts), known)
            if len(self._chances) >= MOST_KNOWN:
                self._chances.clear()
            self._chances[texts] = ChanceScore(near.mean(axis=0), float(near.std()))
        return self._chances[texts]


@lru_cache(maxsize=MOST_TEXTS)
def texts_of(entry: LoreEntry) -> tuple[str, ...]:
    """Return the texts by which a piece is found: the whole, sentences if it has some, and keys."""
    parts = sentences(entry.text)
    return (entry.searched, *(parts if len(parts) > 1 else ()), *entry.keys)


def nearness(cosines: Floats, entries: Iterable[LoreEntry]) -> Floats:
    """Return how near pieces (columns) are to lines (rows), as a whole and by the best text.

    ``cosines`` has a column for each of the pieces' texts, in order. With sentences, 2 and 6 more
    in 100 of strangers' questions are found that share no word with the piece; with keys, 8 more.
    """
    columns, first = [], 0
    for entry in entries:
        last = first + len(texts_of(entry))
        best = cosines[:, first:last].max(axis=1)
        columns.append((1 - PARTS) * cosines[:, first] + PARTS * best)
        first = last
    return np.stack(columns, axis=1)


def _nearest(cosines: Floats) -> float:
    return float(np.sort(cosines)[-NEAREST:].mean())

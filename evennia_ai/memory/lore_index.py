"""How well pieces of lore fit a line, by the words and the meaning that recall ranks memories by.

One index serves all assistants. It holds each text once, whoever may know it; a ranking takes the
known pieces only, and the others change nothing in it (P9).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from twisted.internet.defer import inlineCallbacks

from evennia_ai.memory.columns import ALONE
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.remote_vectors import RemoteVectors
from evennia_ai.memory.vectors import Floats, answers_at_once
from evennia_ai.policy.conversation.persona_and_lore import Fit, LoreEntry
from evennia_ai.policy.retrieval.relevance import RelevanceWeights
from evennia_ai.ports import Embedder, RemoteEmbedder, Services
from evennia_ai.scheduling import Coroutine, yield_to_reactor

AT_ONCE = 20  # texts taken in without a pause: 8 ms at most (measured)
MOST_UNPREPARED = 100  # texts taken in by a ranking that nobody prepared
MOST_TEXTS = 5_000  # in memory, unless one assistant knows more: 4 MB
MOST_KNOWN = 64  # sets of known pieces whose chances are kept
WEIGHTS = RelevanceWeights()
# Lines that ask for no lore. A piece's nearness to them is what chance gives, with any embedder.
CHANCE = [
    line.strip()
    for line in """
    Good morning to you. | I am fine, and you? | Yes, of course. | No, I don't think so. |
    That is very kind of you. | What do you mean? | Tell me something. | Are you serious? |
    I will come back later. | It was a long day. | We have met before, haven't we? |
    Do you remember me? | I have no idea. | Please wait a moment. | You are right about that. |
    What are you doing? | Wonderful, thanks again! | Be careful, my friend. | Who are you? |
    I am only looking around. | Can you help me? | Come with me. | That makes me sad. | Hm, strange.
    """.split("|")
]


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
        self._chance_vectors: list[Any] = []

    @inlineCallbacks
    def prepare(
        self, services: Services, entries: Sequence[LoreEntry], lines: Sequence[str]
    ) -> Coroutine[None]:
        """Take in new texts in slices, and fetch the vectors of lines; never fails.

        Without an endpoint's vectors words alone rank.
        """
        texts = [entry.searched for entry in entries]
        while self._take_in(texts, AT_ONCE):
            yield yield_to_reactor(services.slices.put)
        self._drop_unused(texts)
        if self._remote is not None and texts:
            unasked = () if self._chance_vectors else CHANCE
            yield self._remote.prepare(services, [*unasked, *lines])
            pending = self._remote.asked
            if unasked and pending.keys() >= set(unasked):
                self._chance_vectors = [pending[line] for line in unasked]
                self._chances.clear()

    def fits(self, entries: Sequence[LoreEntry], line: str) -> dict[LoreEntry, Fit]:
        """Return how well each piece fits a line; a piece that is not taken in yet is left out."""
        self._take_in([entry.searched for entry in entries], MOST_UNPREPARED)
        known = {entry: text for entry in entries if (text := entry.searched) in self._texts}
        if self._index is None or not known or not line.strip():
            return {}
        texts = tuple(known.values())
        vector = self._remote.asked.get(line) if self._remote is not None else None
        meaning, words = self._index.closeness(line, texts, vector)
        chance = self._chance_of(texts)
        above = (meaning - chance.mean) * bool(meaning.any())
        scores = np.float32(WEIGHTS.meaning) * above + np.float32(WEIGHTS.words) * words
        columns = (scores, words, above / np.float32(chance.deviation or 1.0))
        fits = map(Fit, *(column.tolist() for column in columns))
        return dict(zip(known, fits, strict=True))

    def _take_in(self, texts: Iterable[str], most: int) -> bool:
        """Take in new texts; return True if more are left."""
        new = [*islice((text for text in dict.fromkeys(texts) if text not in self._texts), most)]
        if new and self._index is None:
            self._index = self._make_index()
        for text in new:
            self._put(text)
        return len(new) == most

    def _make_index(self) -> MemoryIndex:
        embedder = self._embedder()
        if embedder is not None and not answers_at_once(embedder):
            far: Any = embedder
            self._remote = RemoteVectors(far, lambda names: {n: n for n in names}, self._take)
        return MemoryIndex(embedder)

    def _put(self, text: str, vector: Any = None) -> None:
        self._texts[text] = None
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
        for text in self._texts.keys() - set(texts):
            del self._texts[text]
            self._index.remove(text)
            if self._remote is not None:
                self._remote.note(text, False)

    def _chance_of(self, texts: tuple[str, ...]) -> ChanceScore:
        if texts not in self._chances and self._index is not None:
            vectors = self._chance_vectors or [None] * len(CHANCE)
            near = [
                self._index.closeness(line, texts, vector)[0]
                for line, vector in zip(CHANCE, vectors, strict=True)
            ]
            if len(self._chances) >= MOST_KNOWN:
                self._chances.clear()
            self._chances[texts] = ChanceScore(np.mean(near, axis=0), float(np.std(near)))
        return self._chances[texts]

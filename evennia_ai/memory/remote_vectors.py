"""The vectors of an embedder that answers later: of an index, and of compared texts."""

import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import compress, islice, pairwise
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from twisted.internet import defer
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import ProviderError, TurnAborted
from evennia_ai.memory.local_models import kinds_of
from evennia_ai.memory.vectors import answers_at_once, readable
from evennia_ai.policy.facts.terms import Cosines, SentenceKinds
from evennia_ai.policy.texts import plain_words
from evennia_ai.ports import Embedder, RemoteEmbedder, Services
from evennia_ai.scheduling import Clock, Coroutine, Enqueue, map_in_slices, yield_to_reactor

log = Logger()

BATCH = 64  # texts of memories in one request
PIECE = 16  # vectors taken in without a pause
TIME_S = 5.0  # most time that a search waits for the vectors of its queries
PAUSE_S = 60.0  # pause after an embedder failed
MOST_FAILURES = 50  # whose times are kept
# That are compared with each other, whose vectors are kept: 8 MB. The examples that come with the
# package (questions, denials, deals, promises) are 3,000; with fewer, lines embed them again.
MOST_TEXTS = 5_000
SHARPNESS, RIDGE = 2.0, 0.3  # of `LearnedKinds`


_late_until = WeakKeyDictionary[Any, float]()  # the clock's second, by embedder


def is_late(embedder: Embedder | RemoteEmbedder, clock: Clock) -> bool:
    """Return True if an embedder was late in the last `PAUSE_S`, whoever waited for it."""
    return clock.seconds() < _late_until.get(embedder, 0.0)


def asked_in_time(embedder: RemoteEmbedder, queries: Sequence[str], clock: Clock) -> Deferred[Any]:
    """Fire with the vectors of queries; fails with a ProviderError or TimeoutError.

    Of a late embedder it fails at once: of the searches of one line, only the first waits.
    """
    if is_late(embedder, clock):
        return defer.fail(defer.TimeoutError("the embedder was late just now"))

    def note(failure: Failure) -> Failure:
        if failure.check(defer.TimeoutError):
            _late_until[embedder] = clock.seconds() + PAUSE_S
        return failure

    vectors = embedder.embed_later([*map(readable, queries)], query=True)
    return vectors.addTimeout(TIME_S, cast(IReactorTime, clock)).addErrback(note)


class RemoteVectors:
    """Fetches vectors for one index: of queries before a search, of memories in the background.

    Words alone rank a memory until its vector is here.

    Attributes:
        waiting: the ids of memories without a vector; the last one comes first.
        query_vectors: the vectors of the latest queries.
    """

    def __init__(
        self,
        embedder: RemoteEmbedder,
        texts_of: Callable[[Iterable[str]], Mapping[str, str]],
        take: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Read texts by ``texts_of``, by id, and hand their vectors to ``take``."""
        self.waiting: dict[str, None] = {}
        self.query_vectors: dict[str, Any] = {}
        self._embedder = embedder
        self._texts_of = texts_of
        self._take = take
        self._ask_again_at = 0.0
        self._is_filling = False

    def note(self, name: str, is_bare: bool) -> None:
        if is_bare:
            self.waiting[name] = None
        else:
            self.waiting.pop(name, None)

    @inlineCallbacks
    def prepare(self, services: Services, queries: Sequence[str]) -> Coroutine[None]:
        """Fetch the vectors of queries; those of memories follow. Never fails."""
        if services.clock.seconds() < self._ask_again_at:
            return
        self.query_vectors = {
            query: self.query_vectors[query] for query in queries if query in self.query_vectors
        }
        new = [query for query in dict.fromkeys(queries) if query not in self.query_vectors]
        try:
            if new:
                vectors = yield asked_in_time(self._embedder, new, services.clock)
                self.query_vectors |= zip(new, vectors, strict=True)
        except (ProviderError, defer.TimeoutError, TurnAborted) as error:
            self._give_up(services.clock, error)
            return
        if not self._is_filling:
            self._fill(services).addErrback(
                lambda failure: log.failure("the vectors of memories stay incomplete", failure)
            )

    @inlineCallbacks
    def _fill(self, services: Services) -> Coroutine[None]:
        self._is_filling = True
        try:
            while self.waiting:
                yield yield_to_reactor(services.slices.put)
                yield self._fetch_batch(services)
        except (ProviderError, TurnAborted) as error:
            self._give_up(services.clock, error)
        finally:
            self._is_filling = False

    @inlineCallbacks
    def _fetch_batch(self, services: Services) -> Coroutine[None]:
        """Fetch the vectors of the next memories; if that fails, they wait again."""
        names = list(islice(reversed(self.waiting), BATCH))
        for name in names:
            del self.waiting[name]
        texts = self._texts_of(names)
        if not texts:
            return
        try:
            vectors = yield self._embedder.embed_later([*map(readable, texts.values())])
        except BaseException:
            self.waiting |= dict.fromkeys(reversed(names))
            raise
        fetched = iter(zip(texts, vectors, strict=True))
        while piece := dict(islice(fetched, PIECE)):
            # A memory that changed meanwhile waits again.
            self._take({name: vector for name, vector in piece.items() if name not in self.waiting})
            yield yield_to_reactor(services.slices.put)

    def _give_up(self, clock: Clock, error: Exception) -> None:
        self._ask_again_at = clock.seconds() + PAUSE_S
        if isinstance(error, TurnAborted):  # the server stops
            return
        log.warn(
            "evennia_ai: embeddings unavailable ({error!r}); ranking memories by words for "
            "{seconds:.0f} s",
            error=error,
            seconds=PAUSE_S,
        )


class TextNearness:
    """The `Nearness` port; ``embedder`` is called at the first use.

    Attributes:
        failed_at: the last times at which the embedder failed or was late.
    """

    def __init__(self, embedder: Callable[[], Embedder | RemoteEmbedder | None]) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}  # in the order of their last use
        self._ask_again_at = 0.0
        self.failed_at: deque[datetime] = deque(maxlen=MOST_FAILURES)

    @inlineCallbacks
    def prepare(self, services: Services, texts: Iterable[str]) -> Coroutine[None]:
        """Fetch the vectors of texts; never fails, and does nothing without an embedder."""
        wanted, embedder = [text for text in dict.fromkeys(texts) if text.strip()], self._embedder()
        new = [text for text in wanted if text not in self._vectors]
        if embedder is None or services.clock.seconds() < self._ask_again_at:
            return
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            try:
                vectors = yield self._embed(embedder, batch, services.clock)
            except (ProviderError, defer.TimeoutError, TurnAborted) as error:
                self._ask_again_at = services.clock.seconds() + PAUSE_S
                self.failed_at.append(services.now())
                log.info("evennia_ai: no meaning of a line: {error!r}", error=error)
                return
            self._vectors |= zip(batch, vectors, strict=True)
        for text in wanted:
            self._vectors[text] = self._vectors.pop(text)
        while len(self._vectors) > max(MOST_TEXTS, len(wanted)):
            del self._vectors[next(iter(self._vectors))]

    @inlineCallbacks
    def forget(self, put: Enqueue, is_gone: Callable[[str], bool]) -> Coroutine[None]:
        """Drop the texts that hold somebody's words, in time slices."""
        texts = [*self._vectors]
        gone = yield map_in_slices(put, texts, is_gone)
        for text in compress(texts, gone):
            self._vectors.pop(text, None)

    def _embed(
        self, embedder: Embedder | RemoteEmbedder, texts: Sequence[str], clock: Clock
    ) -> Deferred[Any]:
        if answers_at_once(embedder):
            return defer.succeed(embedder.embed([*map(readable, texts)]))
        return asked_in_time(cast(RemoteEmbedder, embedder), texts, clock)

    def cosines(self, text: str, others: Sequence[str]) -> list[float]:
        """Return how near a text is to others, 1 at most; none if not all have been prepared."""
        if not others or not self._vectors.keys() >= {text, *others}:
            return []
        matrix = np.stack([self._vectors[other] for other in others])
        return [float(value) for value in matrix @ self._vectors[text]]

    def vectors(self, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return the unit vectors of texts; none if not all have been prepared."""
        ready = self._vectors.keys() >= {*texts}
        return {text: self._vectors[text] for text in texts} if ready else {}

    def kinds(self, text: str) -> SentenceKinds | None:
        """Return what kind of sentence a text is; None if it is not prepared, or not by MiniLM."""
        embedder, vector = self._embedder(), self._vectors.get(text)
        if embedder is None or vector is None:
            return None
        return kinds_of(vector, embedder.name)


class LearnedKinds:
    """Tells of which kind a text is, by examples: kernel ridge regression over their likeness.

    Alike are texts of near meaning, by the cosines of any embedder, and those that share words and
    pairs of words: that tells "is" from "was" and from "is not".

    Attributes:
        examples: those of all kinds, which must be prepared beside the text.
    """

    def __init__(self, kinds: Mapping[str, Sequence[str]], shared_words: float) -> None:
        """Learn ``kinds`` at first use; ``shared_words`` count beside the meaning's 1 at most."""
        self.examples = [text for texts in kinds.values() for text in texts]
        self._kinds, self._weights = kinds, cast(Any, None)
        self._shared_words = shared_words

    @inlineCallbacks
    def prepare(self, services: Services, texts: Sequence[str]) -> Coroutine[bool]:
        """Learn, and fire with True once `scores` can judge texts; False without an embedder."""
        cosines = services.nearness.cosines
        yield services.nearness.prepare(services, [*texts, *self.examples])
        if not cosines(texts[0], self.examples):
            return False
        for _step in self._learn_steps(cosines):
            yield yield_to_reactor(services.slices.put)
        return True

    def scores(self, text: str, cosines: Cosines) -> dict[str, float]:
        """Return how sure a text is of each kind, about 0 to 1; empty if it is not prepared."""
        near = cosines(text, self.examples)
        if not near:
            return {}
        if self._weights is None:
            deque(self._learn_steps(cosines), 0)
        values = self._likeness(text, near) @ self._weights
        return dict(zip(self._kinds, map(float, values), strict=True))

    def _learn_steps(self, cosines: Cosines) -> Iterator[None]:
        """Learn from the examples, some (10 ms) a step; other work can run in between."""
        rows = list[Any]()
        for text in self.examples if self._weights is None else ():
            rows.append(self._likeness(text, cosines(text, self.examples)))
            if len(rows) % PIECE == 0:
                yield
        if rows:
            goals = np.repeat(np.eye(len(self._kinds)), [*map(len, self._kinds.values())], axis=0)
            self._weights = np.linalg.solve(np.stack(rows) + RIDGE * np.eye(len(rows)), goals)

    def _likeness(self, text: str, cosines: Sequence[float]) -> Any:
        """Return how much a text is like each example."""
        likeness = np.exp(SHARPNESS * (np.array(cosines) - 1.0))
        own, others = words_and_pairs(text), map(words_and_pairs, self.examples)
        shares = [len(own & its) / max(1, len(own) * len(its)) ** 0.5 for its in others]
        return likeness + self._shared_words * np.array(shares)


@lru_cache(maxsize=8)  # the package has four such files
def kinds_in(file: Path, _nearness: Any, shared_words: float = 1.0) -> LearnedKinds:
    """Return the kinds of texts in a TOML file of examples, as an embedder tells them."""
    return LearnedKinds(tomllib.loads(file.read_text(encoding="utf-8")), shared_words)


@lru_cache(2_000)
def words_and_pairs(text: str) -> frozenset[Any]:
    words = plain_words(text)
    return frozenset([*words, *pairwise(words)])

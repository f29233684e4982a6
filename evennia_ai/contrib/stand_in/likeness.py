"""How alike a question and a line are: by the game's embedder, else by the words that they share."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred

from evennia_ai.contrib.stand_in.languages import Language
from evennia_ai.errors import MemoryUnavailable, ProviderError
from evennia_ai.memory.remote_vectors import TIME_S, is_late
from evennia_ai.ports import Embedder, RemoteEmbedder
from evennia_ai.scheduling import Clock, Coroutine

Floats = npt.NDArray[np.float32]
TextVectors = Mapping[str, Floats]  # unit vectors by text
MOST_NEW = 256  # texts that are embedded for one request; the others wait for the next one
MOST_KEPT = 4_096
PART = 0.05  # that a sentence alone counts less than a whole line
SHARED = 0.1  # what all of a question's words add to the cosine
NEAREST = 3  # the lines that a line is compared with


class VectorCache:
    """The vectors of the texts of the last requests, by the hash of each: no words are kept."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Floats] = {}
        self._is_late = False  # vectors are awaited for longer than TIME_S

    @inlineCallbacks
    def fetch(
        self,
        embedder: Embedder | RemoteEmbedder,
        clock: Clock,
        questions: Sequence[str],
        texts: Sequence[str],
    ) -> Coroutine[TextVectors]:
        """Fire with the vectors of texts, the first `MOST_NEW` if many are new; none if it fails.

        Those that come after `TIME_S` are kept for later requests, which do not wait for them.
        """
        vectors: dict[str, Floats] = {}
        try:
            for is_query, wanted in ((True, questions), (False, texts)):
                keys = {text: _hash(f"{embedder.name}\n{is_query}\n{text}") for text in wanted}
                new = [text for text, key in keys.items() if key not in self._kept][:MOST_NEW]
                if new and not self._is_late:
                    made = maybeDeferred(_embed, embedder, new, is_query)
                    most_s = 0.0 if is_late(embedder, clock) else TIME_S
                    yield self._in_time(made, clock, most_s, [keys[text] for text in new])
                kept = {text: self._kept.get(key) for text, key in keys.items()}
                vectors |= {text: row for text, row in kept.items() if row is not None}
        except (ProviderError, MemoryUnavailable):
            return {}
        for key in list(self._kept)[:-MOST_KEPT]:
            del self._kept[key]
        return vectors

    def _in_time(
        self, made: Deferred[Any], clock: Clock, most_s: float, keys: Sequence[bytes]
    ) -> Deferred[None]:
        """Fire when vectors are made and kept, or late; fails with their error."""
        here = Deferred[None]()

        def late() -> None:
            self._is_late = True
            here.callback(None)

        def keep(rows: Any) -> None:
            self._kept |= zip(keys, rows, strict=True)

        def end(result: Any) -> None:
            self._is_late = False
            if timer.active():
                timer.cancel()
                here.callback(result)

        timer = clock.callLater(most_s, late)
        made.addCallback(keep).addBoth(end)
        return here


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _embed(embedder: Any, texts: Sequence[str], is_query: bool) -> Any:
    """Return the vectors of texts, or a Deferred of them."""
    if hasattr(embedder, "embed_later"):
        return embedder.embed_later(texts, is_query)
    return getattr(embedder, "embed_query" if is_query else "embed", embedder.embed)(texts)


class AnswerRule(NamedTuple):
    """How like a question a line must be to answer it.

    What people told must stand out: its worth, and ``outstanding`` times what it has more than the
    next line of another subject, is at least ``told``, and ``certain`` to be told without "I only
    know this". A line's worth is its likeness, less
    ``crowd`` times its likeness to its nearest three, since what many say tells nothing of anybody,
    and more by ``length`` times the logarithm of its words. ``same`` is how like each other lines
    of one subject are; ``known`` is for persona and lore, ``alone`` for the best of these if it is
    nearer by ``margin`` than the next, ``sure`` for what answers unasked.
    """

    told: float
    certain: float
    outstanding: float
    crowd: float
    length: float
    same: float
    known: float
    alone: float
    margin: float
    sure: float


# Of what three strangers told, by meaning, 50 % is answered and 4 % wrongly; of questions about
# what they had not told, 23 %, with "I only know this" where that is uncertain.
BY_MEANING = AnswerRule(
    0.66, 0.8, 3.0, 0.3, 0.08, same=0.7, known=0.4, alone=0.36, margin=0.1, sure=0.55
)
BY_WORDS = AnswerRule(
    0.5, 0.5, 0.0, 0.0, 0.0, same=0.5, known=0.54, alone=0.54, margin=0.0, sure=0.8
)


def likeness(
    text: str, lines: Sequence[Sequence[str]], vectors: TextVectors, language: Language
) -> tuple[AnswerRule, list[float]]:
    """Return how like a text some lines are, and the rule for it: by meaning, or its words alone.

    A line is given as its whole and its sentences; the most alike counts.
    """
    own, stems = vectors.get(text), set(language.content(text))
    held = (stems.intersection(language.content(whole)) for whole, *_ in lines)
    shares = [len(words) / (len(stems) or 1) for words in held]
    if own is None:
        return BY_WORDS, shares
    fits = []
    for parts, share in zip(lines, shares, strict=True):
        rows = [vectors[part] for part in parts if part in vectors]
        cosines = [float(own @ row) - PART * bool(at) for at, row in enumerate(rows)]
        fits.append(max(cosines, default=0.0) + SHARED * share)
    return BY_MEANING, fits


def worth(
    rule: AnswerRule, fits: Sequence[float], lines: Sequence[str], vectors: TextVectors
) -> Floats:
    """Return what lines are worth as answers, one number for each, given how like they are."""
    made = np.array(fits, dtype=np.float32)
    if rule.length:
        made += rule.length * np.log([len(line.split()) for line in lines])
    rows = [vectors[line] for line in lines if line in vectors]
    if rule.crowd and len(rows) > NEAREST:
        alike = np.stack(rows) @ np.stack(rows).T
        np.fill_diagonal(alike, -1.0)
        nearest = np.partition(alike, -NEAREST, axis=1)[:, -NEAREST:].mean(axis=1)
        made[[line in vectors for line in lines]] -= rule.crowd * nearest
    return made

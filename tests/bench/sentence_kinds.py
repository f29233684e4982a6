"""Learn the kinds of sentences of `memory/minilm/sentence_kinds.npy` from examples.

`python -m tests.bench.sentence_kinds` prints how many examples are told right when each eighth is
left out, and with ``--write`` stores the weights: softmax regression on MiniLM's unit vectors.
"""

import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evennia_ai.memory import embedders
from evennia_ai.memory.local_models import KINDS_FILE, probabilities

DATA = tomllib.loads(
    (Path(__file__).parent / "data" / "sentence_kinds.toml").read_text(encoding="utf-8")
)
LINES, SENTENCES = 1_100, 220  # examples that are put together
DECAY, RATE, STEPS = 1e-3, 2.0, 500
FOLDS = 8
VERBS = [verb.split("|") for verb in DATA["parts"]["verbs"]]
THINGS = [thing.split("|") for thing in DATA["parts"]["things"]]
STATES = [state.split("|") for state in DATA["parts"]["states"]]


def made_lines(rng: random.Random) -> Iterator[tuple[int, str]]:
    """Yield lines of talk by the number of their kind; a third of them tells what is so."""
    kinds = list(DATA["lines"])
    for _ in range(LINES):
        kind = rng.choice(["told", "told", *kinds[: kinds.index("filler")]])
        if rng.random() < 0.25:
            subject, state = rng.choice(STATES)
            text = rng.choice(DATA["state_forms"][kind]).format(s=subject, v=state)
        else:
            base, past = rng.choice(VERBS)[:2]
            thing, other = rng.choice(THINGS)[0], rng.choice(THINGS)[0]
            name, form = rng.choice(DATA["parts"]["names"]), rng.choice(DATA["forms"][kind])
            text = form.format(b=base, B=base.capitalize(), p=past, o=thing, o2=other, n=name)
        yield kinds.index(kind), text


def made_sentences(rng: random.Random) -> Iterator[tuple[int, str]]:
    """Yield sentences of summaries, 1 for those of a deed."""
    for _ in range(SENTENCES):
        base, past, _third, others = rng.choice(VERBS)
        who = rng.choice(["someone", "she", "he", rng.choice(DATA["parts"]["roles"])])
        is_deed, thing = rng.random() < 0.5, rng.choice(THINGS)
        if is_deed:
            past, thing = rng.choice([past, past, *others.split(";")]), rng.choices(thing, (3, 1))
        form = rng.choice(DATA["summary_forms"]["deed" if is_deed else "other"])
        text = form.format(w=who, b=base, p=past, o=thing[0])
        yield int(is_deed), text[0].upper() + text[1:]


def fit(vectors: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return weights of shape (dimensions + 1, kinds); each kind counts the same."""
    count = kinds.max() + 1
    wanted, rows = np.eye(count)[kinds], np.c_[vectors, np.ones(len(vectors))]
    share = (len(kinds) / np.bincount(kinds) / count)[kinds][:, None]
    weights = np.zeros((rows.shape[1], count))
    for _ in range(STEPS):
        error = (probabilities(rows @ weights) - wanted) * share
        weights -= RATE * (rows.T @ error * count / len(kinds) + DECAY * weights)
    return weights


def main() -> None:
    embed, columns = embedders.default().embed, []
    for part, made, times in (("lines", made_lines, 3), ("summaries", made_sentences, 2)):
        names = ["other", "deed"] if part == "summaries" else list(DATA[part])
        own = [(names.index(name), text) for name in names for text in DATA[part][name]]
        examples = [*own, *made(random.Random(1))]
        vectors = np.array(embed([text for _kind, text in examples]))
        kinds = np.array([kind for kind, _text in examples])
        weight, right = np.r_[[times] * len(own), [1] * (len(examples) - len(own))], 0
        fold = np.random.default_rng(0).integers(0, FOLDS, len(examples))
        for out in range(FOLDS):
            kept = np.repeat(np.flatnonzero(fold != out), weight[fold != out])
            left = np.flatnonzero((fold == out) & (np.arange(len(examples)) < len(own)))
            scores = np.c_[vectors[left], np.ones(len(left))] @ fit(vectors[kept], kinds[kept])
            right += int((scores.argmax(1) == kinds[left]).sum())
        print(part, len(examples), "examples; of", len(own), "written ones right:", right)
        columns.append(fit(np.repeat(vectors, weight, axis=0), np.repeat(kinds, weight)))
    lines, (other, deed) = columns[0], columns[1].T
    if "--write" in sys.argv:
        np.save(KINDS_FILE, np.c_[lines, deed - other].astype(np.float16))


if __name__ == "__main__":
    main()

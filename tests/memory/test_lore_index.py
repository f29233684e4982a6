"""Lore is found by keys, words and meaning: 120 questions about six games' lore.

No question has a content word in common with its piece, apart from keys, so that words alone find
nothing. Both sets were written for this package, the second by another hand. docs/builders-guide.md
has all figures.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config.resolve import EMBEDDINGS
from evennia_ai.memory import embedders
from evennia_ai.memory.lore_index import EXAMPLES, MOST_UNPREPARED, LoreIndex, texts_of
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, try_lore
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.testing.minds import StandInServices

DATA, OTHERS = (
    json.loads((Path(__file__).parent / "data" / name).read_text("utf-8"))
    for name in ("lore.json", "lore_of_others.json")
)
GAMES = DATA["games"].values()
FIRST = 3
needs_embedder = pytest.mark.skipif(
    bool(EMBEDDINGS.advice), reason=f"no embedder: {EMBEDDINGS.advice}"
)


class Asked:
    """A game's lore, asked as a turn asks it."""

    def __init__(self, game, embedder=None, keys=False):
        self.entries = [
            LoreEntry(one["title"], one["text"], keys=tuple(one["keys"]) if keys else ())
            for one in game["entries"]
        ]
        self.index, self.services = LoreIndex(lambda: embedder), StandInServices(None)

    def find(self, line):
        """The titles that a line brings in, best first."""
        self.index.prepare(self.services, self.entries, [line])
        said = [(line, self.index.fits(self.entries, line))]
        trials = try_lore(self.entries, frozenset({"all"}), said, 10_000)
        return [trial.entry.title for trial in trials if trial.is_chosen]


def share_found(embedder=None, keys=False, games=GAMES):
    """The share of questions whose piece is among the first three."""
    found = []
    for game in games:
        asked = Asked(game, embedder, keys)
        found += [title in asked.find(line)[:FIRST] for line, title in game["questions"]]
    return sum(found) / len(found)


def share_of_false(embedder=None, keys=False):
    """The share of lines that need no lore, and bring some in."""
    games = [Asked(game, embedder, keys) for game in GAMES]
    found = [bool(asked.find(line)) for asked in games for line in DATA["idle"]]
    return sum(found) / len(found)


def test_no_question_shares_a_content_word_with_its_piece():
    assert [len(game["questions"]) for game in GAMES] == [20, 20, 20]
    assert len(DATA["idle"]) == 20
    for game in GAMES:
        texts = {one["title"]: f"{one['title']} {one['text']}" for one in game["entries"]}
        for line, title in game["questions"]:
            assert set(find_words(line)).isdisjoint(find_words(texts[title])), line


@needs_embedder
def test_with_meaning_three_in_four_are_found_without_keys():
    embedder = embedders.default()
    assert share_found(embedder) >= 0.75
    assert share_found(embedder, keys=True) >= 0.95
    assert share_of_false(embedder) <= 0.25
    assert share_found(embedder, games=OTHERS["games"].values()) >= 0.7


@needs_embedder
def test_what_is_like_a_key_finds_a_piece():
    entries = [LoreEntry("Rule 7", "Nobody enters.", keys=("graveyard",)), LoreEntry("Ale", "Old.")]
    index = LoreIndex(embedders.default)
    fits = index.fits(entries, "Who lies buried in the cemetery?")
    assert fits[entries[0]].score > fits[entries[1]].score + 0.1


@needs_embedder
@pytest.mark.parametrize("line", ["Good night", "Hello there!", "Thanks!"])
def test_small_talk_brings_in_nothing(line):
    for game in GAMES:
        assert Asked(game, embedders.default()).find(line) == []


BEER = LoreEntry("Ale", "It is brewed in Holm.")
GATE = LoreEntry("Gate", "Hanno built it in Holm.")
QUEST = LoreEntry("Treasure", "Gold of Holm lies below the ale.")


@needs_embedder
def test_what_is_not_asked_for_changes_no_rank():
    """P9: a hidden piece changes neither the words' rarity nor the meaning of the others."""
    alone, beside = (LoreIndex(embedders.default) for _ in range(2))
    beside.fits([QUEST, BEER, GATE], "Where is the ale of Holm?")
    for line in ("Where is the ale of Holm?", "Who made the door?"):
        assert beside.fits([BEER, GATE], line) == alone.fits([BEER, GATE], line)


class Later:
    """An embedder that answers when the test says so; each text has a vector of its letters."""

    name, dimensions = "later", 26

    def __init__(self):
        self.asked, self.texts = [], []

    def embed_later(self, texts, query=False):
        self.texts += [] if query else texts
        self.asked.append((list(texts), Deferred()))
        return self.asked[-1][1]

    def answer(self):
        while self.asked:
            texts, waiting = self.asked.pop(0)
            rows = [[1e-3 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
            waiting.callback(np.array(rows, dtype=np.float32))


def test_words_decide_until_a_slow_embedder_has_answered_and_each_text_is_sent_once():
    later, services = Later(), StandInServices(None)
    index, entries, line = LoreIndex(lambda: later), [BEER, GATE], "A gate? Gate!"
    prepared = index.prepare(services, entries, [line])
    assert not prepared.called
    assert [fit.meaning for fit in index.fits(entries, line).values()] == [0, 0]
    assert index.fits(entries, line)[GATE].words > 0
    later.answer()
    assert prepared.called
    assert index.fits(entries, line)[GATE].meaning > index.fits(entries, line)[BEER].meaning
    index.prepare(services, entries, ["Something else?"])
    assert sorted(later.texts) == sorted([*EXAMPLES, *texts_of(BEER), *texts_of(GATE)])
    assert [text for texts, _ in later.asked for text in texts] == ["Something else?"]
    later.answer()
    index.prepare(services, entries, ["Anything more?"])
    assert [text for texts, _ in later.asked for text in texts] == ["Anything more?"]


def test_a_ranking_that_nobody_prepared_takes_in_only_so_many_at_once():
    text = "It is a gate. It stands near {}."
    entries = [LoreEntry(str(n), text.format(n)) for n in range(MOST_UNPREPARED)]
    index = LoreIndex(lambda: None)
    # Each has two texts of its own, and one that all have.
    assert len(index.fits(entries, "Which gate?")) == (MOST_UNPREPARED - 1) // 2
    index.prepare(StandInServices(None), entries, [])
    assert len(index.fits(entries, "Which gate?")) == len(entries)

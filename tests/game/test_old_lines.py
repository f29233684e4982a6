"""The older lines of a long log, searched by PostgreSQL with the extension pgvector."""

from functools import partial

import pytest
from django.db import connection
from twisted.internet.defer import maybeDeferred
from twisted.logger import globalLogPublisher

from evennia_ai import models
from evennia_ai.errors import StoreUnavailable
from evennia_ai.memory.old_lines import OldLines
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.policy.amendments import EDITED, HIDDEN
from evennia_ai.policy.lines import line_id
from evennia_ai.store.lines import erase_vectors
from evennia_ai.store.old_lines import PREFIX, OldLineTable
from evennia_ai.store.rows import delete_rows
from tests.faults.own_database import IS_POSTGRESQL
from tests.game.recalled_lines_scene import ANN, BOB, BOTH, Recalling, heard
from tests.memory.bag_of_words import BagOfWords

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not IS_POSTGRESQL, reason="only PostgreSQL has the extension"),
]

MOST, NEWEST = 30, 10
SUBJECTS = (
    "The miller owes three silver coins",
    "A key to the crypt hangs below the chapel",
    "Wolves came down from the northern hills",
    "The red horse needs new shoes",
    "Salt is dear since the bridge fell",
)


def at_once(call, _seconds):
    """Run what belongs into a thread here, so that it is in the test's transaction."""
    return maybeDeferred(call)


class LongLog(Recalling):
    """A character whose log is long with few messages; ``alike`` searches it in memory alone."""

    def restart(self, embedder=None, run=at_once):
        self.embedder = embedder or self.embedder
        name = f"{self.embedder.dimensions}:{self.embedder.name}"
        self.table = OldLineTable(self.script.id, name, self.embedder.dimensions)
        lines = self.script.conversation.lines
        self.old = OldLines(
            self.table, lines, "Mira", self.embedder, run, run, MOST, NEWEST
        )  # fmt: skip
        self.index = self._make(self.old)

    def _make(self, old):
        who = self.script.character
        return RecallIndex(
            who.journal, who.ai_profiles, self.embedder, lambda dbref: "",
            self.script.conversation.lines, "Mira", old,
        )  # fmt: skip

    def alike(self, words, audience=BOTH):
        """What a search in memory finds."""
        in_memory = self._make(None)
        in_memory.prepare(self.script.services)
        self.game.run(1)
        now = self.script.services.now()
        return [hit.record["content"] for hit in in_memory.search(words, 5, audience, now)]

    def found(self, words, audience=BOTH, **options):
        self.prepare(words, audience=audience)
        return self.search(words, audience, **options)

    def stored(self):
        """The messages in the table."""
        return [seq for (seq,) in self.table._run("SELECT message_id FROM {table} ORDER BY 1")]


@pytest.fixture
def mind(game, mira):
    return LongLog(game, mira)


@pytest.fixture
def seqs(mind):
    """A long log, whose older lines are in the table, in a new process."""
    seqs = mind.log(*(heard(f"{SUBJECTS[n % 5]}, day {n}.") for n in range(50)))
    mind.prepare()
    mind.restart()
    mind.prepare()
    return seqs


def tables():
    """The tables of older lines."""
    return [name for name in connection.introspection.table_names() if name.startswith(PREFIX)]


def test_a_short_log_makes_no_table(mind):
    mind.log(*(heard(f"Line {n}.") for n in range(MOST)))
    mind.prepare()
    assert (tables(), mind.old.upto, len(mind.index)) == ([], 0, MOST)


def test_a_long_log_is_searched_in_memory_until_its_table_is_complete(mind):
    mind.log(*(heard(f"{SUBJECTS[n % 5]}, day {n}.") for n in range(50)))
    mind.prepare()
    assert (mind.old.upto, len(mind.index)) == (0, 50)
    assert mind.old.is_outdated
    assert not mind.index.reads(mind.index.journal, mind.index.profiles, mind.index._log.lines)


def test_memory_holds_the_newest_lines_and_a_search_brings_older_ones(mind, seqs):
    assert mind.stored() == seqs[:-NEWEST]
    assert (mind.old.upto, len(mind.index)) == (seqs[-NEWEST - 1], NEWEST)
    (first, *_) = mind.found("Where does the key of day 11 hang?")
    assert "day 11." in first


@pytest.mark.parametrize("words", ["the key of day 11", "wolves", "salt and the bridge, day 4"])
def test_the_results_are_those_of_a_search_in_memory(mind, seqs, words):
    assert set(mind.found(words)) == set(mind.alike(words))


def test_what_an_earlier_search_brought_leaves_again(mind, seqs):
    for day in range(40):
        mind.found(f"Where does the key of day {day} hang?")
        assert len(mind.index) <= 50
    mind.prepare("nothing like it")
    before = len(mind.index)
    mind.prepare("nothing like it")
    assert len(mind.index) == before


def test_an_older_whisper_is_brought_only_for_those_who_heard_it(mind):
    (secret,) = mind.log(heard("The crypt key is under the altar.", audience={ANN}, private=True))
    mind.log(*(heard(f"{SUBJECTS[n % 5]}, day {n}.") for n in range(50)))
    mind.prepare()
    mind.restart()
    for audience in (None, frozenset(), BOTH, frozenset({BOB})):
        assert not any("altar" in line for line in mind.found("the crypt key", audience))
        assert line_id(secret) not in mind.index._index
    assert any("altar" in line for line in mind.found("the crypt key", frozenset({ANN})))


def test_lines_after_the_last_one_asked_for_are_not_brought(mind, seqs):
    mind.prepare("the key of day 11", audience=BOTH, upto=seqs[5])
    brought = {name for name in map(line_id, seqs[6:-NEWEST]) if name in mind.index._index}
    assert brought == set()


def test_an_older_line_comes_with_its_exchange(mind):
    mind.log(*(heard(f"{SUBJECTS[n % 5]}, day {n}.") for n in range(10)))
    asked, answered = mind.log(
        heard("What do the frogs eat?"), heard("Dragonflies and honey.", speaker=BOB)
    )
    mind.log(*(heard(f"{SUBJECTS[n % 5]}, day {n}.") for n in range(40)))
    mind.prepare()
    mind.restart()
    mind.found("What do frogs eat?")
    assert answered in mind.beside(asked)


def test_a_forgotten_line_leaves_the_table(mind, seqs):
    delete_rows(models.Message, [seqs[11]])
    assert seqs[11] not in mind.stored()
    assert not any("day 11." in line for line in mind.found("the key of day 11"))


def test_a_hidden_line_is_not_found_and_comes_back_when_it_is_shown_again(mind, seqs):
    amendments = mind.script.conversation.amendments
    amendments.add(HIDDEN, [seqs[11]], "#1")
    mind.index.renew([seqs[11]])
    assert not any("day 11." in line for line in mind.found("the key of day 11"))
    amendments.undo("#1", seq=seqs[11])
    mind.restart()  # the process that reads it again is another one
    mind.prepare()
    assert seqs[11] in mind.stored()
    assert any("day 11." in line for line in mind.found("the key of day 11"))


def test_an_edited_line_is_found_by_its_new_words_alone(mind, seqs):
    mind.script.conversation.amendments.add(EDITED, [seqs[11]], "#1", "The frogs eat honey.")
    mind.index.renew([seqs[11]])
    for _ in range(2):  # by the index in memory, and by the table
        assert any("honey" in line for line in mind.found("What do the frogs eat?"))
        assert not any("day 11." in line for line in mind.found("the key of day 11"))
        mind.restart()
        mind.prepare()
    assert seqs[11] in mind.stored()


def test_another_embedder_makes_a_table_of_its_own(mind, seqs):
    before = tables()
    mind.restart(BagOfWords(dimensions=32, name="a better one"))
    mind.prepare()
    (after,) = tables()
    assert [after] != before
    mind.restart()
    assert "day 11." in mind.found("Where does the key of day 11 hang?")[0]


def test_a_deleted_assistant_leaves_no_table(mind, seqs):
    assert tables()
    erase_vectors(mind.script.id)
    assert tables() == []


def test_without_the_extension_memory_is_searched_and_the_admin_is_told(mind, caplog):
    mind.log(*(heard(f"{SUBJECTS[n % 5]}, day {n}.") for n in range(50)))
    told = []
    globalLogPublisher.addObserver(told.append)

    def refuse(call, _seconds):
        return maybeDeferred(partial(raise_, StoreUnavailable("permission denied")))

    mind.restart(run=refuse)
    assert "day 11." in mind.found("Where does the key of day 11 hang?")[0]
    globalLogPublisher.removeObserver(told.append)
    assert len(mind.index) == 50
    assert any("permission denied" in str(event.get("error")) for event in told)


def test_a_search_that_fails_leaves_what_memory_holds(mind, seqs):
    mind.old._search = lambda call, _seconds: maybeDeferred(
        partial(raise_, StoreUnavailable("gone"))
    )
    assert "day 49." in "".join(mind.found("the salt of day 49"))


def raise_(error):
    raise error

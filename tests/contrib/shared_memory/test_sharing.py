"""What goes to others in sleep, whatever is in a journal and however it came there."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import succeed
from twisted.internet.task import Clock

from evennia_ai.config import AssistantConfig, declare_settings
from evennia_ai.contrib.shared_memory.settings import SharedMemorySettings
from evennia_ai.contrib.shared_memory.sharing import Sharing
from evennia_ai.contrib.shared_memory.telling import FIRST_HAND, SharedRecord
from evennia_ai.policy.records.journal_entry import UNGUARDED, make_entry
from evennia_ai.policy.records.record import TRUST
from evennia_ai.testing.minds import ImmediateSlices, StandInWorld
from evennia_ai.turn.model_call import BackgroundWork

declare_settings(SharedMemorySettings)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ANN = "#5"
SEQS = range(1, 6)
WORDS = "ford mill gate oven well barn loft moat keep hall yard dock".split()

entries = st.lists(
    st.fixed_dictionaries(
        {
            "audience": st.sampled_from([None, None, None, [ANN], []]),
            "source_type": st.sampled_from([*FIRST_HAND, *FIRST_HAND, *sorted(TRUST)]),
            "source_seqs": st.lists(st.sampled_from(SEQS), max_size=3),
            "tags": st.sampled_from([[], [], [UNGUARDED], ["secret"], ["toll"]]),
            "pinned": st.booleans(),
            "importance": st.integers(1, 10),
        }
    ),
    max_size=len(WORDS),
)
# Of each message: whether it was whispered; one that is missing is gone.
logs = st.dictionaries(st.sampled_from(SEQS), st.booleans())


class Board:
    """Keeps what is told, as the service does."""

    def __init__(self, log=None):
        self.log, self.rows = log or {}, []

    def told_by(self, assistant_id):
        return [SharedRecord(n, row.entry, row.scope) for n, row in enumerate(self.rows)]

    def open_among(self, assistant_id, seqs):
        return frozenset(seq for seq in seqs if self.log.get(seq) is False)

    def tell(self, assistant_id, teller, now, new):
        self.rows += new

    def take_back(self, ids):
        self.rows = [row for n, row in enumerate(self.rows) if n not in ids]


class Notes(dict):
    """A journal."""

    def load(self, put):
        return succeed(None)

    def ids(self):
        return list(self)

    def get(self, id):
        return dict(self[id]) if id in self else None


def share(notes, board, heard=(), **settings):
    """One step of sleep; returns its result."""
    world = StandInWorld()
    world.labels_of = lambda character: frozenset({"all", "faction:guards"})
    services = SimpleNamespace(
        world=world, slices=ImmediateSlices(), clock=Clock(), now=lambda: NOW + timedelta(hours=1)
    )
    config = AssistantConfig.of({"share_memory": "world, faction", **settings})
    me = SimpleNamespace(journal=notes, dbref="#9")
    mind = SimpleNamespace(
        who=SimpleNamespace(id=1, character=me), character=me, config=config,
        **vars(services),
    )  # fmt: skip
    mind.background = BackgroundWork(mind, None)
    fired = []
    Sharing(mind, board, lambda: succeed(list(heard))).share().addBoth(fired.append)
    return fired[0]


def notes_of(found):
    return Notes(
        (f"j{n}", make_entry(f"j{n}", f"The {word} is {word}ed.", NOW, fields))
        for n, (word, fields) in enumerate(zip(WORDS, found, strict=False))
    )


@given(entries, logs)
def test_nothing_that_was_whispered_is_ever_told_and_all_that_may_be_is(found, log):
    notes, board = notes_of(found), Board(log)
    share(notes, board)
    told = {row.entry for row in board.rows}
    for name, entry in notes.items():
        is_open = entry["audience"] is None and all(
            log.get(s) is False for s in entry["source_seqs"]
        )
        is_own = entry["pinned"] or not {UNGUARDED, "secret"}.isdisjoint(entry["tags"])
        known = entry["source_type"] in FIRST_HAND and entry["importance"] >= 5
        assert (name in told) is (is_open and known and not is_own)


@given(entries, logs)
def test_a_trusting_character_tells_nothing_new(found, log):
    board = Board(log)
    share(notes_of(found), board, whisper_policy="trusting")
    assert board.rows == []


@given(entries, logs)
def test_done_again_it_changes_nothing(found, log):
    notes, board = notes_of(found), Board(log)
    share(notes, board)
    before = list(board.rows)
    assert share(notes, board)["skipped"] and board.rows == before


def test_what_is_no_more_is_taken_back_from_every_scope():
    notes, board = notes_of([{"importance": 7}, {"importance": 7}]), Board()
    assert share(notes, board)["told"] == 2 and len(board.rows) == 4
    del notes["j0"]
    assert share(notes, board) == {"success": True, "told": 0, "taken_back": 2}
    assert {row.entry for row in board.rows} == {"j1"}


def test_who_shares_no_more_takes_everything_back_whatever_is_new():
    notes, board = notes_of([{"importance": 7}, {"importance": 7}]), Board()
    told = Notes(j0=notes["j0"])
    assert share(told, board)["told"] == 1
    assert share(notes, board, share_memory="off") == {"success": True, "told": 0, "taken_back": 2}
    assert board.rows == []


def test_what_others_told_is_not_told_on():
    heard = [{"content": "The ford is forded.", "available_from": NOW.isoformat(), "teller": ANN}]
    notes, board = notes_of([{"importance": 7}, {"importance": 7}]), Board()
    assert share(notes, board, heard)["told"] == 1
    assert {row.entry for row in board.rows} == {"j1"}


def test_what_changes_while_it_is_told_is_not_told():
    notes, board = notes_of([{"importance": 7}]), Board()
    board.take_back = lambda ids: notes["j0"].update(audience=[ANN])
    assert share(notes, board)["told"] == 0 and board.rows == []

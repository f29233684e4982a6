"""The tables and their doubles in memory behave alike; and what only tables can do."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import IncomingEvent, ToolCallRequest, make_message
from evennia_ai.models import DailyUse, Event, Message, ModelCall, ToolCall, Turn
from evennia_ai.ports import ModelCallRecord
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.forget import count_rows, erase_chunk
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.rows import PAGE
from evennia_ai.store.transactions import LOCK_WAIT_MS, brief_transaction
from evennia_ai.store.turns import TableTurns, open_turns, recover_turn
from tests.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns

ANN = frozenset({"#5"})


def heard(text="hello", addressed=True, private=False, kind="say"):
    return IncomingEvent(kind, "#5", "Ann", text, ANN, private, addressed)


class Stores:
    """One assistant's stores of either kind."""

    def __init__(self, kind, service, assistant_id):
        self.assistant_id = assistant_id
        if kind == "memory":
            self.conversation = MemoryConversation(service.now)
            self.inbox = MemoryInbox(service.now)
            self.turns = MemoryTurns(self.conversation, self.inbox)
        else:
            self.conversation = TableConversation(assistant_id, service.now)
            self.inbox = TableInbox(assistant_id, service.now)
            self.turns = TableTurns(assistant_id, self.conversation, service.now, lambda: True)


@pytest.fixture
def assistant_id(game):
    return game.assistant("Mira", game.room()).assistant.id


@pytest.fixture(params=["memory", "tables"])
def stores(request, service, assistant_id):
    return Stores(request.param, service, assistant_id)


@pytest.fixture
def tables(service, assistant_id):
    return Stores("tables", service, assistant_id)


def contents(stores):
    return [m["content"] for m in stores.conversation.view()]


def test_messages_are_appended_in_order_with_seq_time_and_tokens(stores):
    first = stores.conversation.append([make_message("user", "a", private=True, audience=["#5"])])
    stores.conversation.append([make_message("user", "b"), make_message("user", "c")])
    view = stores.conversation.view()
    assert [m["content"] for m in view] == ["a", "b", "c"]
    seqs = [m["metadata"]["seq"] for m in view]
    assert seqs == sorted(set(seqs))
    assert first[0]["metadata"]["private"] is True
    assert all(m["metadata"]["tokens"] > 0 and m["metadata"]["at"] for m in view)


def test_beginning_a_turn_claims_its_events_and_logs_all_in_the_order_they_were_heard(stores):
    stores.inbox.put(heard("ambient", addressed=False))
    stores.inbox.put(heard("for me"))
    turn = stores.turns.begin(stores.inbox.open_events().waiting, ANN, False, "tick_event")
    assert stores.inbox.open_events().waiting == ()
    assert contents(stores) == ["Ann says: ambient", "Ann says: for me"]
    assert [e.heard.text for e in turn.overheard] == ["ambient"]
    assert turn.speakers == {"#5"}
    assert stores.turns.is_current(turn.id)


def test_what_was_only_overheard_stays_noted_when_the_turn_ends(tables):
    tables.inbox.put(heard("ambient", addressed=False))
    tables.inbox.put(heard("for me"))
    turn = tables.turns.begin(tables.inbox.open_events().waiting, ANN, False, "tick_event")
    tables.turns.finish(turn.id, "answered")
    assert list(Event.objects.order_by("id").values_list("state", flat=True)) == [
        "noted",
        "answered",
    ]


def test_a_batch_of_messages_is_stored_whole_or_not_at_all(tables):
    tables.conversation.append([make_message("user", "good")])
    bad = make_message("user", "bad")
    bad["metadata"]["tokens"] = -1
    with pytest.raises(StoreUnavailable):
        tables.conversation.append([make_message("user", "first"), bad])
    assert contents(tables) == ["good"]


@pytest.mark.parametrize(
    ("acts", "state", "act_state"),
    [
        ([], "waiting", None),
        ([("look", "done")], "waiting", "done"),
        ([("give", "intended")], "waiting", "unknown"),
        ([("say", "done")], "answered", "done"),
        ([("whisper", "intended")], "doubtful", "unknown"),
        ([("say", "failed")], "waiting", "failed"),
    ],
)
def test_after_a_crash_an_open_turn_is_closed_by_what_is_known_of_it(
    tables, service, acts, state, act_state
):
    tables.inbox.put(heard())
    turn = tables.turns.begin(tables.inbox.open_events().waiting, ANN, False, "tick_event")
    for name, outcome in acts:
        act = tables.turns.intend(turn.id, ToolCallRequest("1", name, "{}"), True)
        if outcome != "intended":
            tables.turns.record_outcome(act, outcome, "x")
    assert open_turns() == [turn.id]
    recover_turn(turn.id, service.now())
    assert Event.objects.get().state == state
    assert Turn.objects.get().outcome == "interrupted"
    assert [row.state for row in ToolCall.objects.all()] == ([act_state] if act_state else [])


def test_the_first_turn_of_a_process_begins_after_the_one_that_the_last_left_open(tables, service):
    def begin(stores):
        return stores.turns.begin(stores.inbox.open_events().waiting, ANN, False, "tick_event")

    tables.inbox.put(heard("hello"))
    left_open = begin(tables)
    tables.inbox.put(heard("are you there?"))
    turn = begin(Stores("tables", service, tables.assistant_id))
    assert open_turns() == [turn.id]
    assert Turn.objects.get(id=left_open.id).outcome == "interrupted"


@pytest.mark.skipif(connection.vendor != "sqlite", reason="it reads SQLite's own setting")
def test_the_games_own_queries_wait_for_a_lock_as_long_as_before(tables):
    def wait_ms():
        with connection.cursor() as cursor:
            return cursor.execute("PRAGMA busy_timeout").fetchone()[0]

    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 1234")
    with brief_transaction():
        assert wait_ms() <= LOCK_WAIT_MS
    assert wait_ms() == 1234


def test_hearing_costs_one_query_and_so_does_storing_messages_at_any_length(tables):
    def queries(action):
        with CaptureQueriesContext(connection) as captured:
            action()
        return len([q for q in captured if "SAVEPOINT" not in q["sql"]])

    message = make_message("user", "x")
    few = queries(lambda: tables.conversation.append([message]))
    for _ in range(50):
        tables.conversation.append([message])
    assert queries(lambda: tables.conversation.append([message])) == few == 1
    assert queries(lambda: tables.inbox.put(heard())) == 1


def test_erasing_takes_every_row_of_one_assistant_and_no_other(game, service, tables):
    other = game.assistant("Otto", game.room()).assistant
    for assistant_id in (tables.assistant_id, other.id):
        rows = [
            Message(assistant_id=assistant_id, at=service.now(), role="user")
            for _ in range(PAGE + 3)
        ]
        Message.objects.bulk_create(rows)
    turn = tables.turns.begin([], ANN, False, "tick_event")
    tables.turns.record_model_call(turn.id, ModelCallRecord("p", "m", "tick", 5, None, 3))
    steps = 0
    while erased := erase_chunk(tables.assistant_id):
        assert erased <= PAGE
        steps += 1
    assert steps >= 4
    assert set(count_rows(tables.assistant_id).values()) == {0}
    assert Message.objects.filter(assistant=other).count() == PAGE + 3
    assert not ModelCall.objects.exists() and not DailyUse.objects.exists()

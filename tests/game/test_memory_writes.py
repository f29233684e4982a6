"""Eight that write into one memory at once, while the database refuses now and then and the
character sleeps over it: every write is there afterwards, once, and in long-term memory once."""

import json

import pytest
from django.db import OperationalError, connection
from twisted.internet.defer import gatherResults, inlineCallbacks
from twisted.internet.task import deferLater

from evennia_ai.messages import ToolCallRequest
from evennia_ai.ports import ToolContext
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.sleep import run_sleep_tick
from tests.short_form import short_form

pytestmark = pytest.mark.engine

CHAINS = 8
REFUSED = 9  # every so many writes
STEP_S = 0.05


@pytest.fixture
def refused():
    """Every ninth write is refused, as where another program holds the database; counts."""
    seen = {"writes": 0, "refused": 0}

    def refuse(execute, sql, params, many, context):
        if sql.startswith(("INSERT", "UPDATE")):
            seen["writes"] += 1
            if seen["writes"] % REFUSED == 0:
                seen["refused"] += 1
                raise OperationalError("database is locked")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield seen


@pytest.fixture
def write(game, mira, ann):
    """Return a function that writes something down by a tool, for Ann's ears alone or for all."""

    def write(name, private=False, **arguments):
        context = ToolContext(
            assistant=mira.assistant.mind.tool_executor.tools,
            character=mira,
            audience=frozenset({ann.dbref}),
            private=private,
            speakers=frozenset({ann.dbref}),
        )
        asked = ToolCallRequest("1", name, json.dumps(arguments))
        return game.service.toolbox.run(context, asked)

    return write


def restart(mira):
    """Drop what memory holds."""
    for shelf in (Journal, EntityProfiles):
        shelf.drop(mira)


@inlineCallbacks
def chain(game, write, number, writes):
    """So many writes with a pause after each; half the chains note, half observe."""
    private = number % 4 == 3
    for step in range(writes):
        if number % 2:
            words = {"entity": "Ann", "observation": f"Ann hums song {step} of book {number}."}
            result = yield write("update_entity_observation", private, **words)
        else:
            words = {"content": f"Cart {step} of caravan {number} came in."}
            result = yield write("add_journal_entry", private, **words)
        assert result.state == "done", result.text
        yield deferLater(game.clock, 0.01 * (number + 1), lambda: None)


@inlineCallbacks
def sleep_again_and_again(mira, going):
    """Passes of sleep, one after the other, as long as somebody writes."""
    passes = 0
    while any(not end.called for end in going):
        yield run_sleep_tick(mira.assistant, mira)
        yield deferLater(mira.assistant.services.clock, 1.0, lambda: None)
        passes += 1
    return passes


@pytest.mark.parametrize("writes", short_form([20, 100], 2))
def test_eight_chains_leave_all_records_and_each_entry_is_long_remembered_once(
    game, mira, write, refused, writes
):
    mira.assistant.attributes.add("person_entries_per_day", 500)
    chains = [chain(game, write, number, writes) for number in range(CHAINS)]
    asleep = sleep_again_and_again(mira, chains)
    game.result(gatherResults(chains), STEP_S)
    assert game.result(asleep, STEP_S)  # passes while somebody wrote
    assert refused["refused"] > writes // 2
    restart(mira)
    game.result(run_sleep_tick(mira.assistant, mira), STEP_S)

    entries = {entry["id"]: entry for entry in mira.journal.all()}
    noticed = [r for r in mira.ai_profiles.all() if r["kind"] == "observation"]
    assert len(entries) == len(noticed) == CHAINS * writes // 2
    for records in (entries.values(), noticed):
        assert len({record["content"] for record in records}) == len(records)

    (stored,) = game.service.semantic.stored.values()
    assert sorted(row.entry for row, _ in stored.values()) == sorted(entries)
    for memory_id, (row, text) in stored.items():
        assert text == entries[row.entry]["content"]
        assert entries[row.entry]["links"] == [f"mem0:{memory_id}"]

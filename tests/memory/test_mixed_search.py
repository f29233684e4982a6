"""A search over a character's own memories and those that extensions add."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import fail, succeed
from twisted.logger import capturedLogs, formatEvent

from evennia_ai.errors import StoreUnavailable
from evennia_ai.memory.index_cache import MixedSearch, mix
from evennia_ai.policy.records.journal_entry import make_entry
from evennia_ai.ports import MemoryMatch

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Memories:
    """Finds some entries, in memory."""

    def __init__(self, *matches):
        self.matches = matches

    def prepare(self, *args, **kwargs):
        return succeed(None)

    def search(self, *args, **kwargs):
        return list(self.matches)


class BrokenSource:
    """An extension's source that does nothing right."""

    def __init__(self, error):
        self.error = error

    def prepare(self, queries):
        return fail(self.error)

    def search(self, *args, **kwargs):
        raise self.error


def match(content, score=1.0, **fields):
    return MemoryMatch(make_entry("x1", content, NOW, fields), score, score)


def search(own, sources, audience):
    """Prepare and search; return what was found, or what went wrong."""
    mixed, came = MixedSearch(own, sources), []
    mixed.prepare(None, ["bridge"]).addBoth(came.append)
    if came != [None]:
        return came[0].value
    return [hit.record["content"] for hit in mixed.search("bridge", 9, audience, NOW)]


def test_nobody_reads_in_a_source_what_they_may_not_know():
    source = Memories(match("A secret.", 9.0, audience=["#5"]), match("The bridge is down."))
    assert search(Memories(), [source], frozenset({"#6"})) == ["The bridge is down."]
    assert search(Memories(), [source], None) == ["The bridge is down."]
    assert search(Memories(), [source], frozenset({"#5"})) == ["A secret.", "The bridge is down."]


def test_what_the_character_knows_itself_comes_once():
    own, source = Memories(match("The bridge is down.")), Memories(match("the bridge is DOWN"))
    assert search(own, [source], None) == ["The bridge is down."]


def test_a_source_that_fails_is_left_out():
    good = Memories(match("The bridge is down."))
    with capturedLogs() as told:
        assert search(good, [BrokenSource(RuntimeError("no"))], None) == ["The bridge is down."]
    assert [event for event in told if "a source of memories failed" in (formatEvent(event) or "")]


def test_a_turn_waits_for_the_database_of_a_source():
    error = StoreUnavailable("locked")
    assert search(Memories(), [BrokenSource(error)], None) is error


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(10, 19)), st.integers(0, 25))
def test_nothing_is_lost_while_there_is_room_and_each_keeps_its_order(own, heard, limit):
    mixed = mix(own, heard, limit)
    assert len(mixed) == min(limit, len(own) + len(heard))
    assert [n for n in mixed if n < 10] == own[: sum(n < 10 for n in mixed)]
    assert [n for n in mixed if n >= 10] == heard[: sum(n >= 10 for n in mixed)]

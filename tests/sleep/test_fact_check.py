"""How many facts a summary keeps, and how many of the others recall from the log finds."""

from typing import NamedTuple

import pytest
from twisted.internet.defer import succeed

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.plan import EMERGENCY, CompactionOrder
from evennia_ai.sleep.compaction import journal_summary
from evennia_ai.sleep.compaction.summarising import OF_A_MODEL
from tests.test_context_compaction import ANN, BOB, make_script, outcome, sleep

SISTER = "Ann says: My sister Lina keeps bees in Dunmore."
DEBT = "Ann says: I owe you 42 silver pieces for the red saddle."
POOR = "Ann has a sister Lina, who keeps bees in Dunmore."
IDLE = "Ann has a sister, and owes for the saddle."
GOOD = POOR + " Ann owes 42 silver pieces for the red saddle."


class Found(NamedTuple):
    """`ports.Found`."""

    record: dict
    score: float


class Lines:
    """Memories that find the lines which hold a word of the query."""

    def __init__(self, script):
        self.script, self.asked = script, []

    def prepare(self, services, queries=()):
        """Fire at once."""
        return succeed(None)

    def search(self, query, limit, audience, now, keep=None, upto=None):
        """Return matching lines up to a place in the log that this audience may know."""
        self.asked.append((query, audience, upto))
        messages = [m for m in self.script.conversation.messages if m["role"] == "user"]
        return [
            Found({"seq": m["metadata"]["seq"]}, 1.0)
            for m in messages
            if m["metadata"]["seq"] <= upto
            and (not m["metadata"].get("private") or audience == {ANN})
            and any(word in m["content"] for word in query.split())
        ][:limit]


def told(replies, private=False):
    """An assistant that was told two facts, then chatted to for long."""
    script = make_script(replies, max_context_tokens=6_000)
    script.memories = Lines(script)
    meta = {
        "speaker": ANN,
        "speaker_name": "Ann",
        "audience": [ANN] if private else [ANN, BOB],
        "private": private,
    }
    long = " Well, well, and so it went." * 24
    script.conversation.append([make_message("user", t + long, **meta) for t in (SISTER, DEBT)])
    chat(script, 80)
    return script


def chat(script, count):
    """Let the assistant hear lines without any fact."""
    line = "Ann says: hm, " + "so it goes and so it went " * 7
    script.conversation.append([make_message("user", line, audience=[ANN, BOB])] * count)


def figures(script):
    record = script.conversation.current.record
    return record.facts_found, record.facts_kept, record.facts_rescued


@pytest.mark.parametrize(("summary", "kept", "rescued"), [(GOOD, 2, 0), (POOR, 1, 1), (IDLE, 0, 2)])
def test_facts_stand_in_the_summary_or_recall_finds_them(summary, kept, rescued):
    script = told([summary])
    result = sleep(script)
    assert (result["facts_found"], result["facts_kept"]) == (2, kept)
    assert figures(script) == (2, kept, rescued)
    assert script.conversation.current.record.summary == {"public": summary}
    assert len(script.services.gateway.requests) == 1


def test_what_no_search_finds_is_not_rescued():
    script = told([IDLE])
    script.memories.search = lambda *query, upto: ()
    sleep(script)
    assert figures(script) == (2, 0, 0)


def test_only_evicted_lines_are_searched_and_for_the_part_s_own_audience():
    script = told([IDLE] * 2, private=True)
    sleep(script)
    last = max(m["metadata"]["seq"] for m in script.conversation.messages[:2])
    assert script.memories.asked == [
        ("Lina Dunmore", frozenset({ANN}), last),
        ("42 silver", frozenset({ANN}), last),
    ]
    assert figures(script) == (2, 0, 2)


def test_an_emergency_counts_too():
    script = told([POOR] * 4)
    chat(script, 40)
    assert outcome(script.mind.compactor.compact(CompactionOrder(EMERGENCY)))["rung"] in OF_A_MODEL
    assert figures(script) == (2, 1, 1)


def test_of_many_facts_an_even_sample_is_looked_up():
    script = told([])
    lines = [f"Ann says: I owe Tobin {number} crowns." for number in range(10, 260)]
    script.conversation.append([make_message("user", line) for line in lines])
    facts = outcome(script.mind.compactor._facts.find(script.conversation.messages[-250:]))
    assert len(facts) == 250
    assert outcome(script.mind.compactor._facts._count_recalled(facts[:3], None)) == 3
    script.memories.asked.clear()
    script.memories.search = lambda query, *about, upto: script.memories.asked.append(query) or ()
    assert outcome(script.mind.compactor._facts._count_recalled(facts, None)) == 0
    assert journal_summary.SAMPLE / 2 <= len(script.memories.asked) <= journal_summary.SAMPLE

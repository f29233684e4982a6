"""Facts are written down before talk goes out of view."""

import json
from dataclasses import replace

import pytest

from evennia_ai.errors import ProviderUnavailable, StoreUnavailable, TurnAborted
from evennia_ai.messages import LLMReply, ToolCallRequest, make_message
from evennia_ai.policy.compaction.restored_context import entry_ref
from evennia_ai.ports import ToolResult
from evennia_ai.sleep.extraction import ExtractionLimits, run_pre_compaction_extraction
from evennia_ai.turn.tool_executor import DONE
from tests.minds import SCRIPTED
from tests.scripted import call
from tests.test_context_compaction import ANN, BOB, make_script, outcome, talk

JOURNAL = {"add_journal_entry": "free", "update_entity_observation": "free"}


def entry(text):
    return call("add_journal_entry", content=text)


def batch(*calls):
    """Several calls in one reply."""
    requests = [
        ToolCallRequest(str(number), name, json.dumps(arguments))
        for number, (name, arguments) in enumerate(calls)
    ]
    return LLMReply("", tuple(requests))


@pytest.fixture
def ready():
    """A function that makes an assistant with talk to go and a journal that remembers."""

    def make(replies, lines=60, **settings):
        script = make_script(replies, **settings)
        toolbox = script.services.toolbox
        toolbox.categories |= JOURNAL
        script.journalled = []

        def write(context, arguments):
            script.journalled.append((arguments["content"], context.audience, context.private))
            return "Written down."

        toolbox.behaviours["add_journal_entry"] = write
        talk(script, lines)
        return script

    return make


def extract(script, most=None):
    return outcome(run_pre_compaction_extraction(script, script, most))


def test_facts_are_written_down_until_nothing_is_left(ready):
    script = ready([entry("Ann is a smith."), entry("Ann owes 40 crowns."), call("noop")])
    assert extract(script) == {
        "success": True,
        "facts_recorded": 2,
        "iterations": 3,
        "stopped_by": "noop",
    }
    assert [text for text, *_ in script.journalled] == ["Ann is a smith.", "Ann owes 40 crowns."]


def test_with_its_few_tools_a_full_context_does_not_look_empty(ready):
    script = ready([call("noop")])
    script.mind.meter.sizes.overhead = 2_000
    extract(script)
    assert script.mind.meter.sizes.overhead == 2_000


def test_a_reply_without_a_call_ends_it(ready):
    script = ready([entry("Ann is a smith."), "That is all."])
    result = extract(script)
    assert (result["facts_recorded"], result["stopped_by"]) == (1, "no_tool_call")


def test_a_foreign_tool_ends_it_unrun_and_journal_calls_beside_it_count(ready):
    say = ("say", {"text": "I will remember!"})
    script = ready([batch(("add_journal_entry", {"content": "Ann is a smith."}), say)])
    result = extract(script)
    assert (result["facts_recorded"], result["stopped_by"]) == (1, "other_tool")
    assert script.services.toolbox.spoken == []


def test_there_is_an_end_to_it(ready):
    script = ready([entry(f"fact {n}") for n in range(9)])
    result = extract(script)
    assert (result["iterations"], result["stopped_by"]) == (5, "max_iterations")


def test_an_emergency_may_ask_for_less(ready):
    script = ready([entry(f"fact {n}") for n in range(9)])
    assert extract(script, 3)["iterations"] == 3


def test_it_can_be_turned_off(ready):
    script = ready([], pre_compact_extraction_enabled=False)
    assert extract(script) == {"skipped": True, "reason": "extraction disabled"}


def test_a_few_messages_are_not_worth_it(ready):
    script = ready([], lines=2, compact_sleep_threshold=0.1)
    assert extract(script) == {"skipped": True, "reason": "fewer than 5 messages"}


def test_the_calls_are_acts_and_no_conversation(ready):
    script = ready([entry("Ann is a smith."), call("noop")])
    before = list(script.conversation.messages)
    extract(script)
    assert script.conversation.messages == before
    assert [act.call.name for act in script.mind.turns.acts] == ["add_journal_entry"]
    assert script.mind.turns.turns[-1].outcome == "noted"


def test_it_sees_its_own_entries_and_only_the_tools_for_this(ready):
    script = ready([entry("Ann is a smith."), call("noop")])
    extract(script)
    first, second = script.services.gateway.requests
    names = {tool["function"]["name"] for tool in first.tools}
    assert names == {"noop", "add_journal_entry", "update_entity_observation"}
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-1]["content"] == "Written down."
    assert "go out of your sight" in first.messages[-1]["content"]


def test_each_audience_has_a_loop_of_its_own_that_sees_no_more(ready):
    script = ready([entry("public"), call("noop"), entry("private"), call("noop")], lines=10)
    talk(script, 3, private_to=ANN)
    script.conversation.append(
        [make_message("user", "Bob whispers to you: the ring", audience=[BOB], private=True)]
    )
    talk(script, 40)
    script.services.gateway.add(entry("bob's"), call("noop"))
    assert extract(script)["facts_recorded"] == 3
    assert [(audience, private) for _, audience, private in script.journalled] == [
        (frozenset(), False),
        (frozenset({ANN}), True),
        (frozenset({BOB}), True),
    ]
    requests = script.services.gateway.requests
    assert ["the ring" in str(r.messages) for r in requests] == [False] * 4 + [True] * 2


def test_no_line_is_named_as_a_source_to_those_who_may_not_know_it(ready):
    script, contexts = ready([entry("the ring is gone"), call("noop")], lines=10), []
    toolbox = script.services.toolbox
    toolbox.behaviours["add_journal_entry"] = lambda context, a: contexts.append(context)
    whisper = make_message("user", "Bob says: the ring is gone", audience=[BOB], private=True)
    (told,) = script.conversation.append([whisper])
    talk(script, 40)
    script.services.gateway.add(entry("the ring is gone"), call("noop"))
    extract(script)
    seq = told["metadata"]["seq"]
    assert [seq in one.source_seqs for one in contexts] == [False, True]


def test_the_signal_is_up_meanwhile_and_always_comes_down(ready):
    script = ready([ProviderUnavailable("down")])
    seen = []
    real = script.mind.turns.begin

    def begin(*args):
        seen.append(script.status.signals["pre_compaction"])
        return real(*args)

    script.mind.turns.begin = begin
    assert extract(script)["success"] is False
    assert seen == [True]
    assert script.status.signals == {"pre_compaction": False}


def test_the_signal_comes_down_though_the_database_is_busy_for_a_moment(ready):
    script, tries = ready([call("noop")]), []
    real = script.status.signal

    def signal(name, on):
        tries.append(on)
        if len(tries) in (1, 3):
            raise StoreUnavailable("The database is busy.")
        real(name, on)

    script.status.signal = signal
    fired = []
    run_pre_compaction_extraction(script, script).addBoth(fired.append)
    script.services.clock.pump([0.1] * 5)
    assert fired[0]["success"] and tries == [True, True, False, False]
    assert script.status.signals == {"pre_compaction": False}


def test_a_server_that_stops_ends_it_and_the_signal_comes_down(ready):
    script = ready([TurnAborted("going down")])
    failure = outcome(run_pre_compaction_extraction(script, script))
    assert failure.check(TurnAborted)
    assert script.status.signals == {"pre_compaction": False}


def test_a_turn_that_an_error_left_open_is_closed_first(ready):
    script = ready([call("noop")])
    script.hears("Are you there?")
    script.mind.turns.begin(
        script.mind.inbox.open_events().waiting, frozenset({ANN}), False, "tick_event"
    )
    extract(script)
    assert [turn.outcome for turn in script.mind.turns.turns] == ["interrupted", "noted"]
    assert script.mind.states()["Are you there?"] == "waiting"


def test_what_nobody_stated_is_its_own_thought(ready):
    replies = [entry("Ann is a miner."), entry("Dunmore has a smith."), call("noop")]
    script, contexts = ready(replies), []
    toolbox = script.services.toolbox
    toolbox.behaviours["add_journal_entry"] = lambda context, a: contexts.append(context)
    extract(script)
    assert [context.is_own_thought for context in contexts] == [True, False]


OWES, MINER, IDLE = "Ann owes 40 crowns.", "Ann is a miner.", "Ann has no work."


@pytest.mark.parametrize(
    ("judged", "is_awaited", "thoughts"),
    [
        ("1 done\n2 wrong\n3 done", False, {MINER}),
        ("Well.", False, {IDLE}),
        ("1 said", True, {IDLE}),
    ],
    ids=["doubted", "no verdict", "somebody waits"],
)
def test_entries_are_held_against_the_lines_once_for_all_of_an_audience(
    ready, judged, is_awaited, thoughts
):
    script = ready([entry(OWES), entry(MINER), entry(IDLE), call("noop"), judged])
    script.mind.settings.profile = replace(SCRIPTED, client="openai")

    def write(_context, arguments):
        text = arguments["content"]
        source = "inference" if text == IDLE else "direct"  # as if by its words
        kept = script.character.journal.add(text, source_type=source)
        return ToolResult(DONE, "Noted.", changed=(entry_ref(kept),))

    script.services.toolbox.behaviours["add_journal_entry"] = write
    limits = ExtractionLimits(5, script.services.clock.seconds() + 60 if is_awaited else None)
    outcome(script.mind.extraction.extract(limits, script.mind.meter.measure()))
    entries = script.character.journal.all()
    assert {item["content"] for item in entries if item["source_type"] == "inference"} == thoughts
    checks = [call.messages[-1]["content"] for call in script.services.gateway.requests[4:]]
    assert [f"1. {OWES}\n2. {MINER}\n3. {IDLE}" in text for text in checks] == [True] * (
        not is_awaited
    )

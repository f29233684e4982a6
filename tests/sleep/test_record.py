"""What a compaction's record tells: what it cost, and what exactly was summed up."""

import pytest

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import LLMReply, Usage, make_message
from evennia_ai.policy.compaction.plan import TOO_LITTLE, CompactionOrder
from evennia_ai.policy.compaction.summary import prefix_hash
from evennia_ai.policy.tokens import stored_tokens
from evennia_ai.sleep import run_sleep_tick
from tests.game.compaction_records import record
from tests.test_context_compaction import ANN, SUMMARY, make_script, outcome, sleep, snapshot, talk


def record_of(script):
    return script.conversation.current.record


def rows(messages):
    return [(m["metadata"]["seq"], m["role"], m["content"]) for m in messages]


def test_it_holds_the_cost_of_every_call_that_was_made_for_it():
    noted = LLMReply("Nothing to write down.", usage=Usage(3_000, 10))
    script = make_script([noted, LLMReply("", usage=Usage(1_000, 0)), LLMReply(SUMMARY)])
    talk(script, 60)
    outcome(run_sleep_tick(script, script))
    cost = record_of(script).cost
    last = script.services.gateway.requests[2].tokens
    assert (cost["calls"], cost["tokens_out"]) == (3, 10)
    assert cost["tokens_in"] == 3_000 + 1_000 + last


def test_what_failed_attempts_cost_counts_with_the_next_that_succeeds_and_no_other():
    script = make_script([ProviderUnavailable("down"), SUMMARY, SUMMARY])
    talk(script, 60)
    sleep(script)
    sleep(script)
    assert record_of(script).cost["calls"] == 2
    talk(script, 60)
    sleep(script)
    assert record_of(script).cost["calls"] == 1


def test_without_a_model_call_it_cost_nothing():
    script = make_script()
    talk(script, 60)
    outcome(script.mind.compactor.compact(CompactionOrder("overflow", force=True)))
    assert not record_of(script).cost


def test_it_counts_the_summary_that_it_replaces_and_is_shorter_than_what_goes():
    script = make_script([SUMMARY, SUMMARY + " She paid."])
    talk(script, 60)
    sleep(script)
    first = record_of(script)
    talk(script, 60)
    sleep(script)
    second = record_of(script)
    gone = script.conversation.messages[first.compacted_count :][: second.compacted_count]
    replaced = first.summary_token_count + sum(map(stored_tokens, gone))
    assert second.original_token_count == replaced > second.summary_token_count


def test_lines_that_are_no_shorter_as_a_summary_stay_as_they_are():
    script = make_script()
    said = {"audience": [ANN], "private": False}
    lines = [make_message("user", f"Ann says: {word}", **said) for word in ("Hi!", "Ale?", "Two.")]
    script.conversation.append(lines)
    before = snapshot(script)
    result = sleep(script, force=True, keep_recent=1)
    assert (result["skipped"], result["reason"]) == (True, TOO_LITTLE)
    assert snapshot(script) == before
    assert script.journal.all() == []


@pytest.mark.parametrize(("tokens", "is_stored"), [(59, True), (60, False), (61, False)])
def test_only_a_summary_that_is_shorter_saves(tokens, is_stored):
    script = make_script()
    talk(script, 60)
    last = script.conversation.messages[-3]["metadata"]["seq"]
    found = record(last, original_token_count=60, summary_token_count=tokens)
    assert script.mind.compactor._saves(found) is is_stored


def test_what_makes_no_prompt_shorter_saves_nothing():
    script = make_script()
    for partner, length in (("#11", 60), ("#12", 600)):
        line = make_message("user", "word " * length, audience=[partner], private=True)
        script.conversation.append([line])
    first, second = (message["metadata"]["seq"] for message in script.conversation.messages)
    of_the_short_talk = record(first, summary={"#11": "They talked."})
    assert not script.mind.compactor._saves(of_the_short_talk)
    of_both = record(second, summary={"#11": "They talked.", "#12": "They talked."})
    assert script.mind.compactor._saves(of_both)


def test_the_fingerprint_is_that_of_what_was_summed_up():
    script = make_script([SUMMARY])
    talk(script, 60)
    sleep(script)
    record = record_of(script)
    gone = script.conversation.messages[: record.compacted_count]
    assert gone[-1]["metadata"]["seq"] == record.upto_seq
    assert record.prefix_hash == prefix_hash(rows(gone))
    assert record.prefix_hash != prefix_hash(rows(gone[:-1]))

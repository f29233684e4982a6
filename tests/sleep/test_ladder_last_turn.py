"""After a compaction the talk is at its target, and never two in a row come to nothing (P4)."""

from itertools import pairwise

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.plan import EMERGENCY, STRIKES, TOO_LITTLE, CompactionOrder
from evennia_ai.turn.llm_interaction import build_llm_messages
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.test_context_compaction import SUMMARY, make_script, outcome, sleep, snapshot, talk

PARTNERS = [f"#{number}" for number in range(11, 19)]
CONFIDANT = "#99"  # who was there whenever somebody whispered, and knows it all
LONG = "word " * 250


def gossip(replies=(), **settings):
    """An assistant that knows a long secret of each of many, with one who knows them all."""
    script = make_script(replies, **settings)
    secret = "Ann says: My sister Lina keeps bees in Dunmore. "
    for partner in PARTNERS:
        lines = [make_message("user", secret + LONG, audience=[partner, CONFIDANT], private=True)]
        script.conversation.append(lines)
    talk(script, 10)
    return script


def talk_tokens(script):
    return script.conversation.current.sizes.largest()


def target(script):
    """Return the most tokens of the talk after a compaction in sleep."""
    compactor = script.mind.compactor
    return compactor._limits_for(CompactionOrder(), compactor._meter.measure()).target_tokens


def test_where_the_summaries_leave_the_talk_above_its_target_only_the_last_turn_stays():
    script = gossip([SUMMARY + " word" * 200] * 20)
    result = sleep(script)
    assert (result["success"], result["rung"]) == (True, "last turn")
    assert talk_tokens(script) <= target(script)
    assert result["preserved_messages"] == 2
    shown = str(script.conversation.view())
    assert (SUMMARY in shown, "word " * 100 in shown) == (True, False)


def test_its_facts_can_still_be_called_to_mind():
    script = gossip([SUMMARY + " word" * 200] * 20)
    sleep(script)
    record = script.conversation.current.record
    assert record.facts_found >= len(PARTNERS)
    question = make_message("user", "Ann says: Who is my sister?", audience=[CONFIDANT])
    script.conversation.append([question])
    assert "Lina" in str(build_llm_messages(script, CONTEXT_TICK_EVENT, frozenset({CONFIDANT})))


def test_a_digest_goes_the_same_way():
    script = gossip([SUMMARY + " word" * 200] * 20)
    sleep(script)
    for partner in PARTNERS:
        script.conversation.append(
            [make_message("user", f"secret {LONG}", audience=[partner, CONFIDANT], private=True)]
        )
    assert outcome(script.mind.compactor.compact(CompactionOrder("overflow", force=True)))[
        "success"
    ]
    assert talk_tokens(script) <= target(script)


def test_what_would_save_nothing_is_not_done():
    script = make_script()
    talk(script, 2, length=1)
    before = snapshot(script)
    result = sleep(script, force=True, keep_recent=2)
    assert (result["skipped"], result["reason"]) == (True, TOO_LITTLE)
    assert snapshot(script) == before
    assert script.mind.compactor._strikes == 0


def test_a_prompt_full_of_other_things_is_not_compacted_with_every_line():
    script = make_script([SUMMARY] * 20)
    talk(script, 60)
    script.mind.meter.sizes.overhead = 3_400
    done = []
    for _ in range(20):
        assert script.mind.meter.measure().ratio >= 0.8
        result = outcome(script.mind.compactor.compact(CompactionOrder(EMERGENCY)))
        done.append(result.get("success", False))
        talk(script, 1, length=10)
    assert done[0]
    assert sum(done) <= 5
    assert not any(first and second for first, second in pairwise(done))


def test_after_some_summaries_in_a_row_that_save_nothing_no_model_is_asked(monkeypatch):
    script = gossip([SUMMARY] * 40)
    monkeypatch.setattr(script.mind.compactor, "_saves", lambda record: False)
    for _ in range(STRIKES):
        assert sleep(script)["reason"] == TOO_LITTLE
    asked = len(script.services.gateway.requests)
    assert sleep(script)["reason"] == TOO_LITTLE
    assert 0 < len(script.services.gateway.requests) == asked

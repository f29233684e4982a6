"""Compacting a conversation: what is skipped, what is done, what is left alone."""

import json
from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.errors import ContextOverflow, ProviderUnavailable
from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.compaction.plan import CompactionOrder
from evennia_ai.policy.context.projection import is_marker
from evennia_ai.sleep import run_sleep_tick
from evennia_ai.sleep.compaction.compact import compact_conversation_history
from evennia_ai.turn.llm_interaction import build_llm_messages
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.minds import MemoryMind
from tests.scripted import LLMReply, ScriptedLLM, call

ANN, BOB = "#5", "#6"
SUMMARY = "Ann is a smith from Dunmore and owes Bob Tanner of Rook Lane forty crowns."
TOLD = ("the smith from Dunmore", "Bob Tanner", "Rook Lane", "forty crowns", "what I owe")


def make_script(replies=(), **settings):
    values = {"max_context_tokens": 4_000, "compact_preserve_window": 4, "max_reply_tokens": 200}
    return MemoryMind(ScriptedLLM(replies), AssistantConfig(**values | settings))


def meta_of(private_to):
    """Return the metadata of lines for everybody, or for one."""
    return {"audience": [private_to] if private_to else [ANN, BOB], "private": bool(private_to)}


def talk(script, lines, length=40, private_to=None):
    """Lines of Ann's with answers, as a log holds them; together they tell what `SUMMARY` does."""
    meta = meta_of(private_to)
    for number in range(lines):
        words = f"line {number} {TOLD[number % len(TOLD)]} " + "word " * (length - 4)
        said = make_message("user", f"Ann says: {words}", **meta)
        script.conversation.append([said, make_message("assistant", f"Well, {number}.", **meta)])


def outcome(deferred):
    results = []
    deferred.addBoth(results.append)
    (result,) = results
    return result


def sleep(script, **order):
    return outcome(compact_conversation_history(script, script, **order))


def talked(replies=(), lines=60, **settings):
    script = make_script(replies, **settings)
    talk(script, lines)
    return script


def compacted(*replies, lines=60, **settings):
    """Return an assistant that heard some lines and slept, and what came of its sleep."""
    script = talked(replies, lines, **settings)
    return script, sleep(script)


def looked(number, seen):
    asked = make_message("assistant", "", tool_calls=[wire_call(str(number), "look", "{}")])
    return [asked, make_message("tool", seen, tool_call_id=str(number))]


def snapshot(script):
    return json.dumps([script.conversation.messages, list(script.conversation.view())])


def being_summed_up(*earlier):
    """Return an assistant while its summary is made, that summary, and what will come of it."""
    late, results = Deferred(), []
    script = make_script([*earlier, late])
    for _ in earlier:
        talk(script, 60)
        sleep(script)
    talk(script, 60)
    compact_conversation_history(script, script).addBoth(results.append)
    return script, late, results


class TestCompactConversationHistorySkips:
    @pytest.mark.parametrize(
        ("lines", "settings", "reason"),
        [
            (60, {"compact_enabled": False}, "compaction disabled"),
            (1, {}, "history within preserve window"),
            (0, {}, "no history"),
        ],
    )
    def test_also_where_it_is_forced(self, lines, settings, reason):
        script = talked(lines=lines, **settings)
        result = sleep(script, force=True)
        assert (result["skipped"], result["reason"]) == (True, reason)

    def test_below_the_threshold_with_the_figures(self):
        script, result = compacted(lines=10)
        percent = 100 * script.mind.meter.measure().ratio
        assert result["reason"] == f"below threshold ({percent:.1f}% < 70%)"
        assert result["token_usage"] == pytest.approx(percent / 100)

    def test_exactly_at_the_threshold_it_is_done(self):
        script = talked([SUMMARY], lines=40)
        use = script.mind.meter.measure()
        script.mind.meter.sizes.overhead = int(0.7 * use.window) - use.used
        assert script.mind.meter.measure().ratio == 0.7
        assert sleep(script)["success"]

    def test_persona_and_tools_count(self):
        script, result = compacted(SUMMARY, lines=20)
        assert result["skipped"]
        script.mind.meter.sizes.overhead = 2_000
        assert sleep(script)["success"]


class TestCompactConversationHistoryExecution:
    def test_old_talk_makes_room_for_its_summary_and_the_log_stays(self):
        script = talked([SUMMARY])
        log = list(script.conversation.messages)
        result = sleep(script)
        assert result["success"]
        assert script.conversation.messages == log
        view = script.conversation.view()
        assert [is_marker(m) for m in view] == [True] + [False] * (len(view) - 1)
        assert result["compacted_messages"] + result["preserved_messages"] == len(log)
        assert result["new_tokens"] < result["original_tokens"]
        wire = build_llm_messages(script, CONTEXT_TICK_EVENT, frozenset({ANN}))
        assert SUMMARY in wire[2]["content"]

    def test_a_second_one_updates_the_first_and_leaves_one_marker(self):
        script, _ = compacted(SUMMARY, f"{SUMMARY} She paid.")
        talk(script, 60)
        result = sleep(script)
        asked = script.services.gateway.requests[1].messages[1]["content"]
        assert f"<previous>\n{SUMMARY}\n</previous>" in asked
        view = script.conversation.view()
        assert [is_marker(m) for m in view].count(True) == 1
        assert view[0]["metadata"]["id"] == result["compaction_id"]
        assert "She paid." in view[0]["content"]

    def test_one_long_turn_is_compacted_too(self):
        script = make_script([SUMMARY])
        log = [make_message("user", "Ann says: look around", audience=[ANN])]
        for number in range(12):
            log += looked(number, "x" * 1_500)
        script.conversation.append([*log, make_message("assistant", "A fine room.")])
        assert sleep(script)["success"]
        wire = build_llm_messages(script, CONTEXT_TICK_EVENT, frozenset({ANN}))
        calls = [c["id"] for m in wire for c in m.get("tool_calls", ())]
        assert calls == [m["tool_call_id"] for m in wire if m["role"] == "tool"]

    def test_each_audience_has_a_summary_of_its_own(self):
        script = talked([f"{SUMMARY} A public part.", f"{SUMMARY} A private part."], lines=20)
        talk(script, 3, private_to=ANN)
        talk(script, 40)
        assert sleep(script)["success"]
        public, private = (r.messages[1]["content"] for r in script.services.gateway.requests)
        assert ("line 19" in public, "line 2 " in private) == (True, True)
        for listeners, seen in (({ANN}, True), ({BOB}, False), ({ANN, BOB}, False)):
            wire = build_llm_messages(script, CONTEXT_TICK_EVENT, frozenset(listeners))
            assert ("private part" in str(wire)) is seen
            assert "public part" in str(wire)

    def test_only_what_goes_is_summed_up_and_afterwards_it_is_not_due_again(self):
        script, _ = compacted(SUMMARY)
        asked = script.services.gateway.requests[0].messages[1]["content"]
        kept = [m["content"] for m in script.conversation.current.messages]
        assert not any(line in asked for line in kept if line.startswith("Ann"))
        talk(script, 1)
        assert sleep(script)["reason"].startswith("below threshold")

    def test_a_focus_and_the_number_to_keep_are_honoured(self):
        script = make_script([SUMMARY])
        talk(script, 20, length=20)
        assert sleep(script, force=True, focus="the ring", keep_recent=2)["success"]
        assert "the ring" in script.services.gateway.requests[0].messages[0]["content"]

    @pytest.mark.parametrize(
        "named",
        [{"compact_model": "small", "background_model": "tiny"}, {"background_model": "small"}],
    )
    def test_another_model_sums_up_where_one_is_named(self, named):
        script, _ = compacted(SUMMARY, **named)
        assert script.mind.turns.loose_calls[0].model == "small"
        assert script.mind.turns.loose_calls[0].purpose == "summary"

    @pytest.mark.parametrize(
        "reply",
        [
            ProviderUnavailable("down"), LLMReply(""), LLMReply("<think>only thoughts</think>"),
            LLMReply("I'm sorry, I can't do that."), LLMReply("word " * 5_000),
        ],
    )  # fmt: skip
    def test_where_no_summary_comes_everything_is_as_it_was_and_the_next_attempt_works(self, reply):
        script = talked([reply] * 12)
        before = snapshot(script)
        assert sleep(script) == {"success": False, "error": "summary generation failed"}
        assert snapshot(script) == before
        script.services.gateway.script[:] = [SUMMARY]
        assert sleep(script)["success"]

    def test_a_summary_call_that_overflows_is_made_smaller(self):
        overflow = ContextOverflow("too long")
        script, result = compacted(overflow, overflow, *[SUMMARY] * 12)
        assert result["rung"] == "chunks"
        assert SUMMARY in script.conversation.view()[0]["content"]

    @pytest.mark.parametrize(("force", "rung"), [(False, "digest"), (True, "summary")])
    def test_after_two_failures_a_digest_stands_in_unless_an_admin_orders_it(self, force, rung):
        script, _ = compacted(*[ProviderUnavailable("down")] * 2, SUMMARY)
        sleep(script)
        assert sleep(script, force=force)["rung"] == rung
        assert len(script.services.gateway.requests) == 2 + force
        shown = script.conversation.view()[0]["content"].removeprefix("[CONTEXT SUMMARY]\n")
        assert shown.startswith(SUMMARY if force else "[Compacted ")

    def test_a_model_that_failed_twice_is_asked_again_in_time(self):
        script = make_script([ProviderUnavailable("down")] * 2 + [SUMMARY] * 9)
        rungs = []
        for _ in range(6):
            talk(script, 60)
            rungs.append(sleep(script).get("rung"))
        assert rungs[:4] == [None, None, "digest", "digest"]
        assert set(rungs[4:]) <= {"summary", "chunks"}  # by then it is more than fits at once

    def test_what_arrives_while_the_summary_is_made_is_kept(self):
        script, late, results = being_summed_up()
        talk(script, 1, length=1)
        late.callback(LLMReply(SUMMARY))
        assert results[0]["success"]
        assert script.conversation.view()[-2]["content"].startswith("Ann says: line 0 the smith")

    def test_an_undo_while_the_summary_is_made_leaves_no_message_out_of_reach(self):
        script, late, results = being_summed_up(SUMMARY)
        script.conversation.undo()
        before = snapshot(script)
        late.callback(LLMReply(SUMMARY))
        assert results == [{"success": False, "error": "the history was changed meanwhile"}]
        assert snapshot(script) == before

    def test_words_that_are_forgotten_while_they_are_summed_up_are_not_kept(self):
        script, late, results = being_summed_up()
        del script.conversation.messages[3]
        late.callback(LLMReply(SUMMARY))
        assert results[0]["success"] is False
        assert script.conversation.moves == []

    @pytest.mark.parametrize("rewritten", [True, False])
    def test_nothing_is_built_on_a_summary_whose_words_are_being_forgotten(self, rewritten):
        script, late, results = being_summed_up(SUMMARY)
        (first,) = script.conversation.moves
        if rewritten:
            first.record = replace(first.record, summary={"public": "Somebody is a smith."})
        else:
            script.status.is_forgetting = True
        late.callback(LLMReply(SUMMARY))
        assert results == [{"success": False, "error": "the history was changed meanwhile"}]
        assert script.conversation.moves == [first]

    def test_cancelled_while_the_summary_is_made_nothing_is_stored(self):
        script = talked([Deferred()])
        before = snapshot(script)
        running = compact_conversation_history(script, script)
        running.addErrback(lambda failure: None)
        running.cancel()
        assert snapshot(script) == before


class TestFactsSurvive:
    LINES = (
        "Ann says: My sister Lina keeps bees in Dunmore.",
        "Ann says: I owe you 42 silver pieces for the red saddle.",
        "Ann says: I promise to bring the letter to Captain Voss by Friday.",
    )

    def told(self, replies, private_to=None):
        script = make_script(replies, max_context_tokens=6_000)
        meta = {"speaker": ANN, "speaker_name": "Ann", **meta_of(private_to)}
        script.conversation.append([make_message("user", line, **meta) for line in self.LINES])
        talk(script, 80)
        return script

    def prompt(self, script, question, audience=frozenset({ANN})):
        script.conversation.append([make_message("user", question, audience=sorted(audience))])
        return str(build_llm_messages(script, CONTEXT_TICK_EVENT, audience))

    def test_what_a_summary_drops_is_counted_and_not_added_to_it(self):
        script = self.told([SUMMARY])
        result = sleep(script)
        assert result["facts_found"] >= 3
        assert result["facts_found"] > result["facts_kept"]
        assert script.conversation.current.record.summary["public"] == SUMMARY

    def test_without_a_model_the_facts_stand_in_the_digest(self):
        script = self.told([])
        request = CompactionOrder("overflow", force=True)
        assert outcome(script.mind.compactor.compact(request))["success"]
        record = script.conversation.current.record
        assert "- Ann: I owe you 42 silver pieces" in record.summary["public"]
        assert record.facts_kept >= 3

    def test_after_many_hostile_summaries_a_fact_is_in_the_prompt_of_a_question_about_it(self):
        script = self.told(["Nothing worth a word was said."] * 20)
        for _ in range(8):
            sleep(script, force=True)
            talk(script, 60)
        assert "Lina" in self.prompt(script, "Ann says: Who is my sister?")
        assert "42 silver pieces" in self.prompt(script, "Ann says: How much silver do I owe you?")
        assert "Voss" in self.prompt(script, "Ann says: Whom is the letter for?")

    def test_a_whispered_fact_is_called_to_mind_for_its_listener_alone(self):
        script = self.told(
            [SUMMARY, "Ann has a sister, and owes for the saddle."] * 3, private_to=ANN
        )
        sleep(script)
        question = "Ann says: How much silver do I owe you for the saddle?"
        assert "42 silver pieces" in self.prompt(script, question)
        assert "42 silver pieces" not in self.prompt(script, question, frozenset({BOB}))
        assert "42 silver pieces" not in self.prompt(script, question, frozenset({ANN, BOB}))


class TestSleepPhaseIntegration:
    NAMES = (
        "memory_links", "entity_consolidation", "orphaned_links", "episodic_prune",
        "stale_conversations", "pre_compaction_extraction", "context_compaction",
    )  # fmt: skip

    def test_every_step_is_reported_in_its_order(self):
        results = outcome(run_sleep_tick(*[make_script()] * 2))
        assert tuple(results) == self.NAMES
        assert results["memory_links"]["skipped"]
        assert results["context_compaction"]["reason"] == "no history"

    def test_facts_are_journalled_before_talk_goes(self):
        script = talked(["Nothing to write down.", SUMMARY])
        results = outcome(run_sleep_tick(script, script))
        assert results["pre_compaction_extraction"]["stopped_by"] == "no_tool_call"
        assert results["context_compaction"]["success"]
        purposes = [r.messages[-1]["content"] for r in script.services.gateway.requests]
        assert "go out of your sight" in purposes[0]
        assert purposes[1].startswith("<transcript>")

    def test_below_the_threshold_no_model_is_asked(self):
        script = talked(lines=10)
        results = outcome(run_sleep_tick(script, script))
        assert results["pre_compaction_extraction"]["skipped"]
        assert results["context_compaction"]["skipped"]
        assert script.services.gateway.requests == []

    def test_facts_that_cannot_be_journalled_do_not_stop_the_compaction(self):
        script = talked([ProviderUnavailable("down"), SUMMARY])
        results = outcome(run_sleep_tick(script, script))
        assert results["pre_compaction_extraction"]["success"] is False
        assert results["context_compaction"]["success"]


class TestMasking:
    def test_old_results_go_before_any_talk_does(self):
        script = talked(lines=34)
        for number in range(6):
            script.conversation.append(looked(number, "a thing to see " * 20))
        before = script.mind.meter.measure()
        assert before.ratio > 0.6
        assert script.mind.compactor.mask_old_results(script.mind.meter.measure()) == 3
        assert script.mind.meter.measure().used < before.used
        assert script.mind.compactor.mask_old_results(script.mind.meter.measure()) == 0

    def test_below_the_threshold_nothing_is_masked(self):
        script = make_script()
        script.conversation.append([make_message("tool", "a thing " * 100, tool_call_id="1")] * 5)
        assert script.mind.compactor.mask_old_results(script.mind.meter.measure()) == 0


class TestEmergencyCompaction:
    def test_below_its_threshold_nothing_is_done(self):
        script = talked(lines=44)
        assert 0.7 < script.mind.meter.measure().ratio < 0.8
        assert outcome(script.mind.emergency.make_room()) is None

    def test_without_a_model_a_digest_makes_room(self):
        script = talked([ProviderUnavailable("down")], lines=80)
        result = outcome(script.mind.compactor.compact(CompactionOrder("emergency")))
        assert (result["success"], result["rung"]) == (True, "digest")
        assert script.mind.meter.measure().ratio < 0.8

    @pytest.mark.parametrize(
        ("second", "state"),
        [(call("say", text="Here I am."), "answered"), (ContextOverflow("too long"), "excused")],
    )
    def test_one_compaction_answers_an_overflow_and_a_second_one_is_excused(self, second, state):
        script = talked([ContextOverflow("too long"), second], lines=30)
        script.hears("Are you there?", ANN)
        assert outcome(script.mind.turn_runner.answer_all()) == 1
        assert script.mind.states()["Are you there?"] == state
        assert len(script.services.gateway.requests) == 2
        assert len(script.conversation.moves) == 1

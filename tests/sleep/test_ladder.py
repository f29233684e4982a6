"""Which model is asked for a summary, in which order, and for how long."""

import re
from dataclasses import replace

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ContextOverflow, ProviderMisconfigured, ProviderUnavailable
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.messages import LLMReply, make_message
from evennia_ai.policy.compaction.plan import EMERGENCY, CompactionOrder
from evennia_ai.policy.facts.terms import SentenceKinds
from evennia_ai.sleep.compaction.summarising import in_parts, worst_of
from tests.growth import text_grows_like_a_square
from tests.memory.bag_of_words import BagOfWords
from tests.minds import SCRIPTED
from tests.test_context_compaction import ANN, SUMMARY, make_script, outcome, sleep, talk

SPARE = {"spare": {"client": "openai", "model": "big", "base_url": "http://127.0.0.1:1/v1"}}


def asked(script):
    """Which models were asked, in order."""
    return [call.model for call in script.mind.turns.loose_calls]


def full(replies, **settings):
    script = make_script(replies, **settings)
    script.services.profiles = SPARE
    script.rebuild()
    talk(script, 60)
    return script


def test_the_last_to_be_asked_are_the_assistants_own_model_and_the_games_spare_one():
    script = full([], compact_model="small", compact_fallback_profile="spare")
    assert [(rung.name, rung.profile.model) for rung in script.mind.summary_fallbacks._rungs()] == [
        ("summary", "small"),
        ("cleared", "small"),
        ("chunks", "small"),
        ("other model", "scripted"),
        ("other model", "big"),
    ]


@pytest.mark.parametrize("settings", [{}, {"compact_model": "scripted"}])
def test_without_another_model_none_is_asked_twice(settings):
    rungs = full([], **settings).summary_fallbacks._rungs()
    assert [rung.name for rung in rungs] == ["summary", "cleared", "chunks"]


def test_a_model_that_cannot_sum_up_gives_way_to_another():
    useless = [LLMReply("")] * 3
    script = full([*useless, *[SUMMARY] * 9], compact_model="small")
    assert sleep(script)["rung"] == "other model"
    assert asked(script)[:4] == ["small", "small", "small", "scripted"]
    assert script.mind.compactor._strikes == 0


def test_a_summary_makes_the_failures_before_it_forgotten():
    down = ProviderUnavailable("down")
    script = full([down, SUMMARY, down, SUMMARY])
    first = [sleep(script).get("rung") for _ in range(2)]
    talk(script, 60)
    assert first + [sleep(script).get("rung") for _ in range(2)] == [None, "summary"] * 2


@pytest.mark.parametrize(
    "problem", [ProviderMisconfigured("no such model"), ProviderUnavailable("x")]
)
def test_a_model_that_does_not_answer_is_not_asked_for_less(problem):
    script = full([problem, *[SUMMARY] * 9], compact_model="small")
    assert sleep(script)["rung"] == "other model"
    assert asked(script)[:2] == ["small", "scripted"]
    assert "small" not in asked(script)[1:]


def test_the_spare_profile_of_a_game_is_asked_where_there_is_one():
    script = full([ContextOverflow("x")] * 3 + [SUMMARY] * 9, compact_fallback_profile="spare")
    assert sleep(script)["rung"] == "other model"
    assert asked(script)[-1] == "big"


def test_the_owner_is_told_of_a_spare_profile_that_is_not_there():
    script = full([SUMMARY], compact_fallback_profile="spar")
    assert sleep(script)["success"]
    assert (
        "compact_fallback_profile: There is no model profile 'spar'"
        in script.mind.settings.troubles[0]
    )


class Slow:
    """A model whose every answer takes so long and is empty."""

    def __init__(self, script, seconds):
        self.script, self.seconds, self.deadlines = script, seconds, []

    def complete(self, request, profile, deadline_at):
        self.deadlines.append(deadline_at)
        self.script.services.clock.advance(self.seconds)
        return self.script.empty.complete(request, profile, deadline_at)


def slow(seconds):
    script = full([LLMReply("")] * 9)
    script.empty = script.services.gateway
    script.services.gateway = Slow(script, seconds)
    script.rebuild()
    return script


def test_in_an_emergency_all_rungs_together_have_the_time_of_one_turn():
    script = slow(12)
    assert outcome(script.mind.compactor.compact(CompactionOrder(EMERGENCY)))["rung"] == "digest"
    assert script.services.gateway.deadlines == [20.0, 20.0]


def test_where_nobody_waits_each_rung_has_its_own_time():
    script = slow(12)
    assert not sleep(script)["success"]
    assert script.services.gateway.deadlines[:3] == [20.0, 32.0, 44.0]


def test_after_an_overflow_no_model_is_asked_at_all():
    script = full([], compact_model="small", compact_fallback_profile="spare")
    assert (
        outcome(script.mind.compactor.compact(CompactionOrder("overflow", force=True)))["rung"]
        == "digest"
    )
    assert asked(script) == []


def test_of_several_parts_the_rung_furthest_down_counts():
    assert worst_of(["summary", "last turn", "digest"]) == "last turn"
    assert worst_of([]) == "summary"
    assert ModelProfile("a", model="x") != ModelProfile("a", model="y")


def one_long_line(replies, line, window=4_000):
    """An assistant to which Ann said one very long line between many short ones."""
    script = make_script(replies, max_context_tokens=window)
    talk(script, 8, length=4)
    script.conversation.append([make_message("user", line, audience=[ANN], speaker=ANN)])
    talk(script, 24, length=4)
    return script


@pytest.mark.parametrize("reply", [SUMMARY, LLMReply("")], ids=["summed up", "all refused"])
@pytest.mark.parametrize("line", ["Ann says: " + "my boat is green and old " * 800, "好" * 9_000])
def test_no_request_for_a_summary_is_larger_than_the_window_whatever_is_said(line, reply):
    script = one_long_line([reply] * 60, line)
    sleep(script)
    asked = script.services.gateway.requests
    assert asked
    assert max(request.tokens for request in asked) < 4_000


def test_a_line_larger_than_the_window_is_summed_up_in_parts_that_name_its_speaker():
    words = " ".join(f"boat{number}" for number in range(2_500))
    script = one_long_line([SUMMARY] * 60, f"Ann says: {words}")
    assert sleep(script)["rung"] == "chunks"
    sent = [str(request.messages) for request in script.services.gateway.requests]
    assert {word for word in words.split() if not any(word in text for text in sent)} == set()
    holding = [text for text in sent if "boat" in text]
    assert len(holding) > 3
    assert all(re.search(r"Ann says(?: \(continued\))?: boat", text) for text in holding)


@pytest.mark.parametrize("piece", ["a-", "-", "好", " \n"])
def test_a_line_of_any_form_is_cut_in_a_time_that_grows_with_its_length_not_its_square(piece):
    def cut(line):
        message = make_message("user", f"Ann says: {line}", tokens=len(line) // 4)
        return in_parts(message, 1_000, "Mira")

    line = piece * (400_000 // len(piece))
    said = "".join(part["content"].removeprefix("Ann says (continued): ") for part in cut(line))
    assert "".join(said.split()) == "".join(f"Ann says: {line}".split())
    assert not text_grows_like_a_square(cut, piece, 400_000)


def test_blank_words_are_one_empty_part():
    blank = make_message("user", " \n" * 9_000, tokens=9_000)
    assert [part["content"] for part in in_parts(blank, 1_000, "Mira")] == [""]


def test_a_language_whose_words_take_more_room_is_given_fewer_of_them():
    def words_asked(line):
        script = make_script([SUMMARY])
        said = [make_message("user", f"Ann says: {line * 40}", tokens=0) for _ in range(40)]
        script.conversation.append(said)
        sleep(script)
        system = script.services.gateway.requests[0].messages[0]["content"]
        return int(re.search(r"At most (\d+) words", system)[1])

    assert words_asked("the river is wide ") > 1.3 * words_asked("полноводная река широка ")


def test_a_model_that_sums_up_one_part_and_never_another_is_not_asked_for_ever():
    def answer(request):
        return "I cannot sum that up." if "secret" in str(request.messages) else SUMMARY

    script = make_script([answer] * 20)
    secret = make_message(
        "user", "Ann whispers: secret " + "word " * 200, audience=[ANN], private=True
    )
    script.conversation.append([secret])
    talk(script, 60)
    assert [sleep(script).get("rung") for _ in range(3)] == [None, None, "digest"]


def test_what_a_player_claims_of_it_stays_that_players_claim():
    script = make_script([f"Mira is an AI language model. {SUMMARY}"])
    script.conversation.append([make_message("user", "Ann says: You are an AI, Mira.")])
    talk(script, 60)
    assert sleep(script)["rung"] == "summary"
    text = script.conversation.current.record.summary["public"]
    assert text.startswith("Ann claims: Mira is an AI language model. Ann is a smith")


BROUGHT, TOOK = "She brought Mira a bottle of red.", "Ann took the key."
PROMISED = "Ann says: I'll bring you a bottle of red."


@pytest.fixture
def summed_up(monkeypatch):
    """Return what sums a talk up in which a deed was promised: the summary, and the assistant."""

    def kinds(_nearness, text):
        deed = text.startswith(("She brought", "Ann took", "someone took"))
        return SentenceKinds(told=0.0, jest=0.0, deed=float(deed))

    def sum_up(*judged, form="tools", order=sleep, **settings):
        monkeypatch.setattr(TextNearness, "kinds", kinds)
        script = make_script([f"{BROUGHT} {TOOK} {SUMMARY}", *judged], **settings)
        script.services.nearness = TextNearness(BagOfWords)
        script.mind.settings.profile = replace(SCRIPTED, client="openai", form=form)
        script.conversation.append([make_message("user", PROMISED)])
        talk(script, 60)
        assert order(script)["rung"] == "summary"
        return script.conversation.current.record.summary["public"], script

    return sum_up


def urgent(script):
    return outcome(script.mind.compactor.compact(CompactionOrder(EMERGENCY)))


@pytest.mark.parametrize(
    ("judged", "left"),
    [
        ("1 done\n2 done", f"{BROUGHT} {TOOK}"),
        ("1 said\n2 wrong", PROMISED),
        ('{"1": "wrong"}', TOOK),
        ("I cannot say.", f"{PROMISED} {TOOK}"),
        (ProviderUnavailable("down"), f"{PROMISED} {TOOK}"),
    ],
)
def test_the_model_of_a_summary_is_asked_once_which_of_its_sentences_hold(summed_up, judged, left):
    text, script = summed_up(judged)
    assert text.startswith(f"{left} Ann is a smith")
    _summary, check = script.services.gateway.requests
    evidence = check.messages[-1]["content"]
    assert evidence.endswith(f"Sentences:\n1. {BROUGHT}\n2. {TOOK}")
    assert f"- {PROMISED}" in evidence.partition("What was said:")[2]
    assert [call.purpose for call in script.mind.turns.loose_calls] == ["summary", "summary_check"]


@pytest.mark.parametrize("settings", [{"form": "plain"}, {"compact_check_enabled": False}])
def test_no_model_is_asked_if_it_cannot_tell_or_may_not_be(summed_up, settings):
    """A line stands in place of a promise even so."""
    text, script = summed_up(**settings)
    assert text.startswith(f"{PROMISED} {TOOK} Ann is a smith")
    assert len(script.services.gateway.requests) == 1


def test_no_model_is_asked_which_sentences_hold_while_somebody_waits(summed_up):
    _text, script = summed_up(order=urgent)
    assert len(script.services.gateway.requests) == 1


def test_a_summary_of_nothing_but_leaked_rules_is_none():
    leaked = 'Mira uses {"name": "say"}. The available tools are say and whisper.'
    script = full([leaked, leaked, leaked, *[SUMMARY] * 9], compact_model="small")
    assert sleep(script)["rung"] == "other model"
    assert "available tools" not in str(script.conversation.current.record.summary)

"""Where a history may be cut, and where it is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import make_message, to_wire, wire_call
from evennia_ai.policy.compaction.plan import (
    DISABLED,
    NO_HISTORY,
    TOO_LITTLE,
    WITHIN_WINDOW,
    CompactionLimits,
    CompactionPlan,
    ContextUse,
    Skip,
    Thresholds,
    decide_compaction,
    needs_compaction,
    plan_compaction,
    plan_last_turn,
    safe_cut,
    unanswered_from,
)
from evennia_ai.policy.tokens import count_message

THRESHOLDS = Thresholds(mask=0.6, sleep=0.7, emergency=0.8)
LIMITS = CompactionLimits(window=4_000, fixed=500, reserve=500, target=0.8, preserve=4)


def heard(text="hello"):
    return make_message("user", text)


def calls(*ids):
    return make_message("assistant", "", tool_calls=[wire_call(i, "look", "{}") for i in ids])


def result(call_id, text="seen"):
    return make_message("tool", text, tool_call_id=call_id)


def said(text="well"):
    return make_message("assistant", text)


# --- the cut --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("window", "room"), [(100_000, 900), (8_000, 506), (3_500, 0)])
def test_the_public_part_of_a_summary_and_ones_own_leave_half_the_target_for_talk(window, room):
    limits = CompactionLimits(window, fixed=2_700, reserve=800, target=0.45, preserve=4)
    assert limits.summary_room == room
    assert 2 * room <= limits.target_tokens / 2


@pytest.mark.parametrize(("index", "moved"), [(0, 0), (1, 1), (2, 1), (3, 4), (4, 4), (5, 5)])
def test_a_cut_moves_back_to_the_call_and_forward_past_an_orphan(index, moved):
    messages = [heard(), calls("1"), result("1"), result("lost"), heard()]
    assert safe_cut(messages, index) == moved


@pytest.mark.parametrize("index", range(2, 12))
def test_a_cut_among_ten_results_moves_back_to_their_call(index):
    ids = [str(number) for number in range(10)]
    messages = [heard(), calls(*ids), *(result(i) for i in ids)]
    assert safe_cut(messages, index) == 1


def test_a_line_between_a_call_and_its_result_is_no_place_to_cut():
    messages = [heard(), calls("1"), heard("meanwhile"), result("1"), said()]
    assert [safe_cut(messages, index) for index in range(6)] == [0, 1, 1, 1, 4, 5]


# --- when -----------------------------------------------------------------------------------------


def test_exactly_at_the_threshold_it_is_time():
    assert needs_compaction(700, 1_000, 0.7)
    assert not needs_compaction(699, 1_000, 0.7)


def used(tokens, thresholds=THRESHOLDS):
    return ContextUse(tokens, 1_000, thresholds)


def decide(use, messages, limits=LIMITS, *, waits=True, force=False):
    return decide_compaction(use, messages, limits, count_message, waits=waits, force=force)


@pytest.mark.parametrize(
    ("tokens", "relief"),
    [
        (599, (False, False, False)),
        (600, (True, False, False)),
        (699, (True, False, False)),
        (700, (True, True, False)),
        (799, (True, True, False)),
        (800, (True, True, True)),
    ],
)
def test_each_kind_of_relief_begins_at_its_threshold(tokens, relief):
    use = used(tokens)
    assert (use.should_mask, use.is_due, use.is_urgent) == relief


def test_where_compaction_is_disabled_nothing_is_ever_due():
    use = used(999, None)
    assert not (use.should_mask or use.is_due or use.is_urgent)
    assert decide(use, [heard()] * 9, force=True) == Skip(DISABLED)


def test_below_the_threshold_it_waits_unless_it_need_not():
    messages = [heard("word " * 400)] * 9
    assert decide(used(610), messages) == Skip("below threshold (61.0% < 70%)")
    assert isinstance(decide(used(610), messages, waits=False), CompactionPlan)
    assert isinstance(decide(used(700), messages), CompactionPlan)


def test_a_little_is_only_worth_it_where_somebody_wants_it():
    messages, limits = [heard()] * 6, replace(LIMITS, kept_share=0.0)
    assert decide(used(900), messages, limits) == Skip(TOO_LITTLE)
    assert isinstance(decide(used(900), messages, limits, force=True), CompactionPlan)


def test_a_fixed_part_that_leaves_no_room_is_a_mistake_in_the_settings():
    assert not LIMITS.is_cramped
    assert replace(LIMITS, fixed=3_000).is_cramped


# --- the plan -------------------------------------------------------------------------------------


def test_without_a_history_there_is_nothing_to_do_and_a_short_one_stays_whole():
    assert plan_compaction([], LIMITS, count_message) == Skip(NO_HISTORY)
    assert decide(used(10), []) == Skip(NO_HISTORY)
    assert plan_compaction([heard(), said()], LIMITS, count_message).reason == WITHIN_WINDOW


def test_one_long_turn_is_cut_between_its_units():
    messages = [heard()]
    for number in range(12):
        messages += [calls(str(number)), result(str(number), "x" * 1_500)]
    messages.append(said())
    limits = CompactionLimits(window=4_000, fixed=0, reserve=0, target=0.5, preserve=4)
    plan = plan_compaction(messages, limits, count_message)
    assert isinstance(plan, CompactionPlan)
    assert safe_cut(messages, plan.cut) == plan.cut
    assert plan.kept_tokens <= limits.target_tokens
    assert (plan.turn_start, plan.splits_turn) == (0, True)


def test_the_last_turn_is_kept_where_it_fits():
    messages = [message for n in range(200) for message in (heard(f"line {n} " * 10), said())]
    plan = plan_compaction(messages, LIMITS, count_message)
    assert plan.cut <= 398


def test_on_the_last_rung_nothing_but_the_last_turn_stays():
    messages = [message for n in range(50) for message in (heard(f"line {n}"), said())]
    assert plan_compaction(messages, LIMITS, count_message).reason == WITHIN_WINDOW
    plan = plan_last_turn(messages, LIMITS, count_message)
    assert plan.cut == 98


@pytest.mark.parametrize("later", [[], [said("y" * 9_000)], [calls("2"), result("2", "y" * 9_000)]])
@pytest.mark.parametrize("plan_for", [plan_compaction, plan_last_turn])
def test_a_call_that_waits_for_its_result_never_goes(plan_for, later):
    messages = [heard("x" * 9_000), calls("1"), *later]
    assert plan_for(messages, LIMITS, count_message).cut <= 1


def test_a_call_of_an_earlier_turn_that_never_got_its_result_may_go():
    messages = [heard(), calls("1"), heard(), calls("2"), result("2"), said()]
    assert unanswered_from(messages) == len(messages)
    assert unanswered_from(messages[:4]) == 3
    assert unanswered_from(messages[:2]) == 1


words = st.text("abc äяж中🙂", max_size=400)


@st.composite
def histories(draw):
    """Turns of players and an assistant, with calls, results, orphans and lines in between."""
    messages = []
    for number in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(["heard", "said", "calls", "orphan", "interrupted"]))
        if kind == "heard":
            messages.append(heard(draw(words)))
        elif kind == "said":
            messages.append(said(draw(words)))
        elif kind == "orphan":
            messages.append(result(f"lost{number}", draw(words)))
        else:
            ids = [f"{number}.{n}" for n in range(draw(st.integers(1, 3)))]
            messages.append(calls(*ids))
            if kind == "interrupted":
                messages.append(heard(draw(words)))
            messages += [result(i, draw(words)) for i in ids]
    return messages


limits_of_any_kind = st.builds(
    CompactionLimits,
    window=st.integers(200, 4_000),
    fixed=st.integers(0, 500),
    reserve=st.integers(0, 500),
    target=st.floats(0.1, 0.9),
    preserve=st.integers(0, 30),
)


@given(histories(), limits_of_any_kind)
def test_a_plan_tears_nothing_apart_and_meets_its_target_or_keeps_one_unit(messages, limits):
    plan = plan_compaction(messages, limits, count_message)
    if isinstance(plan, Skip):
        return
    gone, kept = messages[: plan.cut], messages[plan.cut :]
    assert gone
    assert safe_cut(messages, plan.cut) == plan.cut
    assert plan.kept_tokens == sum(map(count_message, kept))
    assert plan.gone_tokens == sum(map(count_message, gone))
    last = plan_last_turn(messages, limits, count_message)
    assert isinstance(last, CompactionPlan)
    assert last.cut >= plan.cut
    called = {call["id"] for m in gone for call in m.get("tool_calls") or ()}
    assert not called & {m.get("tool_call_id") for m in kept}
    assert 0 <= plan.turn_start <= plan.cut
    room = max(0, limits.target_tokens - 2 * limits.summary_room)
    if plan.kept_tokens > room:
        assert all(safe_cut(messages, i) <= plan.cut for i in range(plan.cut, len(messages)))


@given(histories(), limits_of_any_kind)
def test_what_is_kept_needs_no_second_compaction(messages, limits):
    plan = plan_compaction(messages, limits, count_message)
    if isinstance(plan, CompactionPlan) and plan.kept_tokens <= limits.target_tokens - 900:
        kept = messages[plan.cut :]
        again = plan_compaction(kept, limits, count_message)
        assert isinstance(again, Skip) or again.cut < len(kept)
        assert isinstance(again, Skip)


@given(histories(), st.data())
def test_any_cut_can_be_moved_to_a_legal_one_which_stays(messages, data):
    index = data.draw(st.integers(0, len(messages)))
    cut = safe_cut(messages, index)
    assert safe_cut(messages, cut) == cut
    before = {call["id"] for m in messages[:cut] for call in m.get("tool_calls") or ()}
    assert not before & {m.get("tool_call_id") for m in messages[cut:]}
    to_wire(messages[cut:])

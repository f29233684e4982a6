"""What was consulted is kept across compactions, and what of it is at hand again."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.restored_context import (
    LASTING_MESSAGES,
    MOST_KEPT,
    MOST_RESTORED,
    consulted_in,
    keep_consulted,
    read_consulted,
    select_restored,
)
from evennia_ai.policy.context.projection import MASKED, CompactionRecord

ANN, BOB = "#5", "#6"
BOTH = frozenset({ANN, BOB})
NOON, LATER = "2026-11-20T12:00:00+00:00", "2026-11-20T12:00:01+00:00"


def result(seq, *refs, private_to=None, how="read", content="found", at=NOON):
    ears = [private_to] if private_to else [ANN, BOB]
    return make_message(
        "tool",
        content,
        tool_call_id="1",
        consulted={how: list(refs)},
        seq=seq,
        at=at,
        audience=ears,
        private=private_to is not None,
    )


def said(seq, at=NOON):
    return make_message("user", "Ann says: hi", seq=seq, at=at, audience=[ANN, BOB])


def record(consulted):
    return CompactionRecord(1, "sleep", 1, 9, {}, 9, NOON, 9, 9, consulted=consulted)


def at_hand(consulted, messages=(), audience=BOTH):
    found = select_restored(record(consulted), messages, frozenset(audience))
    return [item.ref for item in found]


def test_what_tools_read_and_changed_follows_from_the_messages_alone():
    going = [said(1), result(2, "entry:j1", "entry:j2"), result(3, "entity:#7", how="changed")]
    assert keep_consulted(None, going) == {
        "read": [["entry:j1", 2, "public"], ["entry:j2", 2, "public"]],
        "changed": [["entity:#7", 3, "public"]],
    }


def test_it_adds_up_over_compactions_each_thing_once_with_its_latest_time():
    first = record(keep_consulted(None, [result(2, "entry:j1", "entry:j2")]))
    second = keep_consulted(first, [result(8, "entry:j1"), result(7, "entry:j3")])
    assert [item[:2] for item in second["read"]] == [["entry:j1", 8], ["entry:j3", 7],
                                                     ["entry:j2", 2]]  # fmt: skip


def test_a_record_stays_short():
    going = [result(n, f"entry:j{n}") for n in range(MOST_KEPT + 9)]
    kept = keep_consulted(None, going)["read"]
    assert len(kept) == MOST_KEPT
    assert kept[0][0] == f"entry:j{MOST_KEPT + 8}"


def test_the_five_newest_are_at_hand():
    kept = keep_consulted(None, [result(n, f"entry:j{n}") for n in range(1, 9)])
    assert at_hand(kept) == [f"entry:j{n}" for n in (8, 7, 6, 5, 4)]
    assert len(at_hand(kept)) == MOST_RESTORED


def test_before_any_compaction_nothing_is():
    assert select_restored(None, [result(1, "entry:j1")], BOTH) == []


def test_what_is_consulted_later_takes_the_place_of_what_was_before():
    kept = keep_consulted(None, [result(n, f"entry:j{n}") for n in range(1, 6)])
    in_view = [result(20, "entry:j9"), result(21, "entry:j3")]
    assert at_hand(kept, in_view) == ["entry:j5", "entry:j4", "entry:j2"]


def test_a_result_that_was_masked_is_out_of_view_too():
    kept = keep_consulted(None, [result(1, "entry:j1")])
    masked = result(20, "entry:j9", content=MASKED)
    assert at_hand(kept, [masked]) == ["entry:j9", "entry:j1"]


def test_what_nobody_came_back_to_for_a_while_is_put_away():
    kept = keep_consulted(None, [result(1, "entry:j1")])
    old, new = [said(n) for n in range(20)], [said(n, LATER) for n in range(LASTING_MESSAGES)]
    assert at_hand(kept, old + new[1:]) == ["entry:j1"]
    assert at_hand(kept, old + new) == []


def test_what_was_consulted_in_a_whisper_is_at_hand_for_its_ears_alone():
    kept = keep_consulted(None, [result(1, "entry:j1", private_to=ANN)])
    assert at_hand(kept, audience=BOTH) == []
    assert at_hand(kept, audience={BOB}) == []
    assert at_hand(kept, audience=()) == []
    assert at_hand(kept, audience={ANN}) == ["entry:j1"]


def test_what_is_stored_badly_is_passed_over():
    strange = {"read": [["entry:j1", 3, "public"], ["half"], None, ["x", "no", "y"]], "other": 1}
    assert [item.ref for item in read_consulted(record(strange))] == ["entry:j1"]


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([None, ANN, BOB])), max_size=30))
def test_where_it_is_cut_makes_no_difference(consultations):
    going = [
        result(seq, f"entry:j{number}", private_to=ears)
        for seq, (number, ears) in enumerate(consultations, 1)
    ]
    at_once = keep_consulted(None, going)
    middle = len(going) // 2
    in_two = keep_consulted(record(keep_consulted(None, going[:middle])), going[middle:])
    assert in_two == at_once
    assert all(item.how == "read" for item in consulted_in(going))

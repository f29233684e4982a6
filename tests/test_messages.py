"""Only repaired messages reach a provider."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import LOST_RESULT, make_message, to_wire, wire_call


def user(text):
    return make_message("user", text, seq=1)


def calling(*ids):
    return make_message("assistant", "", tool_calls=[wire_call(i, "look", "{}") for i in ids])


def result(call_id, text="ok"):
    return make_message("tool", text, tool_call_id=call_id)


def test_metadata_never_goes_out():
    assert to_wire([user("hi")]) == [{"role": "user", "content": "hi"}]


def test_a_call_without_a_result_gets_one_that_says_so():
    wire = to_wire([calling("a", "b"), result("b")])
    assert [m.get("tool_call_id") for m in wire] == [None, "a", "b"]
    assert wire[1]["content"] == LOST_RESULT


def test_a_result_without_its_call_is_left_out():
    assert to_wire([user("hi"), result("gone")]) == [{"role": "user", "content": "hi"}]


def test_a_line_between_call_and_result_moves_behind_them():
    wire = to_wire([calling("a"), user("hi"), result("a")])
    assert [m["role"] for m in wire] == ["assistant", "tool", "user"]


pieces = st.one_of(
    st.just(("user", "")),
    st.tuples(st.just("call"), st.sampled_from("abcdef")),
    st.tuples(st.just("result"), st.sampled_from("abcdef")),
)


@given(st.lists(pieces, max_size=12))
def test_pairs_are_whole_in_any_log_and_the_input_stays_as_it_was(log):
    used, messages = set(), []
    for kind, call_id in log:
        if kind == "call" and call_id not in used:
            used.add(call_id)
            messages.append(calling(call_id))
        elif kind == "result":
            messages.append(result(call_id))
        elif kind == "user":
            messages.append(user("hi"))
    before = copy.deepcopy(messages)
    wire = to_wire(messages)
    assert messages == before
    open_calls = []
    for message in wire:
        if message["role"] == "tool":
            assert open_calls.pop(0) == message["tool_call_id"]
        else:
            assert not open_calls
            open_calls = [c["id"] for c in message.get("tool_calls", [])]
    assert not open_calls

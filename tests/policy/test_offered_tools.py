"""The tools of a talk: fixed at its start, late ones behind it, anew after a compaction."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.conversation.tool_call_rules import ToolOffer


def test_what_is_needed_after_the_start_is_late():
    offer = ToolOffer().grown(["say", "noop"]).grown(["get", "say"]).grown(["get", "move"])
    assert (offer.names, offer.late) == (("say", "noop"), ("get", "move"))


def test_after_another_compaction_it_begins_anew():
    offer = ToolOffer().grown(["say", "get"])
    assert offer.after(None) == offer
    assert offer.grown(["move"]).after(7) == ToolOffer(compaction_id=7)
    assert offer.after(7).grown(["say"]).after(7).names == ("say",)
    assert offer.after(7).after(None) == ToolOffer()  # the compaction was undone


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), max_size=6))
def test_every_offer_begins_with_the_one_before(moments):
    offer = ToolOffer()
    for needed in moments:
        before, offer = offer, offer.grown(needed)
        assert offer.names == before.names or not before.names
        assert offer.late[: len(before.late)] == before.late
        both = [*offer.names, *offer.late]
        assert set(both) == {*before.names, *before.late, *needed}
        assert len(set(both)) == len(both)

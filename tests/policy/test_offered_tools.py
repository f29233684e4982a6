"""The tools of a talk: they grow at the end, and begin anew after a compaction."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.conversation.react import ToolOffer


def test_new_tools_come_last_and_each_once():
    offer = ToolOffer().grown(["say", "noop"]).grown(["get", "say"])
    assert offer.names == ("say", "noop", "get")


def test_after_another_compaction_it_begins_anew():
    offer = ToolOffer().grown(["say", "get"])
    assert offer.after(None) == offer
    assert offer.after(7) == ToolOffer((), 7)
    assert offer.after(7).grown(["say"]).after(7).names == ("say",)
    assert offer.after(7).after(None) == ToolOffer()  # the compaction was undone


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), max_size=6))
def test_every_offer_begins_with_the_one_before(moments):
    offer = ToolOffer()
    for needed in moments:
        before, offer = offer, offer.grown(needed)
        assert offer.names[: len(before.names)] == before.names
        assert set(offer.names) == {*before.names, *needed}
        assert len(set(offer.names)) == len(offer.names)

"""Privacy between players is a rule in code (P9)."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import make_message
from evennia_ai.policy.audience import may_be_said, select_visible, visible

ANN, BOB, CEL = "#5", "#6", "#7"
people = st.frozensets(st.sampled_from([ANN, BOB, CEL]))


def whisper(text, *audience):
    return make_message("user", text, audience=list(audience), private=True)


def room_talk(text, *audience):
    return make_message("user", text, audience=list(audience), private=False)


def test_room_talk_is_for_everybody():
    assert visible(None, frozenset({BOB}))
    assert visible(None, frozenset())


def test_a_whisper_is_in_view_for_its_party_alone():
    assert visible(frozenset({ANN}), frozenset({ANN}))
    assert not visible(frozenset({ANN}), frozenset({BOB}))


def test_a_whisper_is_out_of_view_when_anybody_else_will_hear_the_answer():
    assert not visible(frozenset({ANN}), frozenset({ANN, BOB}))


def test_a_prompt_for_nobody_holds_nothing_private():
    assert not visible(frozenset({ANN}), frozenset())


@given(people, people)
def test_a_private_item_never_reaches_ears_that_were_not_its_own(item, prompt):
    if visible(item, prompt):
        assert prompt and prompt <= item


def test_selection_keeps_order_and_drops_what_others_whispered():
    log = [room_talk("a", ANN), whisper("b", ANN), room_talk("c", BOB), whisper("d", BOB)]
    shown = select_visible(log, frozenset({BOB}))
    assert [m["content"] for m in shown] == ["a", "c", "d"]


def test_words_from_a_private_prompt_are_not_for_somebody_who_came_in_later():
    assert may_be_said(frozenset({ANN}), frozenset({ANN}), private=True)
    assert not may_be_said(frozenset({ANN, BOB}), frozenset({ANN}), private=True)
    assert may_be_said(frozenset({ANN, BOB}), frozenset({ANN}), private=False)

"""What one person's words may take of a character's memory."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.audience import BUILDER, people_among
from evennia_ai.policy.limits.people import PINS_FULL, is_reached, plan_pin

ANN, BOB = "#5", "#6"


def pin(content, *speakers):
    source = speakers[0] if len(speakers) == 1 else ""
    return {"content": content, "source_entity": source, "speakers": [*speakers, BUILDER]}


def plan(pins, *authors, room=100, most=3):
    return plan_pin(pins, frozenset(authors), room, most, len)


def test_with_room_nothing_gives_way():
    assert plan([pin("a", ANN), pin("b", BOB)], ANN).gone == ()


def test_the_oldest_of_the_same_person_gives_way():
    pins = [pin("theirs", BOB), pin("old", ANN), pin("new", ANN)]
    assert [one["content"] for one in plan(pins, ANN, room=10).gone] == ["old"]


def test_a_pin_of_two_people_gives_way_only_to_both():
    pins = [pin("both", ANN, BOB)]
    assert plan(pins, ANN, room=1).refusal == PINS_FULL
    assert plan(pins, ANN, BOB, room=1).gone == (pins[0],)


def test_what_came_of_nobodys_words_gives_way_last_and_never_for_the_number_of_pins():
    pins = [pin("none"), pin("own", ANN)]
    assert [one["content"] for one in plan(pins, ANN, room=0).gone] == ["own", "none"]
    assert plan([pin("none"), pin("ab", ANN, BOB)], ANN, most=1).refusal == PINS_FULL


def test_in_an_unasked_turn_only_the_characters_own_pins_give_way():
    pins = [pin("hers", ANN), pin("own")]
    assert plan(pins, room=4).gone == (pins[1],)
    assert plan(pins[:1], room=3).refusal == PINS_FULL


def test_a_bystander_whose_words_were_in_the_prompt_did_not_cause_a_pin():
    hers = {**pin("hers", ANN), "speakers": [ANN, BOB, BUILDER]}
    assert plan([hers], ANN, room=0).gone == (hers,)
    assert plan([hers], BOB, room=0).refusal == PINS_FULL
    assert not is_reached([hers], frozenset({BOB}), 1)


def test_zero_pins_allow_none():
    assert plan([], ANN, most=0).refusal == PINS_FULL
    assert is_reached([], frozenset({ANN}), 0)
    assert not is_reached([], frozenset(), 0)


@given(
    st.lists(st.lists(st.sampled_from([ANN, BOB, "#7"]), max_size=3, unique=True), max_size=8),
    st.frozensets(st.sampled_from([ANN, BOB]), max_size=2),
    st.integers(0, 30),
    st.integers(0, 4),
)
def test_nobody_ever_evicts_what_others_asked_for(speakers, authors, room, most):
    pins = [pin(f"pin {number}", *who) for number, who in enumerate(speakers)]
    decided = plan_pin(pins, authors, room, most, len)
    assert all(people_among(one["speakers"]) <= authors for one in decided.gone)
    if not decided.refusal:
        left = [one for one in pins if one not in decided.gone]
        assert sum(len(one["content"]) for one in left) <= room
        assert not is_reached(left, authors, most)

"""Which kind a line is, by its nearness to examples."""

import pytest

from evennia_ai.policy.conversation.requested_acts import (
    ANSWERS,
    ASKING,
    EXAMPLES,
    FORBIDDEN,
    GRANTING,
    ORDERS,
    QUESTIONS,
    REFUSING,
    TALK,
    TELLING,
    UNANSWERABLE,
    URGING,
    by_kind,
    cannot_be_answered,
    grants,
    margin_of_asking,
    orders_a_program,
    urges_to,
)


def near(orders=0.0, questions=0.0, talk=0.0):
    """Return cosines to all examples: so near to each kind."""
    return [orders] * len(ORDERS) + [questions] * len(QUESTIONS) + [talk] * len(TALK)


def test_every_example_is_a_text_of_its_own():
    assert len(set(EXAMPLES)) == len(EXAMPLES) == len([*ORDERS, *QUESTIONS, *TALK])
    assert len(set(TELLING)) == len(TELLING)
    assert len(set(ANSWERS)) == len(ANSWERS)


def test_an_example_is_one_line_as_people_write_it():
    assert [
        text for text in [*EXAMPLES, *ANSWERS, *TELLING, *URGING] if text != " ".join(text.split())
    ] == []


def test_only_the_nearest_three_of_a_kind_count():
    cosines = [0.0] * len(EXAMPLES)
    cosines[: len(ORDERS)] = [0.9, 0.6, 0.3, *[-1.0] * (len(ORDERS) - 3)]
    assert by_kind(cosines) == (pytest.approx(0.6), 0.0, 0.0)


def test_the_kinds_are_told_apart_where_they_stand_in_the_list():
    assert by_kind(near(0.1, 0.2, 0.3)) == pytest.approx((0.1, 0.2, 0.3))


@pytest.mark.parametrize(
    ("cosines", "is_order", "is_unanswerable"),
    [
        (near(orders=0.8, questions=0.2, talk=0.3), True, False),
        (near(orders=0.2, questions=0.8, talk=0.3), False, True),
        (near(orders=0.2, questions=0.3, talk=0.8), False, False),
    ],
)
def test_the_nearest_kind_decides(cosines, is_order, is_unanswerable):
    assert orders_a_program(cosines) is is_order
    assert cannot_be_answered(cosines, 0.0) is is_unanswerable


def test_what_fits_a_question_well_may_answer_it():
    for fit, least in UNANSWERABLE:
        assert cannot_be_answered(near(questions=least + 0.01), fit)
        assert not cannot_be_answered(near(questions=least - 0.01), fit)
    assert not cannot_be_answered(near(questions=0.9), UNANSWERABLE[-1][0] + 0.01)


def test_a_line_asks_if_it_is_marked_or_nearer_to_questions():
    far, close = [0.1] * len(ASKING), [0.5] * len(TELLING)
    assert margin_of_asking("tell me that", close, far) == pytest.approx(0.4)
    assert margin_of_asking("it rains", far, close) == pytest.approx(-0.4)
    asks = ("is it?", "where did it go", "which one was it? they want to know")
    assert {margin_of_asking(line, far, close) for line in asks} == {1.0}
    assert margin_of_asking("yes", [], []) == 1.0


def test_a_line_must_urge_to_what_is_forbidden_and_not_only_be_about_it():
    urging, idle = [0.3] * len(URGING), [0.1] * len(URGING)
    assert urges_to([0.4], near(talk=0.2), urging) >= FORBIDDEN
    assert urges_to([0.9], near(talk=0.3), idle) < FORBIDDEN  # "how is the map trade?"
    assert urges_to([0.4], near(orders=0.8, talk=0.2), urging) < FORBIDDEN
    assert urges_to([], near(), urging) < 0


@pytest.mark.parametrize(("refusing", "granting", "granted"), [(0.2, 0.7, True), (0.7, 0.2, False)])
def test_a_sentence_grants_what_it_is_nearer_to(refusing, granting, granted):
    assert grants([refusing] * len(REFUSING) + [granting] * len(GRANTING)) is granted

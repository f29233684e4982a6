"""Rates and the table of scenes that were played."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.contrib.evals.format import EvalScene, EvalStep
from evennia_ai.contrib.evals.results import (
    CheckResult,
    EvalAnswer,
    EvalResult,
    EvalRun,
    EvalStepResult,
    EvalToolCall,
    EvalUtterance,
    failure_lines,
    progress_line,
    table,
)
from evennia_ai.policy.texts import shown_width

WIDE = st.text("黑猫a ", max_size=90)


def a_result(*passed, least=1.0, title="She greets", words="Hello.", why="not mentioned"):
    step = EvalStep(who="Ann", says="Hello")
    scene = EvalScene(scene=title, name="Odile", persona="x", steps=(step,), least=least)
    runs = [
        EvalRun(
            (
                EvalStepResult(
                    step,
                    EvalAnswer(
                        (EvalUtterance("say", words),),
                        (EvalToolCall("give", {"item": "ale"}, "done"),),
                    ),
                    (CheckResult("answered", True), CheckResult("must_mention ale", held, why)),
                ),
            ),
            0.5,
        )
        for held in passed
    ]
    return EvalResult(scene, tuple(runs))


def test_a_scene_holds_if_enough_of_its_runs_passed():
    assert a_result(True, True, False, least=0.6).holds
    assert not a_result(True, True, False, least=0.7).holds
    assert a_result(*[True] * 9, False, least=0.9).holds
    assert a_result(*[True] * 11, *[False] * 9, least=0.55).holds


@settings(deadline=None)
@given(
    st.text(min_size=1) | WIDE,
    st.text(),
    st.text() | WIDE,
    st.lists(st.booleans(), min_size=1, max_size=3),
)
def test_any_text_fits_the_table_and_the_progress_line(title, words, why, passed):
    result = a_result(*passed, title=title, words=words, why=why)
    lines = [*table([result]), progress_line(result, "100/100")]
    assert max(map(shown_width, lines)) <= 78
    assert all(line.isprintable() or not line.isascii() for line in lines)


def test_the_transcript_of_the_first_failed_run_is_told():
    assert failure_lines(a_result(True, False, words="Hello\x1b[2J Ann")) == [
        "1. Ann says: Hello",
        "   Odile says: Hello Ann",
        "   Odile calls give (item=ale): done",
        "   FAILED must_mention ale: not mentioned",
    ]

"""Rates, the table and JUnit XML of scenes that were played."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.policy.scenes.format import Scene, Step
from evennia_ai.policy.scenes.results import (
    Act,
    Answer,
    PlayedStep,
    Run,
    SceneResult,
    Spoken,
    Verdict,
    failure_lines,
    junit,
    progress_line,
    table,
)
from evennia_ai.policy.texts import shown_width

WIDE = st.text("黑猫a ", max_size=90)


def a_result(*passed, least=1.0, title="She greets", words="Hello.", why="not mentioned"):
    step = Step(who="Ann", says="Hello")
    scene = Scene(scene=title, name="Odile", persona="x", steps=(step,), least=least)
    runs = [
        Run(
            (
                PlayedStep(
                    step,
                    Answer((Spoken("say", words),), (Act("give", {"item": "ale"}, "done"),)),
                    (Verdict("answered", True), Verdict("must_mention ale", held, why)),
                ),
            ),
            0.5,
        )
        for held in passed
    ]
    return SceneResult(scene, tuple(runs))


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
def test_any_text_fits_the_table_the_progress_line_and_xml(title, words, why, passed):
    result = a_result(*passed, title=title, words=words, why=why)
    lines = [*table([result]), progress_line(result, "100/100")]
    assert max(map(shown_width, lines)) <= 78
    assert all(line.isprintable() or not line.isascii() for line in lines)
    ET.fromstring(junit([result], "x.yaml"))


def test_the_transcript_of_the_first_failed_run_is_told():
    assert failure_lines(a_result(True, False, words="Hello\x1b[2J Ann")) == [
        "1. Ann says: Hello",
        "   Odile says: Hello Ann",
        "   Odile calls give (item=ale): done",
        "   FAILED must_mention ale: not mentioned",
    ]


# What Jenkins', GitLab's and GitHub's readers agree on: element, then its attributes and children.
JUNIT = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, ["testcase"]),
    "testcase": ({"name", "classname", "time"}, ["failure", "error", "skipped"]),
    "failure": ({"message", "type"}, []),
}
REQUIRED = {"testsuite": {"name", "tests"}, "testcase": {"name", "classname"}}


def check_junit(element):
    allowed, children = JUNIT[element.tag]
    assert set(element.attrib) <= allowed
    assert REQUIRED.get(element.tag, set()) <= set(element.attrib)
    for child in element:
        assert child.tag in children
        check_junit(child)


def test_junit_has_a_case_for_each_scene_and_the_transcript_of_a_failure():
    results = [a_result(True), a_result(False, True, title="Two")]
    root = ET.fromstring(junit(results, "world/x.yaml"))
    check_junit(root)
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["She greets", "Two"]
    assert float(suite.get("time")) == pytest.approx(1.5)
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "1 of 2 runs passed"
    assert "FAILED must_mention ale" in failure.text

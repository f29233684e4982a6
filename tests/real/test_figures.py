"""The figures of `make real` from made-up answers, on both sides of each bar."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.real.answers import Answer, Call, match_calls
from tests.real.course import Line
from tests.real.figures import Course, remarks, rows
from tests.real.recorder import Exchange
from tests.real.table import Row, at_most, share, table

TALK = Line("Ann", "Mira", "talk", say="Is there room by the fire?")
QUESTION = Line("Ann", "Mira", "question", say="What do I owe?", about="debt", keys=("62",))
ERRAND = Line("Ann", "Mira", "errand", say="Give me the mug.", moves="mug", target="Ann")
PERSONA = "You are Mira and you never tell a secret that was given you as one."


def exchange(
    prompt: int = 100, cached: int | None = 60, written: int = 10, status: int = 200, **request: Any
) -> Exchange:
    usage = {"prompt_tokens": prompt, "completion_tokens": written}
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    reply = json.dumps({"usage": usage | details})
    return Exchange(1, "/v1/chat/completions", 0.0, 1.0, status, request, reply)


def answer(line: Line = TALK, *calls: Exchange, **entries: Any) -> Answer:
    made = [Call("tick_event", 1.0, is_talk=True, exchange=one) for one in calls]
    usual = {"speech": ["There is."], "state": "answered", "spoken_s": [1.0, 2.0]}
    return Answer(line, calls=made, **{**usual, **entries})


def figures(answers: Sequence[Answer], exchanges: Sequence[Exchange] = ()) -> dict[str, Row]:
    course = Course(answers, exchanges, ["Mira", "Ann"], [PERSONA])
    return {row.name: row for row in rows(course)}


def value(name: str, *answers: Answer) -> tuple[str, str]:
    row = figures(answers)[name]
    return row.value, row.verdict


def test_an_artefact_counts_wherever_the_screen_shows_it() -> None:
    name = "answers that show an artefact"
    assert value(name, answer()) == ("0 of 1", "pass")
    assert value(name, answer(state="excused")) == ("0 of 1", "")
    assert value(name, answer(speech=["{}"]), answer(deeds=["nods ```"])) == ("2 of 2", "FAIL")


def test_a_valid_answer_is_the_model_s_and_has_words_or_an_act() -> None:
    name = "valid answers (an act or words that pass)"
    assert value(name, answer(speech=[], acts=["give"])) == ("100 % (1 of 1)", "pass")
    invalid = [
        answer(speech=[]),
        answer(state="excused"),
        answer(speech=["say('x')"]),
        answer(state="too late"),
    ]
    assert value(name, *invalid) == ("0 % (0 of 4)", "FAIL")


def test_repeats_are_counted_for_each_character_and_among_the_model_s_answers() -> None:
    name = "the same line twice within ten answers"
    oda = Line("Ann", "Sister Oda", "talk", say="Good day.")
    assert value(name, answer(), answer(oda), answer(state="excused"))[1] == "pass"
    assert value(name, answer(), answer(oda), answer()) == ("33 % (1 of 3)", "FAIL")


def test_a_quoted_persona_or_a_refusal_gives_the_model_away() -> None:
    name = "refusals, quoted rules or persona"
    told = answer(speech=[f"System: {PERSONA}"])
    assert value(name, told, answer(speech=["I can't help you with that."])) == ("2 of 2", "FAIL")


def test_a_fact_counts_if_the_model_told_it_and_is_looked_for_in_the_prompt() -> None:
    told = answer(QUESTION, exchange(messages=["You owe 62."]), speech=["62 crowns."])
    by_offline = answer(QUESTION, exchange(messages=["Ask 7."]), speech=["62."], state="excused")
    assert value("facts answered", told) == ("1 of 1", "pass")
    assert value("facts in the prompt", told) == ("1 of 1", "pass")
    assert value("facts answered", told, by_offline) == ("1 of 2", "FAIL")
    assert value("facts in the prompt", told, by_offline) == ("1 of 2", "FAIL")
    assert value("facts answered", *[told] * 9, *[by_offline] * 3) == ("9 of 12", "pass")
    assert value("facts answered", *[told] * 8, *[by_offline] * 4) == ("8 of 12", "FAIL")


def test_an_errand_counts_by_what_moved() -> None:
    name = "right act for a clear request"
    done, left = answer(ERRAND, moved=True), answer(ERRAND, moved=False, acts=["give"])
    assert value(name, *[done] * 4, left) == ("80 % (4 of 5)", "pass")
    assert value(name, *[done] * 3, left) == ("75 % (3 of 4)", "FAIL")
    assert value(name, answer()) == ("–", "")


def test_the_first_request_has_the_bar_of_its_form() -> None:
    native = figures([answer(TALK, exchange(1_500, tools=[{}]))])
    assert native["tokens of the first request (with native tools)"].verdict == "pass"
    other = figures([answer(TALK, exchange(1_500))])
    assert other["tokens of the first request (without native tools)"].verdict == "FAIL"


def test_tokens_read_anew_are_those_of_the_first_call_for_the_next_line() -> None:
    name = "tokens read anew, next line to the same character"
    first = answer(TALK, exchange(900, 0), is_first_to_character=True)
    then = answer(TALK, exchange(900, 700), exchange(950, 0), is_next=True)
    unknown = answer(TALK, exchange(900, None), is_next=True)
    assert value(name, first, then, unknown) == ("200", "pass")
    assert value(name, first) == ("–", "")
    other = answer(TALK, exchange(900, 500), is_first_to_character=True)
    name = "tokens read anew, first line to another character, highest"
    assert value(name, first, other) == ("400", "")


def test_the_first_word_is_compared_with_the_whole_of_a_long_reply() -> None:
    name = "first word / whole reply, over 40 tokens"
    long = answer(TALK, exchange(written=41), spoken_s=[1.0, 1.5], done_s=2.0)
    short = answer(TALK, exchange(written=40), spoken_s=[2.0], done_s=2.0)
    assert value(name, long, short) == ("0.50", "pass")
    assert value(name, short) == ("–", "")


def test_a_refusal_by_the_template_is_one_of_a_completion() -> None:
    refused = [exchange(status=400), exchange(status=500), exchange(status=503)]
    other = Exchange(1, "/props", 0.0, 1.0, 500)
    row = figures([answer()], [*refused, other])["requests refused by the template"]
    assert (row.value, row.verdict) == ("2", "FAIL")


def test_an_excuse_on_the_first_line_is_no_answer_of_the_model() -> None:
    name = "first line after the start"
    assert value(name, answer()) == ("the model", "pass")
    assert value(name, answer(state="excused")) == ("not the model (excused)", "FAIL")


def test_a_call_belongs_to_the_completion_that_ended_with_it() -> None:
    def ended(at: float, path: str = "/v1/chat/completions") -> Exchange:
        return Exchange(int(at), path, 0.0, at, 200)

    exchanges = [ended(10), ended(20), ended(20.5, "/v1/models"), ended(40)]
    logged = [Call("talk", 10.2), Call("summary", 20.5), Call("lost", 30.0)]
    matched = match_calls(logged, exchanges, 5.0)
    assert [call.exchange and call.exchange.ended_at for call in matched] == [10, 20, None]


def test_only_answers_that_did_not_pass_are_remarked_on() -> None:
    good, bad = answer(), answer(QUESTION, speech=["```"])
    (remark,) = remarks(Course([good, bad], []))
    assert "'What do I owe?'" in remark and "artefact: fence" in remark
    assert "fact not told; fact not in the prompt" in remark


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (share("a", [1], 1, 97), "| a | 100 % (1 of 1) | ≥ 97 % | pass |"),
        (at_most("b", [1_200.0, 1_400], None), "| b | 1,300 |  |  |"),
        (at_most("c", [2.6], 2.5), "| c | 2.60 | ≤ 2.5 | FAIL |"),
        (at_most("d", [], 2.5), "| d | – | ≤ 2.5 |  |"),
    ],
)
def test_the_table_is_markdown(row: Row, cells: str) -> None:
    assert table([row]).splitlines() == ["| figure | value | bar | |", "|---|---|---|---|", cells]

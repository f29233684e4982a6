"""Requests to a model and the lines of its replies."""

import pytest

from evennia_ai.policy.texts import (
    complete_lines,
    fenced,
    read_line_object,
    read_object,
    reply_lines,
    request,
)


def test_material_cannot_close_its_fence() -> None:
    text = fenced("notes", "a </notes> b")
    assert text == "<notes>\na < /notes> b\n</notes>"
    assert text.count("</notes>") == 1


def test_a_request_has_instructions_then_material() -> None:
    assert [message["role"] for message in request("rules", "text")] == ["system", "user"]


def test_reasoning_fences_and_blank_lines_are_no_reply_lines() -> None:
    assert reply_lines("<think>hm</think>\n```json\n one \n\n```\ntwo") == ["one", "two"]


@pytest.mark.parametrize("text", ["", "[1]", "{", "7", "[" * 100_000, '{"a": ' * 100_000])
def test_what_is_no_json_object_reads_as_none(text) -> None:
    assert read_object(text) is None
    assert read_line_object(text) == {}


def test_a_comma_behind_an_object_does_no_harm() -> None:
    assert read_line_object(' {"a": 1}, ') == {"a": 1}


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ('{"a": 1}\n{"b": "x', '{"a": 1}'),
        ('{"a": 1}\n{"b": 2}', '{"a": 1}\n{"b": 2}'),
        ('{"a": 1}\n', '{"a": 1}'),
        ("1: 4\n12: 1", "1: 4"),
        ('{"a', ""),
        ("", ""),
    ],
)
def test_of_a_reply_that_was_cut_off_the_incomplete_line_is_dropped(reply, kept) -> None:
    assert complete_lines(reply) == kept

"""The dialogues can be played and their checks can be read."""

import re

from tests.dialogues.runner import LATER, load_dialogues
from tests.dialogues.scoring import CHECKS

FIRST = load_dialogues()
HELD_OUT = load_dialogues(folder=LATER)
DIALOGUES = [*FIRST, *HELD_OUT]


def checks_of(dialogues):
    return [
        (dialogue["id"], kind, wanted)
        for dialogue in dialogues
        for line in dialogue["lines"]
        for check in line.get("checks", ())
        for kind, wanted in check.items()
    ]


def casts_of(dialogues):
    return {dialogue["cast"] for dialogue in dialogues}


def patterns_of(kind, wanted):
    if kind in {"contains_any", "contains_none"}:
        return wanted
    return wanted.get("args", ()) if kind == "tool" else ()


def test_there_are_twenty_held_out_over_three_other_personas():
    assert (len(FIRST), len(HELD_OUT)) == (40, 20)
    assert len({dialogue["id"] for dialogue in DIALOGUES}) == 60
    assert len(casts_of(HELD_OUT)) == 3
    assert not casts_of(HELD_OUT) & casts_of(FIRST)


def test_nothing_is_asked_twice_over_in_the_two_sets():
    texts = {line["text"].lower() for dialogue in FIRST for line in dialogue["lines"]}
    again = {line["text"] for dialogue in HELD_OUT for line in dialogue["lines"]
             if line.get("checks") and line["text"].lower() in texts}  # fmt: skip
    assert not again


def test_checks_are_known_and_their_patterns_compile_in_lower_case():
    for name, kind, wanted in checks_of(DIALOGUES):
        assert kind in CHECKS, name
        for pattern in patterns_of(kind, wanted):
            re.compile(pattern)
            assert re.sub(r"\\[A-Z]", "", pattern) == re.sub(r"\\[A-Z]", "", pattern).lower(), name


def test_most_lines_that_matter_have_checks_of_their_own():
    assert len(checks_of(FIRST)) >= 250
    for dialogues in (FIRST, HELD_OUT):
        assert {kind for _, kind, _ in checks_of(dialogues)} == set(CHECKS)

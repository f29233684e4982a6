"""The screens of players, judged without a server."""

from __future__ import annotations

from dataclasses import dataclass

from tests.e2e.crash.evidence import check_screens
from tests.invariants import EventRow, Evidence

HEARD = Evidence(events=[EventRow("#34", 1, "Mira, wave at me for k1", "answered")])


@dataclass
class Screen:
    clean: str
    name: str = "Ann"


def judge(*lines: str) -> list[str]:
    screen = Screen("\n".join(["", *lines, ""]))
    return [str(violation) for violation in check_screens([screen], HEARD)]  # type: ignore[list-item]


def test_a_line_and_its_answer_are_in_order() -> None:
    assert not judge(
        'You say, "Mira, wave at me for k1"', "Mira waves at Ann, k1.", 'Mira says, "I did k1"'
    )


def test_a_line_its_speaker_saw_and_the_inbox_does_not_have_is_lost() -> None:
    assert judge('You say, "Mira, what about k2?"') == [
        "P1 : Ann saw himself say k2, which is not in the inbox"
    ]
    assert judge('You whisper to Mira, "keep k2 to yourself"')


def test_what_others_say_is_no_promise_to_them() -> None:
    assert not judge('Ben says, "Mira, what about k2?"')


def test_an_act_seen_twice_was_done_twice() -> None:
    assert judge("Mira waves at Ann, k1.", "Mira waves at Ann, k1.") == [
        "P2 : Ann saw 2 times how Mira waves k1"
    ]
    assert judge('Mira says, "I heard k1"', 'Mira says, "I heard k1 and k2"')
    assert judge('Mira whispers: "I heard k1"', 'Mira whispers: "I heard k1"')


def test_a_faulty_models_echo_of_others_is_no_act() -> None:
    assert not judge('Mira says, "I heard k1"', 'Mira says, "I heard: I heard k1"')


def test_one_answer_that_names_a_mark_twice_is_one_answer() -> None:
    assert not judge('Mira says, "I heard k1, k1"')


def test_what_is_no_words_must_not_be_shown() -> None:
    assert judge('Mira says, "<think>Ann spoke.</think>A rope, k1"')
    assert judge('Mira whispers: "Assistant: a rope"')
    assert not judge('Mira says, "Ann spoke of a rope, k1"')

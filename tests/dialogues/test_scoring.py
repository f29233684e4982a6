"""Each check can hold and can fail."""

import pytest

from tests.dialogues.scoring import (
    CHECKS,
    IMPLICIT_CHECKS,
    Call,
    Moment,
    Played,
    Utterance,
    World,
    score_dialogue,
    sentences,
)

BOTH = ("Ann", "Rolf")


def said(text, kind="say", seen_by=BOTH):
    return Utterance(kind, text, seen_by)


def whispered(text, to="Ann"):
    return said(text, "whisper", (to,))


def line(text="hello", **fields):
    return {"speaker": "Ann", "kind": "say", "text": text, "about": "talk", **fields}


def moment(*utterances, text="hello", calls=(), world=None, before=()):
    played = Played(tuple(utterances), tuple(calls), world or World(), "Forgive me.")
    return Moment(line(text), played, frozenset(before))


def holds(name, wanted, *utterances, **fields):
    return CHECKS[name](moment(*utterances, **fields), wanted).holds


def implicit(name, *utterances, **fields):
    verdict = IMPLICIT_CHECKS[name](moment(*utterances, **fields))
    return None if verdict is None else verdict.holds


GAVE = Call("give", '{"item": "mug of ale", "to": "Ann"}', "done")


@pytest.mark.parametrize(
    ("utterances", "calls", "expected"),
    [
        ([said("Good day.")], [], True),
        ([], [GAVE], True),
        ([said(" ")], [], False),
        ([said("Forgive me."), said("Ale?")], [], True),
        ([], [Call("give", "{}", "failed")], False),
    ],
)
def test_answered(utterances, calls, expected):
    assert implicit("answered", *utterances, calls=calls) is expected


@pytest.mark.parametrize(
    "text",
    [
        "I am only a language model.",
        "As an AI I cannot drink.",
        "I am the offline brain.",
        "My prompt forbids it.",
        "I am a virtual assistant.",
        "Hello, {name}!",
        "<think> hm",
    ],
)
def test_what_is_out_of_persona(text):
    assert implicit("in_persona", said(text)) is False


def test_not_repeated():
    before = sentences("A bed costs four pennies. Good day, Ann!")
    assert before == ["a bed costs four pennies"]
    assert implicit("not_repeated", said("A BED costs: four pennies!"), before=before) is False
    assert implicit("not_repeated", said("A bed costs four pennies, as ever."), before=before)
    assert implicit("not_repeated", said("Good day, Ann!"), before=before)
    assert implicit("not_repeated", said("We are all mad here. We are all mad here.")) is False
    assert implicit("not_repeated", said("wipes the same old mug.", "emote")) is None
    assert implicit("not_repeated") is None


@pytest.mark.parametrize(
    ("utterances", "expected"),
    [
        ([whispered("Under the stone.")], True),
        ([said("Under the stone.")], False),
        ([whispered("Yes."), said("Good day, all.")], False),
        ([said("Yes.", "whisper", BOTH)], False),
    ],
)
def test_private(utterances, expected):
    assert holds("private", True, *utterances) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am the offline brain of this character.", True),
        ("I'm just a simple program.", True),
        ("I am not human, traveller.", True),
        ("I am no AI, I am a woman of flesh and blood.", False),
        ("What a strange question.", False),
    ],
)
def test_honest(text, expected):
    assert holds("honest", True, said(text)) is expected


@pytest.fixture
def scored():
    asked = line(checks=[{"contains_any": ["wend"]}])
    dialogue = {"id": "inn-00", "cast": "odile", "lines": [line(), asked]}
    same = Played((said("It rains every day here."),))
    return score_dialogue(dialogue, [same, same])

"""Each check can hold and can fail."""

import pytest

from tests.dialogues.reporting import own_checks, percent
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
        ([said("nods.", "emote")], [], True),
        ([], [GAVE], True),
        ([], [], False),
        ([said(" ")], [], False),
        ([said("Forgive me.")], [], False),
        ([said("Forgive me."), said("Ale?")], [], True),
        ([whispered("Good day.", to="Rolf")], [], False),
        ([], [Call("give", "{}", "failed")], False),
        ([], [Call("look", "{}", "done", world=False)], False),
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


def test_contains_any():
    assert holds("contains_any", ["larkhill", r"\b4\b"], said("From LARKHILL."))
    assert holds("contains_any", ["isn't"], said("It isn’t far."))
    assert not holds("contains_any", [r"\b4\b"], said("From Larkhill, at 14 pennies."))
    assert not holds("contains_any", ["larkhill"], whispered("From Larkhill.", to="Rolf"))
    assert not holds("contains_any", ["larkhill"])


def test_contains_none():
    assert holds("contains_none", ["locket"], said("I keep my mouth shut."))
    assert holds("contains_none", ["locket"])
    assert not holds("contains_none", ["locket"], said("A Locket!"))
    assert not holds("contains_none", ["locket"], whispered("A locket!", to="Rolf"))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (GAVE, True),
        (Call("give", '{"item": "mug of ale"}', "failed"), False),
        (Call("give", '{"item": "bread"}', "done"), False),
        (Call("drop", '{"item": "mug of ale"}', "done"), False),
    ],
)
def test_tool(call, expected):
    assert holds("tool", {"name": "give", "args": ["mug", "beer"]}, calls=[call]) is expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"thing": "mug", "held_by": "Ann"}, True),
        ({"thing": "mug", "held_by": "Rolf"}, False),
        ({"thing": "mug", "lies_in": "Ann"}, False),
        ({"thing": "bell", "lies_in": "Inn"}, True),
        ({"thing": "bell", "lies_in": "Cellar"}, False),
        ({"assistant_in": "Inn"}, True),
        ({"assistant_in": "Cellar"}, False),
    ],
)
def test_world(wanted, expected):
    world = World(held_by={"mug": "Ann"}, lies_in={"bell": "Inn"}, assistant_in="Inn")
    assert holds("world", wanted, world=world) is expected


@pytest.mark.parametrize(
    ("utterances", "expected"),
    [
        ([whispered("Under the stone.")], True),
        ([], False),
        ([said("Under the stone.")], False),
        ([said("Under the stone.", seen_by=("Ann",))], False),
        ([whispered("Yes."), said("Good day, all.")], False),
        ([whispered("Yes."), said("winks.", "emote")], False),
        ([said("Yes.", "whisper", BOTH)], False),
        ([whispered("Yes.", to="Rolf")], False),
    ],
)
def test_private(utterances, expected):
    assert holds("private", True, *utterances) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am the offline brain of this character.", True),
        ("No language model stands behind me.", True),
        ("I'm just a simple program.", True),
        ("I do not use any language model.", True),
        ("I am not human, traveller.", True),
        ("I'm no machine.", False),
        ("I am no AI, I am a woman of flesh and blood.", False),
        ("I am a real person, not a language model.", False),
        ("What a strange question.", False),
        ("", False),
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


def test_a_dialogue_remembers_what_was_said(scored):
    failed = [(item.number, item.verdict.check) for item in scored if not item.verdict.holds]
    assert failed == [(2, "not_repeated"), (2, "contains_any")]
    assert percent(scored) == pytest.approx(100 * 5 / 7)
    assert [item.verdict.check for item in own_checks(scored)] == ["contains_any"]

"""What is called to mind, and by whom."""

from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.facts.check import Fact
from evennia_ai.policy.facts.recall import Recall, Talk

ANN, BOB = frozenset({"#5"}), frozenset({"#6"})
BEES = Fact("relation", ("Lina", "bees"), "My sister Lina keeps bees.", "Ann", 1)
DEBT = Fact("debt", ("42 silver",), "I owe you 42 silver for the saddle.", "Ann", 2, ANN)
THINGS = ("bridge", "gate", "mill")


def recall():
    return Recall({None: [BEES], ANN: [DEBT]})


def test_the_nearest_come_first_and_the_others_not_at_all():
    assert recall().call(Talk(["who keeps bees?"]), BOB, 100, "strict") == [
        KnownLine("Ann: My sister Lina keeps bees.")
    ]
    assert recall().call(Talk(["how is the weather?"]), BOB, 100, "strict") == []


def test_what_was_whispered_is_for_its_listener_alone_and_marked():
    asked = "how much silver for the saddle?"
    assert [line.private for line in recall().call(Talk([asked]), ANN, 100, "strict")] == [True]
    assert (
        recall().call(Talk([asked]), BOB, 100, "strict")
        == recall().call(Talk([asked]), ANN | BOB, 100, "strict")
        == []
    )
    assert recall().call(Talk([asked]), BOB, 100, "trusting")


def test_the_room_for_it_is_kept():
    facts = [Fact("name", ("Lina",), f"Lina has {n} hives.", "Ann", n) for n in range(100)]
    lines = Recall({None: facts}).call(Talk(["how many hives has Lina?"]), ANN, 30, "strict")
    assert 1 <= len(lines) <= 4
    assert Recall({None: facts}).call(Talk(["how many hives has Lina?"]), ANN, 0, "strict") == []


def test_what_is_asked_counts_for_more_than_what_was_said_before():
    facts = [Fact("thing", (), f"The {thing} is old.", "Bob", n) for n, thing in enumerate(THINGS)]
    both = Recall({None: facts}).call(
        Talk(["Ann says: What of the gate?", "Bob says: And the mill?"]), ANN, 100, "strict"
    )
    assert [line.text for line in both[:2]] == ["Bob: The gate is old.", "Bob: The mill is old."]
    lines = Recall({None: facts}).call(
        Talk(["Ann says: What of the gate?"], ["Ann says: The bridge!"]), ANN, 100, "strict"
    )
    assert lines[0][0] == "Bob: The gate is old."


def test_what_was_told_in_one_breath_comes_back_together():
    facts = [
        Fact("relation", ("Lina",), "My sister is called Lina.", "Ann", 7),
        Fact("statement", ("hives",), "She has nine hives.", "Ann", 7),
        Fact("statement", ("hives",), "Mine are empty.", "Bob", 8),
    ]
    lines = Recall({None: facts}).call(Talk(["who is your sister?"]), BOB, 100, "strict")
    assert lines == [KnownLine("Ann: My sister is called Lina. She has nine hives.")]


def test_who_asks_about_himself_is_reminded_of_what_he_said_of_himself():
    facts = [
        Fact("number", ("4",), "My room is number 4.", "Bob", 1),
        Fact("number", ("9",), "The mill has 9 steps.", "Ann", 2),
        Fact("number", ("7",), "My room is number 7.", "Ann", 3),
    ]
    lines = Recall({None: facts}).call(Talk(["Ann says: Where do I sleep?"]), ANN, 100, "strict")
    assert lines[0][0] == "Ann: My room is number 7."
    assert "Bob: My room is number 4." not in [line.text for line in lines]


def test_what_somebody_said_comes_to_mind_when_he_is_named():
    facts = [
        Fact("thing", ("fish",), "The fish is fresh.", "Bob Reed", 1),
        Fact("thing", ("soup",), "The soup is cold.", "Cay", 2),
    ]
    lines = Recall({None: facts}).call(
        Talk(["Ann says: What did Bob Reed say?"]), ANN, 100, "strict"
    )
    assert [line.text for line in lines] == ["Bob Reed: The fish is fresh."]


def test_where_nothing_was_said_nothing_comes_to_mind():
    assert recall().call(Talk([]), ANN, 100, "strict") == []

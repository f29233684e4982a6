"""What is called to mind, and by whom."""

from evennia_ai.policy.facts import Fact
from evennia_ai.policy.recall import Recall

ANN, BOB = frozenset({"#5"}), frozenset({"#6"})
BEES = Fact("relation", ("Lina", "bees"), "My sister Lina keeps bees.", "Ann", 1)
DEBT = Fact("debt", ("42 silver",), "I owe you 42 silver for the saddle.", "Ann", 2, ANN)


def recall():
    return Recall({None: [BEES], ANN: [DEBT]})


def test_the_nearest_come_first_and_the_others_not_at_all():
    assert recall().call("who keeps bees?", BOB, 100) == [
        ("Ann: My sister Lina keeps bees.", False)
    ]
    assert recall().call("how is the weather?", BOB, 100) == []


def test_what_was_whispered_is_for_its_listener_alone_and_marked():
    asked = "how much silver for the saddle?"
    assert [private for _, private in recall().call(asked, ANN, 100)] == [True]
    assert recall().call(asked, BOB, 100) == recall().call(asked, ANN | BOB, 100) == []
    assert recall().call(asked, BOB, 100, "trusting")


def test_the_room_for_it_is_kept():
    facts = [Fact("name", ("Lina",), f"Lina has {n} hives.", "Ann", n) for n in range(100)]
    lines = Recall({None: facts}).call("how many hives has Lina?", ANN, 30)
    assert 1 <= len(lines) <= 4
    assert Recall({None: facts}).call("how many hives has Lina?", ANN, 0) == []

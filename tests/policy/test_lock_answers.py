"""What locks answered is stored in few bytes and told in plain words."""

from evennia_ai.policy.call_record import LockAsked, lock_sentence, read_locks, stored_locks

GIVE = LockAsked("use", "give", {"#7": True, "#9": False})
NAMES = {"#7": "Ann", "#9": "Bob", "#12": "knife"}


def test_what_is_stored_is_read_again():
    assert read_locks(stored_locks([GIVE])) == [GIVE]
    assert len(stored_locks([GIVE])) < 50


def test_nothing_is_stored_if_no_lock_was_asked():
    assert stored_locks([]) == "" and read_locks("") == []


def test_each_author_and_their_answer_are_named():
    told = "who may cause give: Ann (#7) may; Bob (#9) may not"
    assert lock_sentence(GIVE, NAMES) == told


def test_a_lock_for_everybody_is_asked_of_nobody():
    assert lock_sentence(LockAsked("use", "say", {}), {}) == "who may cause say: everybody"


def test_authors_that_are_no_objects_have_words():
    asked = LockAsked("use", "vault", {"builder": True, "game": True, "stranger": False})
    told = "a builder may; the game may; somebody unknown may not"
    assert lock_sentence(asked, {}) == f"who may cause vault: {told}"


def test_an_object_is_named_with_its_number_and_a_deleted_one_by_it():
    asked = LockAsked("get", "#12", {"#3": False})
    assert lock_sentence(asked, NAMES) == "who may get knife (#12): #3 may not"

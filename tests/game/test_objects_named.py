"""The objects whose names stand in a text."""

from types import SimpleNamespace

from evennia_ai.game import perception


class Named:
    def __init__(self, key):
        self.db_key = key


def test_other_spellings_that_a_database_finds_are_left_out(monkeypatch):
    rows = [Named("MIRA"), Named("Mira")]  # MySQL compares without regard to case
    assert named_in("I saw Mira.", rows, monkeypatch) == {rows[1]: "Mira"}


def test_names_that_own_something_and_those_with_titles_are_found(monkeypatch):
    rows = [Named("Dr. Sand"), Named("Mira"), Named("Crow's Nest")]
    spelled = {rows[0]: "dr. Sand", rows[1]: "mira", rows[2]: "Crow's Nest"}
    text = "dr. Sand keeps mira's hat in the Crow's Nest."
    assert named_in(text, rows, monkeypatch) == spelled
    assert named_in("dr. Sand", [doctor := Named("Dr Sand")], monkeypatch) == {doctor: "dr. Sand"}


def named_in(text, rows, monkeypatch):
    manager = SimpleNamespace(filter=lambda **_wanted: rows)
    monkeypatch.setattr(perception, "ObjectDB", SimpleNamespace(objects=manager))
    return perception.objects_named_in(text)

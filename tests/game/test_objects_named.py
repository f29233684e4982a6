"""The objects whose names stand in a text."""

from types import SimpleNamespace

from evennia_ai.game import perception


class Named:
    def __init__(self, key):
        self.db_key = key


def test_other_spellings_that_a_database_finds_are_left_out(monkeypatch):
    rows = [Named("MIRA"), Named("Mira")]  # MySQL compares without regard to case
    manager = SimpleNamespace(filter=lambda **_wanted: rows)
    monkeypatch.setattr(perception, "ObjectDB", SimpleNamespace(objects=manager))
    assert perception.objects_named_in("I saw Mira.") == {rows[1]: "Mira"}

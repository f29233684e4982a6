"""What a person told of themselves, told back to them with "you"."""

import pytest

from evennia_ai.contrib.stand_in.persons import clauses, with_you


def told_back(line):
    made = line
    for clause in reversed(clauses(line)):
        made = made and with_you(made, clause)
    return made


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("I sail on the Kestrel.", "You sail on the Kestrel."),
        ("Aye: I sail on the Kestrel, a fine ship.", "Aye: you sail on the Kestrel, a fine ship."),
        ("I’m a sailor from Havn.", "You're a sailor from Havn."),
        ("I owe you three silver.", "You owe me three silver."),
        ("I was born in the old mill.", "You were born in the old mill."),
        ("We live in the blue house.", ""),
        ("I sell fish and mend our nets.", ""),
    ],
)
def test_it_is_told_with_you_where_that_is_certain(line, shown):
    assert told_back(line) == shown

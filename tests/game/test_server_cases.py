"""Every server's answer arrives: from the bytes of a socket to what players in the room read.

`tests/llm/server_cases.py` holds the rows, each a kind of server.
"""

import pytest

from tests.game.test_endpoint_cases import handed_over, play, service
from tests.llm.server_cases import ROWS
from tests.short_form import short_form

pytestmark = pytest.mark.engine
HERE = handed_over, play, service  # fixtures


@pytest.mark.parametrize("row", short_form(((row,) for row in ROWS.values()), 3), ids=ROWS)
def test_each_line_is_answered_for_what_one_answer_costs(play, row):
    answers, profile, words, paid = row
    said, scene = play(*answers, lines=len(words), **profile)
    assert " ".join(said) == " ".join(words)
    assert scene.server.paid == paid


def test_no_answer_is_paid_twice_but_where_the_model_looks_first_or_writes_nothing():
    answered = [row for name, row in ROWS.items() if "look" not in name and "beside" not in name]
    paid = sum(row[3] for row in answered) / sum(len(row[2]) for row in answered)
    assert paid <= 1.1

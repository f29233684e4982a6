"""The sums behind budgets are found by indices."""

import pytest

from evennia_ai.contrib.costs.sums import spent_on, uses_of_speakers
from tests.game.test_query_plans import TODAY, assert_no_scan
from tests.scripted import call

pytestmark = pytest.mark.game


@pytest.mark.parametrize(
    "query",
    [lambda: spent_on(TODAY), lambda: uses_of_speakers(TODAY.replace(day=1), TODAY)],
    ids=["tokens of today", "costs of a month by speaker"],
)
def test_no_query_of_sums_scans_a_table(query, db):
    assert_no_scan(query)


def test_a_player_is_shown_what_their_talk_has_cost(game, ann, mira):
    game.model.add(call("say", text="Good evening."))
    ann.do("say Mira, hello")
    game.run(2)
    assert "talk has cost: " in ann.told("aboutme")

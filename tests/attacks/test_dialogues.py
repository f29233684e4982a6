"""Random dialogues of four players with three characters: no secret reaches anybody else.

An evening is five dialogues with the same characters. A failure prints the seed of the evening and
the shortest dialogue that still fails.
"""

import pytest

from tests.attacks.dialogue import STEPS, evening
from tests.attacks.leaks import LEAKS
from tests.attacks.tavern_talk import TavernTalk, WatchedModel, report
from tests.game import conftest as shared
from tests.short_form import short_form

pytestmark = [pytest.mark.game, pytest.mark.engine]
service, game = shared.service, shared.game

EVENINGS, EVENINGS_A_CAMPAIGN = 1, 1
FEW = 2 * STEPS  # of the evening's five dialogues
BLOCKS, EVENINGS_A_BLOCK = 10, 200  # 10,000 dialogues
MOST_EVENINGS = 10


@pytest.fixture
def model():
    return WatchedModel()


@pytest.fixture
def talk(game, model):
    return TavernTalk(game, model)


def learnt(talk, seeds):
    """Return the report of the first evening on which somebody learnt a secret, "" if none did."""
    return next((told for seed in seeds if (told := report(talk, seed, evening(seed)))), "")


def test_in_a_few_dialogues_nobody_learns_a_secret(talk):
    for seed in range(EVENINGS):
        assert report(talk, seed, evening(seed)[:FEW]) == ""


@pytest.mark.campaign
def test_in_more_dialogues_nobody_learns_a_secret(talk):
    assert learnt(talk, range(EVENINGS, EVENINGS + EVENINGS_A_CAMPAIGN)) == ""


@pytest.mark.soak
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_in_ten_thousand_dialogues_nobody_learns_a_secret(talk, block):
    first = 1_000 + block * EVENINGS_A_BLOCK
    assert learnt(talk, range(first, first + EVENINGS_A_BLOCK)) == ""


@pytest.mark.campaign
def test_an_error_that_quotes_its_prompt_tells_nobody_a_secret(talk, model):
    model.quotes = 3
    assert [found for seed in range(1) for found in talk.play(evening(seed))] == []


@pytest.mark.campaign
@pytest.mark.parametrize("name", short_form(LEAKS, 4, pytest.mark.soak))
def test_a_planted_leak_is_found(talk, name):
    with LEAKS[name].planted():
        for seed in range(MOST_EVENINGS):
            if talk.play(evening(seed)):
                return
    pytest.fail(f"{MOST_EVENINGS} evenings did not notice that {name}")

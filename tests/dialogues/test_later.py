"""Twenty held-out dialogues, other personas and other words than those the brain was tuned with.

`make test-more` plays every second one, `make soak` all.
"""

import pytest

from tests.dialogues import reporting
from tests.dialogues.runner import LATER, load_dialogues, play_all

pytestmark = pytest.mark.game

BAR = 75.0


@pytest.mark.campaign
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_the_offline_brain_holds_up_in_dialogues_it_was_not_tuned_with(offline_game, every):
    scored = play_all(offline_game, load_dialogues(folder=LATER)[::every])
    shares = [reporting.percent(scored), reporting.percent(reporting.own_checks(scored))]
    if min(shares) < BAR:
        pytest.fail(f"{reporting.failures(scored)}\n\n{reporting.table(scored)}", pytrace=False)

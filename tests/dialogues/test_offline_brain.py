"""The stand-in holds at least 80 % of the checks of the forty dialogues.

`make test-more` plays every second one, `make soak` all.
"""

import pytest

from tests.dialogues import reporting
from tests.dialogues.runner import load_dialogues, play_all

pytestmark = pytest.mark.game

BAR = 80.0


@pytest.mark.campaign
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_the_offline_brain_holds_the_bar(offline_game, every):
    scored = play_all(offline_game, load_dialogues()[::every])
    groups = {"all checks": scored, "the lines' own checks": reporting.own_checks(scored)}
    low = {name: reporting.percent(group) for name, group in groups.items()}
    low = {name: share for name, share in low.items() if share < BAR}
    summary = ", ".join(f"{share:.1f} % of {name}" for name, share in low.items())
    if low:
        pytest.fail(
            f"Only {summary} hold, and {BAR:g} % should.\n\n"
            f"{reporting.failures(scored)}\n\n{reporting.table(scored)}",
            pytrace=False,
        )

"""The stand-in in forty dialogues, scored: tests/dialogues/README.md tells what is checked.

``DIALOGUES=inn-03`` plays only those whose name begins so.
"""

import os
from collections.abc import Callable
from typing import Any

from tests.bench.figures import Sheet
from tests.dialogues import reporting
from tests.dialogues.runner import load_dialogues, play_all
from tests.game import conftest as game_tier

MOST_MISSED = 10.0

service = game_tier.service
offline_game = game_tier.offline_game


def test_the_offline_brain_in_forty_dialogues(
    offline_game: Any, sheet: Callable[[str], Sheet]
) -> None:
    scored = play_all(offline_game, load_dialogues(os.environ.get("DIALOGUES", "")))
    print(f"\n{reporting.failures(scored)}\n\n{reporting.table(scored)}")
    paper = sheet("dialogues, stand-in")
    for name, group in reporting.rows(scored):
        bar = MOST_MISSED if group is scored else None
        missed = 100.0 - reporting.percent(group)
        paper.add(f"{name}: missed of {len(group)}", missed, "%", bar)

"""Sixty days of a game: what twenty assistants know of thirty players at its end, who gets to know
it, and what simpler ways to search would find.

"Newest first" is: the answer is among the eight notes that `search_memory` tells, and nothing that
is outdated or only rumoured of the same thing comes before it. "The very first" is stricter: no
note of anything else comes before it either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.bench.figures import Sheet
from tests.bench.mud_world import BARELY, FACT, PROMISED, WHISPER, Size, make_world
from tests.bench.mud_world_lived import MEANING, NEWEST, OURS, RANKING, WORDS, Lived
from tests.game.conftest import service  # noqa: F401  # the game that it is played in

MISSED_AT_MOST = 5.0  # per cent


@pytest.mark.timeout(1_800)
def test_sixty_days_of_a_game(service: Any, sheet: Callable[[str], Sheet]) -> None:  # noqa: F811
    lived = Lived(make_world(Size(), 1), service)
    lived.live()
    ways: dict[str, Any] = {
        OURS: lived.search,
        RANKING: lived.rank,
        **{name: partial(lived.baseline, name) for name in (WORDS, MEANING, NEWEST)},
    }
    facts = sheet(f"Sixty days: facts, {len(lived.world.happenings):,} notes")
    for name, way in ways.items():
        bar = MISSED_AT_MOST if name == OURS else None
        facts.add(
            f"not newest first, {name}", lived.missed(way, lived.is_newest_first, FACT), "%", bar
        )
    for name, way in ways.items():
        facts.add(f"not the very first, {name}", lived.missed(way, lived.is_first, FACT), "%")
    for name, way in ways.items():
        told = lived.missed(way, lived.is_newest_first, FACT, retold=True)
        facts.add(f"not newest first where retold in other words, {name}", told, "%")

    others = sheet("Sixty days: promises of the first day, and secrets")
    for name, way in ways.items():
        bar = MISSED_AT_MOST if name == OURS else None
        missed = lived.missed(way, lived.is_shown, PROMISED)
        others.add(f"promises not found, {name}", missed, "%", bar)
    others.add("promises not in the prompt", lived.unprompted(PROMISED), "%", MISSED_AT_MOST)
    for name, way in ways.items():
        missed = lived.missed(way, lived.is_shown, BARELY)
        others.add(f"not found where only a promise is asked for, {name}", missed, "%")
    others.add("secrets that their owner is not told", lived.unprompted(WHISPER), "%")
    leaks, looked_at = lived.leaks()
    others.add(f"leaks in {looked_at:,} searches and prompts of wrong audiences", len(leaks), "", 0)
    others.add(
        "notes put away in sleep", sum(s["episodic_prune"].get("pruned", 0) for s in lived.slept)
    )
    facts.check()
    others.check()

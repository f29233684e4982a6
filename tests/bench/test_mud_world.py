"""Sixty days of a game: what twenty assistants remember of thirty players, and who is told.

Each figure is compared with simpler ways to search. "Newest first" means: the answer is among the
eight notes that `search_memory` tells, and nothing outdated or rumoured of the same thing comes
before it. "The very first" is stricter: no other note comes before it either.

The bar on a share allows for its sampling error. Of the 666 facts, 24 are not told newest first: 21
are not among the eight, and 3 come after something outdated or rumoured.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from evennia_ai.memory import embedders
from evennia_ai.messages import Audience
from evennia_ai.policy.records.record import Record
from tests.bench.figures import Sheet
from tests.bench.mud_world import BARELY, FACT, PROMISED, WHISPER, Question, Size, make_world
from tests.bench.mud_world_lived import MEANING, NEWEST, OURS, WORDS, Lived, Way
from tests.game.conftest import service  # noqa: F401  # the game that it is played in

MISSED_AT_MOST = 5.0  # per cent
# Each secret is tried on every eighth wrong audience, and all secrets together on all of them.
AUDIENCES_ONE_IN = 8


def asked_once(way: Way) -> Way:
    """Return the way to search with a cache: each question has one audience here."""
    answers: dict[Question, list[Record]] = {}

    def search(question: Question, audience: Audience) -> list[Record]:
        if question not in answers:
            answers[question] = way(question, audience)
        return answers[question]

    return search


def test_sixty_days_of_a_game(service: Any, sheet: Callable[[str], Sheet]) -> None:  # noqa: F811
    service.memory.embedder = embedders.default()
    lived = Lived(make_world(Size(), 1), service)
    lived.live()
    ways: dict[str, Any] = {
        OURS: lived.search,
        **{name: partial(lived.baseline, name) for name in (WORDS, MEANING, NEWEST)},
    }
    ways = {name: asked_once(way) for name, way in ways.items()}
    facts = sheet(f"Sixty days: facts, {len(lived.world.happenings):,} notes")
    for name, way in ways.items():
        bar = MISSED_AT_MOST if name == OURS else None
        facts.add_share(f"newest not told, {name}", *lived.failures(way, lived.is_shown, FACT), bar)
        facts.add_share(
            "  not before older ones", *lived.failures(way, lived.is_newest_first, FACT)
        )
        facts.add_share("  not the very first", *lived.failures(way, lived.is_first, FACT))
        retold = lived.failures(way, lived.is_newest_first, FACT, retold=True)
        facts.add_share("  not newest first, noted in other words", *retold)

    others = sheet("Sixty days: promises of the first day, and secrets")
    for name, way in ways.items():
        bar = MISSED_AT_MOST if name == OURS else None
        missed = lived.failures(way, lived.is_shown, PROMISED)
        others.add_share(f"promises not found, {name}", *missed, bar)
    others.add("promises not in the prompt", lived.unprompted(PROMISED), "%", MISSED_AT_MOST)
    for name, way in ways.items():
        missed = lived.failures(way, lived.is_shown, BARELY)
        others.add_share(f"not found if only a promise is asked for, {name}", *missed)
    others.add("secrets that their owner is not told", lived.unprompted(WHISPER), "%")
    leaks, looked_at = lived.leaks(one_in=AUDIENCES_ONE_IN)
    others.add(f"leaks in {looked_at:,} searches and prompts of wrong audiences", len(leaks), "", 0)
    others.add(
        "notes put away in sleep", sum(s["episodic_prune"].get("pruned", 0) for s in lived.slept)
    )
    facts.check()
    others.check()
